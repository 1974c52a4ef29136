import { rfc3339 } from '@svc/kernel/time'
import { bigint, bytes, instant, type RowOf, table, text } from '@svc/platform/db/table'
import { Type } from 'typebox'

/** Coins that users spent. */
export const coinRedemptions = table(
  'coin_redemptions',
  'r',
  ['partnerId', 'redemptionId'],
  {
    redemptionId: text,
    partnerId: text,
    requestId: text,
    /** SHA-256 of the request, to distinguish a repeat from another request. */
    requestHash: bytes,
    userId: text,
    amount: bigint,
    /** The user's active coins right after it. */
    balanceAfter: bigint,
    createdAt: instant,
  },
  ['partnerId', 'requestId'],
)
export type Redemption = RowOf<typeof coinRedemptions>

/** The lots that a redemption took its coins from. */
export const coinLotUses = table('coin_lot_uses', 'u', ['partnerId', 'redemptionId', 'lotId'], {
  redemptionId: text,
  partnerId: text,
  lotId: text,
  amount: bigint,
})

export const RedemptionRecord = Type.Object(
  {
    redemptionId: Type.String(),
    requestId: Type.String(),
    userId: Type.String(),
    amount: Type.Integer({ description: 'Coins' }),
    balance: Type.Integer({ description: 'The user’s active coins right after it' }),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
  },
  { title: 'CoinRedemption', additionalProperties: false },
)

export const redemptionToWire = (redemption: Redemption, timeZone: string) => ({
  redemptionId: redemption.redemptionId,
  requestId: redemption.requestId,
  userId: redemption.userId,
  amount: Number(redemption.amount),
  balance: Number(redemption.balanceAfter),
  createdOn: rfc3339(redemption.createdAt, timeZone),
})
