import { rfc3339 } from '@svc/kernel/time'
import { bigint, bytes, flag, instant, type RowOf, table, text, textOf } from '@svc/platform/db/table'
import { Type } from 'typebox'
import type { LotUse } from './wallet.ts'

/** Allocations that were taken back (decision K12). */
export const coinVoids = table(
  'coin_voids',
  'v',
  ['partnerId', 'voidId'],
  {
    voidId: text,
    partnerId: text,
    userId: text,
    lotId: text,
    requestId: text,
    /** SHA-256 of the request, to distinguish a repeat from another request. */
    requestHash: bytes,
    reason: text,
    actor: textOf<'partner' | 'operator'>(),
    /** Whether the allocation was pending, so that no active coins were taken. */
    wasPending: flag,
    /** Coins that were taken, from the allocation and from others. */
    amount: bigint,
    /** Spent coins of the allocation that no others replaced. */
    shortfall: bigint,
    /** The user's active coins right after it. */
    balanceAfter: bigint,
    createdAt: instant,
  },
  ['partnerId', 'requestId'],
)

/** The lots that a void took its coins from. */
export const coinVoidTakes = table('coin_void_takes', 'k', ['partnerId', 'voidId', 'lotId'], {
  voidId: text,
  partnerId: text,
  lotId: text,
  amount: bigint,
})

export type CoinVoid = RowOf<typeof coinVoids> & {
  /** The allocation's own lot first. */
  readonly takes: readonly LotUse[]
}

export const VoidRecord = Type.Object(
  {
    voidId: Type.String(),
    requestId: Type.String(),
    allocationId: Type.String(),
    userId: Type.String(),
    reason: Type.String({ 'x-personal': 'text' }),
    pending: Type.Boolean({ description: 'Whether the allocation was pending: no active coins were taken' }),
    amount: Type.Integer({ description: 'Coins that were taken back' }),
    shortfall: Type.Integer({
      description: 'Coins of the allocation that the user had spent, and that were not taken from others',
    }),
    allocations: Type.Array(
      Type.Object({ allocationId: Type.String(), amount: Type.Integer() }, { additionalProperties: false }),
      { description: 'Whose coins were taken' },
    ),
    balance: Type.Integer({ description: 'The user’s active coins right after it' }),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
  },
  { title: 'CoinVoid', additionalProperties: false },
)

export const voidToWire = (done: CoinVoid, timeZone: string) => ({
  voidId: done.voidId,
  requestId: done.requestId,
  allocationId: done.lotId,
  userId: done.userId,
  reason: done.reason,
  pending: done.wasPending,
  amount: Number(done.amount),
  shortfall: Number(done.shortfall),
  allocations: done.takes.map(({ lotId, amount }) => ({ allocationId: lotId, amount: Number(amount) })),
  balance: Number(done.balanceAfter),
  createdOn: rfc3339(done.createdAt, timeZone),
})
