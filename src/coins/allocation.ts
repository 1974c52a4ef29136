import { Type } from 'typebox'
import { rfc3339 } from '../kernel/time.ts'

/** Coins that a user got for an event: one lot, spent first in, first out. */
export interface Allocation {
  readonly allocationId: string
  readonly partnerId: string
  readonly requestId: string
  /** SHA-256 of what was asked, to tell a repeat from another request. */
  readonly requestHash: Buffer
  readonly userId: string
  readonly companyId: string
  readonly event: string
  readonly coinConfigId: string
  readonly revision: number
  readonly amount: bigint
  readonly occurredAt: Date
  /** `YYYY-MM-DD` in the business time zone. */
  readonly businessDay: string
  readonly expiresAt: Date | null
  readonly balanceAfter: bigint
  readonly createdAt: Date
}

export interface AllocationRow {
  lot_id: string
  partner_id: string
  request_id: string
  request_hash: Buffer
  user_id: string
  company_id: string
  event: string
  coin_config_id: string
  revision: number
  amount: bigint
  occurred_at: Date
  business_day: string
  expires_at: Date | null
  balance_after: bigint
  created_at: Date
}

export const ALLOCATION_COLUMNS = `l.lot_id, l.partner_id, l.request_id, l.request_hash, l.user_id, l.company_id, l.event,
  l.coin_config_id, l.revision, l.amount, l.occurred_at, l.business_day::text as business_day, l.expires_at,
  l.balance_after, l.created_at`

export const toAllocation = (row: AllocationRow): Allocation => ({
  allocationId: row.lot_id,
  partnerId: row.partner_id,
  requestId: row.request_id,
  requestHash: row.request_hash,
  userId: row.user_id,
  companyId: row.company_id,
  event: row.event,
  coinConfigId: row.coin_config_id,
  revision: row.revision,
  amount: row.amount,
  occurredAt: row.occurred_at,
  businessDay: row.business_day,
  expiresAt: row.expires_at,
  balanceAfter: row.balance_after,
  createdAt: row.created_at,
})

const Considered = Type.Object(
  {
    coinConfigId: Type.String(),
    configuration: Type.Enum(['DEFAULT', 'CUSTOM']),
    revision: Type.Integer(),
    amount: Type.Integer(),
    verdict: Type.Enum(['APPLIES', 'OUTRANKED', 'NOT_YET_VALID', 'NO_LONGER_VALID']),
  },
  { additionalProperties: false },
)

export const AllocationRecord = Type.Object(
  {
    outcome: Type.Enum(['ALLOCATED', 'WOULD_ALLOCATE', 'WOULD_REPEAT', 'WOULD_REFUSE'], {
      description: '`ALLOCATED`, unless it was a dry run',
    }),
    allocationId: Type.Optional(Type.String({ description: 'Absent when nothing was allocated' })),
    requestId: Type.String(),
    userId: Type.String(),
    companyId: Type.String(),
    event: Type.String(),
    coinConfigId: Type.Optional(Type.String({ description: 'The configuration that applied' })),
    revision: Type.Optional(Type.Integer({ description: 'Its revision' })),
    amount: Type.Integer({ description: 'Coins; 0 when a dry run would be refused' }),
    balance: Type.Integer({ description: 'The user’s active coins right after it' }),
    occurredOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    expiresOn: Type.Optional(
      Type.String({ description: 'First instant at which the coins are gone; absent for never' }),
    ),
    createdOn: Type.Optional(Type.String({ description: 'Absent when nothing was allocated' })),
    reason: Type.Optional(Type.String({ description: 'Of a dry run: the error word of the refusal' })),
    reasonDescription: Type.Optional(Type.String({ description: 'Of a dry run: the refusal in words' })),
    considered: Type.Optional(
      Type.Array(Considered, { description: 'Of a dry run: active configurations of the event' }),
    ),
  },
  { title: 'CoinAllocation', additionalProperties: false },
)

export const allocationToWire = (allocation: Allocation, timeZone: string) => ({
  outcome: 'ALLOCATED',
  allocationId: allocation.allocationId,
  requestId: allocation.requestId,
  userId: allocation.userId,
  companyId: allocation.companyId,
  event: allocation.event,
  coinConfigId: allocation.coinConfigId,
  revision: allocation.revision,
  amount: Number(allocation.amount),
  balance: Number(allocation.balanceAfter),
  occurredOn: rfc3339(allocation.occurredAt, timeZone),
  expiresOn: allocation.expiresAt ? rfc3339(allocation.expiresAt, timeZone) : undefined,
  createdOn: rfc3339(allocation.createdAt, timeZone),
})
