import { checkInvariants } from '@svc/console-api/invariants'
import type { MessageType } from '@svc/core/cards/rail/card-message'
import { MESSAGE_KINDS } from '@svc/core/cards/rail/card-message-kinds'
import { expireCardHolds } from '@svc/core/cards/rail/expire-card-holds'
import { signNotice } from '@svc/server/http/notice-signature'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Chance } from '../../lab/simulation/chance.ts'
import { compareBooks, compareStatement, type Query, type Statement } from '../../lab/terminal/books.ts'
import { isOfPartner } from '../../lab/terminal/message.ts'
import { Play, type PlayedCard, type Send } from '../../lab/terminal/play.ts'
import { newCard as newReckonedCard, RULES } from '../../lab/terminal/reckoning.ts'
import { References, scriptOf } from '../../lab/terminal/script.ts'
import { newIdentity, Terminal } from '../harness/card-rail.ts'
import { Client, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { type ServiceProcess, startProcesses } from '../harness/processes.ts'
import { asSuperuser, CARD_RAIL_KEY, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

const ROUNDS = 15

let service: TestService
let other: ServiceProcess
let otherClient: Client
let partner: TestPartner
let issuer: Client

beforeAll(async () => {
  service = await openService()
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, CARD_RAIL_KEYS: CARD_RAIL_KEY }
  ;[other] = (await startProcesses(1, env, service.app.services.config.DATA_DIR)) as [ServiceProcess]
  otherClient = await Client.open(other.baseUrl)
  partner = await newPartner(service)
  issuer = await asPartner(service.client, partner)
})
afterAll(async () => {
  await other?.end('SIGTERM')
  const broken = (await checkInvariants(service.app.services.database)).flatMap(({ name, violations }) =>
    violations.length > 0 ? [name] : [],
  )
  await service.close()
  expect(broken).toEqual([])
})

interface Shops {
  readonly svcCardId: string
  /** One card at two processes. */
  readonly here: Terminal
  readonly there: Terminal
}

async function newCard(loadAmount: number): Promise<Shops> {
  const { svcCardId, token } = payloadOf(await createCard(issuer, partner, { loadAmount }))
  return { svcCardId, here: new Terminal(service.client, token), there: new Terminal(otherClient, token) }
}
const balanceOf = async (svcCardId: string): Promise<Json> =>
  payloadOf(await issuer.get(`/api/v0/partner/svcCard/${svcCardId}`))

/** Runs the rounds at once: each has a card of its own. */
const rounds = <T>(round: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: ROUNDS }, (_, n) => round(n)))

test('of two authorisations for the last rupee, from two processes, one is approved', async () => {
  const approved = await rounds(async () => {
    const { svcCardId, here, there } = await newCard(1)
    const both = await Promise.all([here.authorize(1), there.authorize(1)])
    expect(await balanceOf(svcCardId)).toMatchObject({ otbBalance: 0, accountBalance: 1 })
    return both.map(({ status, responseCode }) => `${status} ${responseCode}`).sort()
  })
  expect(new Set(approved.map(String))).toEqual(new Set(['approved 00,declined 51']))
})

test('one message sent to two processes at once is one message, with one response', async () => {
  await rounds(async () => {
    const { svcCardId, here, there } = await newCard(100)
    const message = { amount: 10, channel: 'pos', ...newIdentity() }
    const both = await Promise.all([
      here.send('authorizations', message),
      there.send('authorizations', message),
    ])
    expect(both[0].text).toBe(both[1].text)
    expect(await balanceOf(svcCardId)).toMatchObject({ holdBalance: 10 })
  })
})

test('a capture concurrent with a void, from two processes, debits the amount once and leaves no hold', async () => {
  await rounds(async () => {
    const { svcCardId, here, there } = await newCard(100)
    const { authorizationId } = await here.authorize(60)
    const [captured, voided] = await Promise.all([
      here.capture(60, { authorizationId }),
      there.void({ authorizationId }),
    ])
    // The void came first and released the hold, or it came after the capture and found nothing to release.
    expect(captured.debitedAmount).toBe(60)
    expect([undefined, 60]).toContain(voided.releasedAmount)
    expect((captured.releasedAmount ?? 0) + (voided.releasedAmount ?? 0)).toBe(60)
    expect(await balanceOf(svcCardId)).toMatchObject({ otbBalance: 40, accountBalance: 40, holdBalance: 0 })
  })
})

test('the expiry of a hold concurrent with its capture releases it once and debits the amount once', async () => {
  const held = await rounds(async () => {
    const card = await newCard(100)
    return { ...card, ...(await card.here.authorize(60)) } as Shops & { authorizationId: string }
  })
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `update card_authorizations set expires_at = now() - interval '1 second' where authorization_id = any ($1)`,
      [held.map(({ authorizationId }) => authorizationId)],
    ),
  )
  await Promise.all([
    ...held.map(({ there, authorizationId }) => there.capture(60, { authorizationId })),
    expireCardHolds(service.app.services),
  ])
  await expireCardHolds(service.app.services)
  for (const { svcCardId } of held)
    expect(await balanceOf(svcCardId)).toMatchObject({ accountBalance: 40, otbBalance: 40, holdBalance: 0 })
})

