import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Failure, fail } from '../errors.ts'
import { newId } from '../kernel/ids.ts'
import { parseRfc3339, plainTimestamp, rfc3339 } from '../kernel/time.ts'
import { statement } from '../platform/db/statement.ts'
import {
  canonicalJson,
  command,
  type Operation,
  ok,
  type Services,
  succeed,
} from '../platform/http/operation.ts'
import { saveEvents } from '../platform/outbox.ts'
import { type Allocation, AllocationRecord, allocationToWire } from './allocation.ts'
import {
  type AllocationNeed,
  type AllocationState,
  awardedKey,
  insertAllocations,
  lockAllocations,
  readAllocations,
  requestKey,
} from './allocation-state.ts'
import { chooseConfig, considerConfigs, expiryOf } from './award-rules.ts'
import { EventName } from './coin-config.ts'
import { RequestId, UserId, userKey } from './coin-user.ts'
import { activeCoins, award, expireDue, type Lot, type WalletChange } from './wallet.ts'
import { saveWalletChanges, walletKey } from './wallet-store.ts'

const AllocateCoinsRequest = Type.Object(
  {
    requestId: RequestId,
    event: EventName,
    userId: UserId,
    companyId: Type.String({ maxLength: 64, description: 'The user’s company' }),
    occurredOn: Type.Optional(
      Type.String({
        format: 'date-time',
        'x-rule': 'must be an RFC 3339 date-time with a zone',
        description:
          'When the event happened; now by default. Decides validity and the day of the daily limit',
      }),
    ),
    dryRun: Type.Optional(
      Type.Boolean({ description: 'True: tell what would happen and why, and do nothing' }),
    ),
  },
  { additionalProperties: false },
)
type Request = Static<typeof AllocateCoinsRequest>

interface AllocateCoins extends AllocationNeed {
  readonly requestHash: Buffer
  /** As the caller says; without it the event happens when it is decided on. */
  readonly occurredAt: Date | undefined
  readonly ids: { readonly allocation: string; readonly transfer: string; readonly event: string }
  readonly timeZone: string
}

interface Allocated {
  readonly allocation: Allocation
  /** Absent when it is the repeat of a request. */
  readonly made: { readonly change: WalletChange; readonly lot: Lot } | undefined
  readonly command: AllocateCoins
}

/** How far callers' clocks may be ahead of ours. */
const AHEAD_MAX_MS = 300_000
/** Older events are for the partner's books, not for awards. */
const BACKDATED_MAX_MS = 31 * 86_400_000

function prepare({ clock, random, config }: Services, tenantId: string, body: Request): AllocateCoins {
  const nowMs = clock.now()
  const occurredAt = body.occurredOn === undefined ? undefined : parseRfc3339(body.occurredOn)!
  const occurredMs = occurredAt?.getTime() ?? nowMs
  if (occurredMs > nowMs + AHEAD_MAX_MS)
    fail('validation_failed', { description: 'occurredOn: must not be in the future' })
  if (occurredMs < nowMs - BACKDATED_MAX_MS)
    fail('validation_failed', { description: 'occurredOn: must be at most 31 days ago' })
  const { requestId, event, userId, companyId, occurredOn } = body
  return {
    tenantId,
    requestId,
    event,
    userId,
    companyId,
    coins: 0n,
    clockOffsetMs: clock.offsetMs(),
    requestHash: createHash('sha256')
      .update(canonicalJson({ event, userId, companyId, occurredOn }))
      .digest(),
    occurredAt,
    businessDay: plainTimestamp(new Date(occurredMs), config.BUSINESS_TIME_ZONE).slice(0, 10),
    ids: {
      allocation: newId('cal', nowMs, random),
      transfer: newId('trf', nowMs, random),
      event: newId('evt', nowMs, random),
    },
    timeZone: config.BUSINESS_TIME_ZONE,
  }
}

function decide(state: AllocationState, command: AllocateCoins, now: Date): Allocated {
  const { tenantId, userId, companyId, requestId, requestHash, businessDay, ids } = command
  const occurredAt = command.occurredAt ?? now
  const known = state.known.get(requestKey(tenantId, requestId))
  if (known && !known.requestHash.equals(requestHash)) fail('request_id_conflict')
  if (known) return { allocation: known, made: undefined, command }
  if (!state.companies.has(`${tenantId} ${companyId}`)) fail('company_not_found')
  if (state.users.get(userKey(tenantId, userId)) !== companyId) fail('user_not_found')
  const config = chooseConfig(
    consideredBy(state, command, now),
    (coinConfigId) => state.awarded.get(awardedKey(userId, coinConfigId, businessDay)) ?? 0n,
  )
  const { amount, coinConfigId, revision, event } = config
  const expiresAt = expiryOf(config, now)
  const { change, lot, balance } = award(
    state.wallets.get(walletKey(tenantId, userId))!,
    state.accounts,
    { lotId: ids.allocation, transferId: ids.transfer, amount, expiresAt },
    now,
  )
  const allocation: Allocation = {
    allocationId: ids.allocation,
    partnerId: tenantId,
    requestId,
    requestHash,
    userId,
    companyId,
    event,
    coinConfigId,
    revision,
    amount,
    occurredAt,
    businessDay,
    expiresAt,
    balanceAfter: balance,
    createdAt: now,
  }
  return { allocation, made: { change, lot }, command }
}

