import { rfc3339 } from '@svc/kernel/time'
import {
  bigint,
  bytes,
  day,
  generated,
  instant,
  integer,
  nullable,
  type RowOf,
  table,
  text,
} from '@svc/platform/db/table'
import { Type } from 'typebox'

/** Coins that users got for events: an allocation is one lot (decision K9). */
export const coinLots = table(
  'coin_lots',
  'l',
  ['partnerId', 'lotId'],
  {
    lotId: text,
    partnerId: text,
    userId: text,
    companyId: text,
    /** Number of its entry in the user's history: of lots that expire at one instant the lower is spent first. */
    entry: bigint,
    requestId: text,
    /** SHA-256 of the request, to distinguish a repeat from another request. */
    requestHash: bytes,
    event: text,
    coinConfigId: text,
    revision: integer,
    amount: bigint,
    /** Every coin of it is spent, expired or remains. */
    remaining: bigint,
    spent: generated(bigint),
    expired: generated(bigint),
    occurredAt: instant,
    /** Day of `occurredAt` in the business time zone. */
    businessDay: day,
    /** From this instant on what remains of it is gone; `null` for never. */
    expiresAt: nullable(instant),
    /** When `coins.expiring` was published for it. */
    announcedAt: generated(nullable(instant)),
    /** The user's active coins right after it. */
    balanceAfter: bigint,
    createdAt: instant,
  },
  ['partnerId', 'requestId'],
)
export type Allocation = RowOf<typeof coinLots>

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
    reason: Type.Optional(Type.String({ description: 'Of a dry run: the error code of the refusal' })),
    reasonDescription: Type.Optional(Type.String({ description: 'Of a dry run: the refusal in words' })),
    considered: Type.Optional(
      Type.Array(Considered, { description: 'Of a dry run: active configurations of the event' }),
    ),
  },
  { title: 'CoinAllocation', additionalProperties: false },
)

export const allocationToWire = (allocation: Allocation, timeZone: string) => ({
  outcome: 'ALLOCATED',
  allocationId: allocation.lotId,
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
