import { fail } from '@svc/contract/errors'
import { type Allocation, coinLots } from '@svc/core/coins/allocation'
import { type Clock, rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { query, succeed } from '../http/operation.ts'
import { AllocationParams } from './allocation-changes.ts'
import { ofCoins } from './coin-configs.ts'

const coins = (description: string) => Type.Integer({ description })
const instant = (description: string) => Type.Optional(Type.String({ description }))

/** What became of an allocation. */
export const AllocationStateRecord = Type.Object(
  {
    allocationId: Type.String(),
    requestId: Type.String(),
    userId: Type.String(),
    companyId: Type.String(),
    event: Type.String(),
    coinConfigId: Type.String(),
    revision: Type.Integer(),
    amount: coins('Coins; each is pending, spent, expired, voided, or remains'),
    pending: coins('Not active yet'),
    remaining: coins('Active'),
    spent: coins('Redeemed'),
    expired: coins('Gone without being redeemed'),
    voided: coins('Taken back, by a void of this allocation or of another one'),
    activatesOn: instant('When pending coins become active by themselves; absent otherwise'),
    activatedOn: instant('When they became active; absent for coins that were never pending'),
    expiresOn: instant('First instant at which the coins are gone; absent for never, or not known yet'),
    voidId: Type.Optional(Type.String({ description: 'The void of this allocation' })),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
  },
  { title: 'CoinAllocationState', additionalProperties: false },
)

type Found = Allocation & { readonly voidId: string | null; readonly now: Date }

const SELECT = `select ${coinLots.columns}, v.void_id as "voidId",
     statement_timestamp() + $3::double precision * interval '1 millisecond' as now
   from coin_lots l left join coin_voids v on v.partner_id = l.partner_id and v.lot_id = l.lot_id`
const FIND = statement<Found>('coin_allocation', `${SELECT} where l.partner_id = $1 and l.lot_id = $2`)
const OF_USER = statement<Found>(
  'coin_allocations_of_user',
  `${SELECT} where l.partner_id = $1 and l.user_id = $2 order by l.entry desc limit $4`,
)

/** As of now: what is due counts as done, whether or not it has been written yet. */
function toWire(found: Found, timeZone: string) {
  const { now, activatesAt, confirmedAt, expiresAt, activationId } = found
  const date = (at: Date | null) => (at ? rfc3339(at, timeZone) : undefined)
  const activatedAt = confirmedAt ?? (activatesAt && activatesAt <= now ? activatesAt : null)
  const isActive = activationId === null || activatedAt !== null
  const open = found.remaining + (isActive ? found.pending : 0n)
  const isGone = expiresAt !== null && expiresAt <= now
  return {
    allocationId: found.lotId,
    requestId: found.requestId,
    userId: found.userId,
    companyId: found.companyId,
    event: found.event,
    coinConfigId: found.coinConfigId,
    revision: found.revision,
    amount: Number(found.amount),
    pending: isActive ? 0 : Number(found.pending),
    remaining: isGone ? 0 : Number(open),
    spent: Number(found.spent),
    expired: Number(found.expired + (isGone ? open : 0n)),
    voided: Number(found.voided),
    activatesOn: found.pending > 0n && !isActive ? date(activatesAt) : undefined,
    activatedOn: found.activatedBalance !== null || found.pending > 0n ? date(activatedAt) : undefined,
    expiresOn: date(expiresAt),
    voidId: found.voidId ?? undefined,
    createdOn: rfc3339(found.createdAt, timeZone),
  }
}

/** The newest allocations of a user, newest first. */
export async function readAllocationsOf(
  tx: Tx,
  wanted: { readonly partnerId: string; readonly userId: string; readonly limit: number },
  clock: Clock,
  timeZone: string,
) {
  const { partnerId, userId, limit } = wanted
  const rows = await tx.query(OF_USER, [partnerId, userId, clock.of(partnerId).offsetMs(), limit])
  return rows.map((row) => toWire(row, timeZone))
}

/** Ours (decision K10): an allocation as it is now. */
export const getCoinAllocation = query({
  ...ofCoins('coins:read'),
  id: 'getCoinAllocation',
  method: 'GET',
  path: '/api/v0/svc-coins/allocations/:allocationId',
  summary: 'Get coin allocation',
  description: 'What became of the coins of an allocation, as of now.',
  params: AllocationParams,
  result: AllocationStateRecord,
  errors: ['coin_allocation_not_found'],

  mount({ database, clock, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId: partnerId }, params: { allocationId } }) => {
      const [found] = await database.read([partnerId], (tx) =>
        tx.query(FIND, [partnerId, allocationId, clock.of(partnerId).offsetMs()]),
      )
      return {
        headers: { 'cache-control': 'no-store' },
        body: succeed(toWire(found ?? fail('coin_allocation_not_found'), timeZone)),
      }
    }
  },
})
