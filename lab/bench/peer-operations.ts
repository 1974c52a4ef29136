import { manyCardId } from '../../test/harness/many-cards.ts'
import { MERCHANTS, PAID_CODES, type Side } from './bed.ts'
import { type Load, requestBytes } from './load.ts'
import { cancels, creates, credits, prepare } from './measures/durable-commands.ts'
import { orders } from './measures/encrypted-creation.ts'
import type { Pair } from './pair.ts'

/** An operation that service and peer both have. */
export interface PeerOperation {
  readonly id: string
  readonly title: string
  /** How many times as much as the peer the service is to do. */
  readonly aim: number
  /** Whether it writes. */
  readonly isCommand: boolean
  /** Requests for so many seconds at least. */
  readonly load: (pair: Pair, side: Side, seconds: number) => Load | Promise<Load>
}

const CARDS_SEARCHED = 20_000

/** In turn. */
const repeated = ({ service }: Side, requests: readonly Buffer[]): Load => ({
  port: service.port,
  next: (n) => requests[n % requests.length],
})

function searches({ rewards, cards }: Pair, side: Side): Load {
  const { companyId, cardAccountIds, headers } = rewards
  const requests = Array.from({ length: CARDS_SEARCHED }, () => {
    const svcCardId = manyCardId(1 + Math.floor(Math.random() * cards))
    return requestBytes(
      'POST',
      '/api/v0/partner/svcCard/search',
      { ...headers, 'content-type': 'application/json' },
      JSON.stringify({ companyId, cardAccountId: cardAccountIds[0], svcCardId }),
    )
  })
  return repeated(side, requests)
}

const tokens = (side: Side): Load =>
  repeated(
    side,
    side.apiKeys.map((apiKey) => requestBytes('POST', '/api/v0/merchant/token', { 'api-key': apiKey })),
  )

const PEER_OPERATIONS: readonly PeerOperation[] = [
  {
    id: 'payment',
    title: 'Accept a payment',
    aim: 3,
    isCommand: true,
    load: (_, side, seconds) => credits(side, seconds),
  },
  {
    id: 'cancel',
    title: 'Cancel a QR code',
    aim: 3,
    isCommand: true,
    load: (_, side) => cancels(side),
  },
  {
    id: 'create',
    title: 'Create a QR code with its image',
    aim: 4,
    isCommand: true,
    load: (_, side) => creates(side),
  },
  {
    id: 'card',
    title: 'Issue a gift card by an encrypted order',
    aim: 3,
    isCommand: true,
    load: ({ partners }, side, seconds) => orders(side, partners, ({ sharedKey }) => sharedKey, seconds),
  },
  {
    id: 'search',
    title: 'Search one card',
    aim: 1.5,
    isCommand: false,
    load: (pair, side) => searches(pair, side),
  },
  {
    id: 'token',
    title: 'Get a merchant token',
    aim: 1.5,
    isCommand: false,
    load: (_, side) => tokens(side),
  },
  {
    id: 'coin',
    title: 'Look up a coin configuration',
    aim: 1.5,
    isCommand: false,
    load: ({ lookups }, side) => repeated(side, lookups),
  },
]

/**
 * The busy merchant: the same commands, all on the rows of one tenant, where transactions of one command each wait for
 * each other. `--only busy`; no part of a run of all.
 */
const BUSY_OPERATIONS: readonly PeerOperation[] = [
  {
    id: 'busy-payment',
    title: 'Accept payments of one counter code',
    aim: 5,
    isCommand: true,
    load: (_, side, seconds) => credits(side, seconds, () => BUSY_CODE),
  },
  {
    id: 'busy-card',
    title: 'Issue gift cards from one account',
    aim: 5,
    isCommand: true,
    load: ({ partners: [partner] }, side, seconds) => {
      const oneAccount = { ...partner!, cardAccountIds: partner!.cardAccountIds.slice(0, 1) }
      return orders(side, [oneAccount], ({ sharedKey }) => sharedKey, seconds)
    },
  },
]

/** The code that all pay, of merchant 0. */
export const BUSY_CODE = 0

/** Codes of all merchants but the busy one, in turn. */
export const otherCode = (n: number): number => {
  const code = n % PAID_CODES
  return code % MERCHANTS === BUSY_CODE % MERCHANTS ? code + 1 : code
}

/** Those that were named, or whose name begins so (`busy`); without names, all that are no busy merchant's. */
export const operationsOf = (only: readonly string[] | undefined): readonly PeerOperation[] =>
  only
    ? [...PEER_OPERATIONS, ...BUSY_OPERATIONS].filter(({ id }) =>
        only.some((name) => id === name || id.startsWith(`${name}-`)),
      )
    : PEER_OPERATIONS

/** Every phase begins with active codes, no events to number and a clean checkpoint. */
export const prepareSide = (operation: PeerOperation, side: Side): Promise<void> =>
  operation.isCommand ? prepare(side, operation.id === 'cancel')() : Promise.resolve()
