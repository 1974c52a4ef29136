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
    /** Every coin of it is pending, spent, expired, voided or remains. */
    remaining: bigint,
    /** All of it, or nothing. */
    pending: bigint,
    spent: generated(bigint),
    expired: generated(bigint),
    voided: generated(bigint),
    occurredAt: instant,
    /** Day of `occurredAt` in the business time zone. */
    businessDay: day,
    /** From this instant on what remains of it is gone; `null` for never, and until it is confirmed. */
    expiresAt: nullable(instant),
    /** Of a lot that was pending at first (decision K10). */
    activationId: nullable(text),
    /** When it becomes active by itself; `null` for one that waits for confirmation. */
    activatesAt: nullable(instant),
    confirmedAt: generated(nullable(instant)),
    /** The user's active coins right after its activation. */
    activatedBalance: generated(nullable(bigint)),
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
    pending: Type.Optional(
      Type.Boolean({ description: 'True for an award that is not active yet; absent otherwise' }),
    ),
    activatesOn: Type.Optional(
      Type.String({
        description:
          'Of a pending award: when it becomes active by itself; absent when it waits for confirmation',
      }),
    ),
    occurredOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    expiresOn: Type.Optional(
      Type.String({
        description:
          'First instant at which the coins are gone; absent for never, and for an award that waits for confirmation',
      }),
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

/** The response to the allocation: a repeat gets the same one, whatever became of the coins meanwhile. */
export const allocationToWire = (allocation: Allocation, timeZone: string) => {
  const { activationId, activatesAt, expiresAt, confirmedAt } = allocation
  return {
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
    pending: activationId !== null || undefined,
    activatesOn: activatesAt ? rfc3339(activatesAt, timeZone) : undefined,
    occurredOn: rfc3339(allocation.occurredAt, timeZone),
    expiresOn: expiresAt && !confirmedAt ? rfc3339(expiresAt, timeZone) : undefined,
    createdOn: rfc3339(allocation.createdAt, timeZone),
  }
}

export const ActivationRecord = Type.Object(
  {
    allocationId: Type.String(),
    userId: Type.String(),
    amount: Type.Integer({ description: 'Coins that became active' }),
    balance: Type.Integer({ description: 'The user’s active coins right after it' }),
    activatedOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    expiresOn: Type.Optional(
      Type.String({ description: 'First instant at which the coins are gone; absent for never' }),
    ),
  },
  { title: 'CoinActivation', additionalProperties: false },
)

export const activationToWire = (
  lot: Pick<
    Allocation,
    'lotId' | 'userId' | 'amount' | 'activatedBalance' | 'activatesAt' | 'confirmedAt' | 'expiresAt'
  >,
  timeZone: string,
) => ({
  allocationId: lot.lotId,
  userId: lot.userId,
  amount: Number(lot.amount),
  balance: Number(lot.activatedBalance),
  activatedOn: rfc3339((lot.confirmedAt ?? lot.activatesAt)!, timeZone),
  expiresOn: lot.expiresAt ? rfc3339(lot.expiresAt, timeZone) : undefined,
})
