import { createHash } from 'node:crypto'
import { type AllocateCoins, allocateCoins } from '@svc/core/coins/allocate-coins'
import { AllocationRecord, allocationToWire } from '@svc/core/coins/allocation'
import { dryRunAllocation, dryRunToWire } from '@svc/core/coins/dry-run-allocation'
import { redeemCoins } from '@svc/core/coins/redeem-coins'
import { RedemptionRecord, redemptionToWire } from '@svc/core/coins/redemption'
import { canonicalJson } from '@svc/kernel/canonical-json'
import { type Static, Type } from 'typebox'
import { Instant, readInstant } from '../http/fields.ts'
import { type Operation, ok, operation, type Services, succeed } from '../http/operation.ts'
import { Coins, EventName, ofCoins } from './coin-configs.ts'

/** Ids are opaque (decision A12): any text is looked up, and what cannot be an id is not found. */
const UserId = Type.String({ description: 'A user of a company of the partner' })

/** Exactly once is by this id. */
export const RequestId = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,63}$',
  'x-rule': 'must be 1 to 64 letters, digits and _ . : / -, the first of them a letter or a digit',
  description: 'The partner’s id of this one intent: however often it is sent, it happens once',
})

/** Stored with allocations and redemptions: the hash of the fields as the caller wrote them, an instant as its text. */
const hashOf = (request: object): Buffer => createHash('sha256').update(canonicalJson(request)).digest()

const AllocateCoinsRequest = Type.Object(
  {
    requestId: RequestId,
    event: EventName,
    userId: UserId,
    companyId: Type.String({ description: 'The user’s company' }),
    occurredOn: Type.Optional(
      Instant('When the event happened; now by default. Decides validity and the day of the daily limit'),
    ),
    dryRun: Type.Optional(
      Type.Boolean({ description: 'True: return what would happen and why, and change nothing' }),
    ),
  },
  { additionalProperties: false },
)

/** The request as the command has it. */
export function readAllocation(
  partnerId: string,
  { requestId, event, userId, companyId, occurredOn }: Static<typeof AllocateCoinsRequest>,
): AllocateCoins {
  const requestHash = hashOf({ event, userId, companyId, occurredOn })
  const occurredAt = readInstant('occurredOn', occurredOn)
  return { partnerId, requestId, requestHash, event, userId, companyId, occurredAt }
}

const allocate = operation({
  ...ofCoins('coins:write'),
  id: 'allocateCoins',
  method: 'POST',
  path: '/api/v0/svc-coins/allocate',
  summary: 'Allocate coins for an event',
  description:
    'Exactly once for each `requestId`, however often and however concurrently it is sent; the same id with another request is 409. The configuration of the user’s company outranks the partner’s default. Under a configuration that delays awards the coins are pending at first. A refused request does not use up its `requestId`.',
  body: AllocateCoinsRequest,
  result: AllocationRecord,
  errors: [
    'company_not_found',
    'user_not_found',
    'request_id_conflict',
    'no_coin_config',
    'coin_daily_limit_reached',
  ],
  run: allocateCoins,
  args: ({ caller, body }) => readAllocation(caller.tenantId, body),
  reply: ({ allocation }, { timeZone }) => ok(allocationToWire(allocation, timeZone)),
})

/** Not in the specification (decision K3). A dry run skips the command's write path: it has nothing to write. */
export const allocateCoinsOperation: Operation<Services> = {
  ...allocate,
  mount(services) {
    const handle = allocate.mount(services)
    const dryRun = dryRunAllocation(services)
    return async (input) => {
      const body = input.body as Static<typeof AllocateCoinsRequest>
      if (!body.dryRun) return handle(input)
      const tried = await dryRun(readAllocation(input.caller.tenantId, body))
      return { body: succeed(dryRunToWire(tried, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
}

/** Not in the specification (decision K3). */
export const redeemCoinsOperation = operation({
  ...ofCoins('coins:write'),
  id: 'redeemCoins',
  method: 'POST',
  path: '/api/v0/svc-coins/redeem',
  summary: 'Redeem coins',
  description:
    'Takes coins from the user’s unexpired lots, those that expire soonest first; all of them or none. A repeat of the same `requestId` gets the first response, with another request 409.',
  body: Type.Object(
    { requestId: RequestId, userId: UserId, amount: Coins('Whole coins') },
    { additionalProperties: false },
  ),
  result: RedemptionRecord,
  errors: ['user_not_found', 'request_id_conflict', 'insufficient_coins'],
  run: redeemCoins,
  args: ({ caller, body: { requestId, userId, amount } }) => ({
    partnerId: caller.tenantId,
    requestId,
    requestHash: hashOf({ userId, amount }),
    userId,
    coins: BigInt(amount),
  }),
  reply: ({ redemption }, { timeZone }) => ok(redemptionToWire(redemption, timeZone)),
})