test('an authorisation does not wait for the accounts that all cards of a partner share', async () => {
  const { here } = await newCard(100)
  await asSuperuser(service.db.database, async (db) => {
    await db.query('begin')
    const { rowCount } = await db.query(
      `select from ledger_accounts where tenant_id = $1 and kind in ('card_settlement', 'card_exceptions') for update`,
      [partner.partnerId],
    )
    expect(rowCount).toBe(2)
    expect(await here.authorize(60)).toMatchObject({ status: 'approved' })
    const captured = here.capture(10)
    await db.query('rollback')
    // What a capture moves waits for them, and is entered once they are free.
    expect(await captured).toMatchObject({ status: 'recorded', debitedAmount: 10 })
  })
})

const MESSAGES = 400
const TERMINALS = 8
const LOAD_RUPEES = 500

/** The network, or the partner, asks the other process where one gives no response. */
const sendToEither =
  (
    clients: readonly Client[],
    headersOf: (bytes: Buffer) => Record<string, string>,
    responded: () => void,
  ): Send =>
  async (path, body) => {
    const bytes = Buffer.from(body)
    for (const client of [...clients, ...clients.slice(1)]) {
      const headers = { 'content-type': 'application/json', ...headersOf(bytes) }
      const response = await client.send('POST', path, bytes, headers).catch(() => undefined)
      if (!response || response.status >= 500) continue
      responded()
      return response
    }
    throw new Error('no process gave a response')
  }

/** A partner whose cards are loaded and unloaded in between, with spend rules in force. */
async function newHolder(): Promise<{ holder: TestPartner; issuedTo: Client }> {
  const holder = await newPartner(service, { accountType: 'MEAL' })
  const issuedTo = await asPartner(service.client, holder)
  const account = `/api/v0/partner/card-accounts/${holder.cardAccountId}`
  payloadOf(await issuedTo.patch(account, { unallocateFundAllowed: true }))
  for (const rule of RULES) payloadOf(await issuedTo.post('/api/v0/partner/spend-rules', rule))
  return { holder, issuedTo }
}

test(`of ${MESSAGES} messages, some duplicated, reordered or lost, while a process is killed, each counts once, its response is as computed, and each card’s statement is what they say`, async () => {
  const { holder, issuedTo } = await newHolder()
  const chance = new Chance(7, 'terminal')
  const references = new References(Date.now())
  const cards: PlayedCard[] = []
  for (let n = 0; n < TERMINALS; n++) {
    const order = await createCard(issuedTo, holder, { loadAmount: LOAD_RUPEES })
    const { svcCardId, token } = payloadOf(order)
    const script = scriptOf(chance, references, MESSAGES / TERMINALS, LOAD_RUPEES * 100)
    const card = newReckonedCard(LOAD_RUPEES * 100)
    cards.push({ svcCardId, token, script, card })
  }
  let responses = 0
  const responded = () => {
    if (++responses === MESSAGES / 2) void other.end('SIGKILL')
  }
  const signed = (bytes: Buffer) => ({ 'x-rail-signature': signNotice(bytes, CARD_RAIL_KEY, Date.now()) })
  const network = sendToEither([otherClient, service.client], signed, responded)
  const byPartner = [await asPartner(otherClient, holder), issuedTo]
  const play = new Play(
    network,
    sendToEither(byPartner, () => ({}), responded),
    20,
  )
  await play.play(cards, TERMINALS)
  expect(await other.ended).toMatchObject({ signal: 'SIGKILL' })
  await play.repeatAll(TERMINALS)
  expect(play.broken).toEqual([])
  const query = (text: string, values?: unknown[]) =>
    asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows)
  const excepted: { type: MessageType; reason: string }[] = await query(
    `select distinct m.type, x.reason from card_exceptions x
       join card_messages m on m.partner_id = x.partner_id and m.message_id = x.message_id`,
  )
  expect(excepted.length).toBeGreaterThan(3)
  for (const { type, reason } of excepted) expect(MESSAGE_KINDS[type].excepts).toContain(reason)
  const ofNetwork = cards
    .flatMap(({ script }) => script.flat())
    .filter(({ isRepeat, message }) => !isRepeat && !isOfPartner(message)).length
  expect(ofNetwork).toBeLessThan(MESSAGES)
  expect(await compareBooks(query as Query, play, cards)).toEqual({
    acknowledged: ofNetwork,
    recorded: ofNetwork,
    lost: 0,
    doubled: 0,
    broken: [],
  })
  const firstDay = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  for (const played of cards) {
    const path = `/api/v0/partner/svcCard/${played.svcCardId}/statement?from=${firstDay}`
    expect(compareStatement(played, payloadOf(await issuedTo.get(path)) as Statement)).toBeUndefined()
  }
})