const consideredBy = (
  { configs }: AllocationState,
  { tenantId, companyId, event, occurredAt }: AllocateCoins,
  now: Date,
) => considerConfigs(configs, { partnerId: tenantId, companyId, event, occurredAt: occurredAt ?? now })

const allocate = command({
  id: 'allocateCoins',
  method: 'POST',
  path: '/api/v0/svc-coins/allocate',
  tag: 'Coins',
  summary: 'Allocate coins for an event',
  description:
    'Exactly once for each `requestId`, however often and however concurrently it is sent; the same id with another request is 409. The configuration of the user’s company outranks the partner’s default. A refused request does not use up its `requestId`.',
  auth: 'partner',
  family: 'response_code',
  body: AllocateCoinsRequest,
  result: AllocationRecord,
  errors: [
    'company_not_found',
    'user_not_found',
    'request_id_conflict',
    'no_coin_config',
    'coin_daily_limit_reached',
  ],

  prepare:
    (services) =>
    ({ caller, body }) =>
      prepare(services, caller.tenantId, body),
  lock: lockAllocations,
  decide,

  apply(state, { allocation, made }) {
    if (!made) return
    const { partnerId, userId, coinConfigId, businessDay, amount, requestId } = allocation
    const day = awardedKey(userId, coinConfigId, businessDay)
    state.known.set(requestKey(partnerId, requestId), allocation)
    state.wallets.set(walletKey(partnerId, userId), made.change.wallet)
    state.awarded.set(day, (state.awarded.get(day) ?? 0n) + amount)
    for (const { accountId } of made.change.opens) state.accounts.add(accountId)
  },

  save(tx, decisions: readonly Allocated[]) {
    const made = decisions.flatMap(({ allocation, made, command }) =>
      made ? [{ allocation, command, ...made }] : [],
    )
    saveWalletChanges(
      tx,
      made.map(({ change }) => change),
    )
    insertAllocations(tx, made)
    saveEvents(
      tx,
      made.map(({ allocation, command: { ids, timeZone } }) => ({
        eventId: ids.event,
        tenantId: allocation.partnerId,
        type: 'coins.allocated',
        objectId: allocation.userId,
        payload: allocationToWire(allocation, timeZone),
        createdAt: allocation.createdAt,
      })),
    )
  },

  answer: ({ allocation, command }) => ok(allocationToWire(allocation, command.timeZone)),
})

/** Ours (decision K3). A dry run takes the same rules, and no part of the write path: there is nothing that it could write. */
export const allocateCoins: Operation = {
  ...allocate,
  mount(services) {
    const handle = allocate.mount(services)
    return (input) => {
      const body = input.body as Request
      return body.dryRun ? dryRun(services, prepare(services, input.caller.tenantId, body)) : handle(input)
    }
  },
}

const NOW = statement<{ now: Date }>('coin_allocations_now', 'select clock_timestamp() as now')

async function dryRun({ database, clock }: Services, command: AllocateCoins) {
  const { tenantId, requestId, userId, companyId, event, occurredAt, timeZone } = command
  const { state, now } = await database.read([tenantId], async (tx) => {
    const state = await readAllocations(tx, [command])
    const [time] = await tx.query(NOW)
    return { state, now: new Date(time!.now.getTime() + clock.offsetMs()) }
  })
  const considered = consideredBy(state, command, now).map(({ config, verdict }) => ({
    coinConfigId: config.coinConfigId,
    configuration: config.configuration,
    revision: config.revision,
    amount: Number(config.amount),
    verdict,
  }))
  try {
    const { allocation, made } = decide(state, command, now)
    const { allocationId, createdOn, ...wire } = allocationToWire(allocation, timeZone)
    if (!made)
      return { body: succeed({ ...wire, outcome: 'WOULD_REPEAT', allocationId, createdOn, considered }) }
    return { body: succeed({ ...wire, outcome: 'WOULD_ALLOCATE', considered }) }
  } catch (error) {
    if (!(error instanceof Failure) || error.status >= 500) throw error
    const { wallet } = expireDue(state.wallets.get(walletKey(tenantId, userId))!, now)
    const asked = { requestId, userId, companyId, event, amount: 0, balance: Number(activeCoins(wallet)) }
    const why = { reason: error.word, reasonDescription: error.description, considered }
    return {
      body: succeed({
        outcome: 'WOULD_REFUSE',
        ...asked,
        occurredOn: rfc3339(occurredAt ?? now, timeZone),
        ...why,
      }),
    }
  }
}
