import { plainTimestamp } from '@svc/kernel/time'
import {
  bytes,
  flag,
  instant,
  json,
  nullable,
  paise,
  type RowOf,
  secret,
  smallint,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import type { Profile } from '../../tenants/user.ts'
import type { CardStatus, KycStatus } from './card-states.ts'

/** Holder and addresses as the request sent them, under their wire names (decision C17); absent means not sent. */
export interface Holder extends Profile {
  readonly address?: string
  readonly address2?: string
  readonly city?: string
  readonly state?: string
  readonly country?: string
  readonly pincode?: string
  readonly deliveryAddress?: string
  readonly deliveryAddress2?: string
  readonly deliveryCity?: string
  readonly deliveryState?: string
  readonly deliveryCountry?: string
  readonly deliveryPincode?: string
}

/** Where a card may be used; both of a channel’s flags must be on. */
export const CHANNELS = ['pos', 'atm', 'online'] as const
export type Channel = (typeof CHANNELS)[number]
/** A channel’s flag that its user sets, or the admin’s: while that is off, the channel is closed whatever the user’s is. */
export type CardFlag = `${Channel}Allowed` | `${Channel}AllowedAdmin`

/** Cards of partners’ companies (spec section 2.4). */
export const cards = table('cards', 'c', ['partnerId', 'svcCardId'], {
  svcCardId: text,
  partnerId: text,
  companyId: text,
  cardAccountId: text,
  userId: text,
  /** The card number, encrypted, and a keyed digest of it. */
  numberEncrypted: secret(bytes),
  numberDigest: secret(bytes),
  maskedNumber: text,
  /** A reference for later calls that authorises nothing (decision C20). */
  token: text,
  expiryMonth: smallint,
  expiryYear: smallint,
  status: textOf<CardStatus>(),
  kycStatus: textOf<KycStatus>(),
  physical: flag,
  activated: flag,
  holder: json<Holder>(),
  physicalRequestedAt: nullable(instant),
  loadPaise: paise,
  loadTransferId: text,
  posAllowed: flag,
  posAllowedAdmin: flag,
  atmAllowed: flag,
  atmAllowedAdmin: flag,
  onlineAllowed: flag,
  onlineAllowedAdmin: flag,
  blockCode: text,
  remarks: text,
  /** Of the encrypted request that created it: each counts once (decision C13). */
  ciphertextHash: secret(nullable(bytes)),
  /** The partner's reference of its order, and a digest of what was ordered (decision C22). */
  referenceNumber: nullable(text),
  orderDigest: secret(nullable(bytes)),
  /** Its end (decision C21): when its expiry was announced, and since when it has ended, blocked or expired. */
  expiredAt: nullable(instant),
  endedAt: nullable(instant),
  /** From then on what is left on the ended card is unclaimed. */
  unclaimedAt: nullable(instant),
  /** The last announcement, in days before the expiry or before what is left is unclaimed. */
  noticeDays: nullable(smallint),
  /** When the background has to look at it next. */
  dueAt: nullable(instant),
  replaces: nullable(text),
  replacedBy: nullable(text),
  createdAt: instant,
  modifiedAt: instant,
})
export type Card = RowOf<typeof cards>
export type CardKey = Pick<Card, 'partnerId' | 'svcCardId'>

const ID = /^card_[0-9a-z]{26}$/
/** Whether the id has the form of our ids; any other gets the response for a missing one (decision A12). */
export const looksLikeCardId = (id: string): boolean => ID.test(id)

/** A card is good through the last day of its month, in the business zone. */
export function isExpired(
  { expiryYear, expiryMonth }: Pick<Card, 'expiryYear' | 'expiryMonth'>,
  now: Date,
  timeZone: string,
): boolean {
  const lastMonth = `${expiryYear}-${String(expiryMonth).padStart(2, '0')}`
  return plainTimestamp(now, timeZone).slice(0, lastMonth.length) > lastMonth
}
