import type { CardStatus, KycStatus } from './card-states.ts'

/** Holder and addresses as the request sent them, under their wire names (decision C17); absent means not sent. */
export interface Holder {
  readonly email?: string
  readonly mobile?: string
  readonly title?: string
  readonly firstName?: string
  readonly middleName?: string
  readonly lastName?: string
  readonly gender?: string
  readonly specialDate?: string
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
  /** The holder's tax number; never the card's (decision C16). */
  readonly pan?: string
}

/** Where a card may be used; both of a channel's flags must be on. */
export const CHANNELS = ['pos', 'atm', 'online'] as const
export type Channel = (typeof CHANNELS)[number]
export interface ChannelFlags {
  /** Set by the user. */
  readonly allowed: boolean
  /** Set by the admin; off, the channel stays closed whatever the user says. */
  readonly allowedAdmin: boolean
}

export interface Card {
  readonly svcCardId: string
  readonly partnerId: string
  readonly companyId: string
  readonly cardAccountId: string
  readonly userId: string
  readonly maskedNumber: string
  /** A reference for later calls that authorises nothing (decision C20). */
  readonly token: string
  readonly expiryMonth: number
  readonly expiryYear: number
  readonly status: CardStatus
  readonly kycStatus: KycStatus
  readonly physical: boolean
  readonly activated: boolean
  readonly holder: Holder
  readonly physicalRequestedAt: Date | null
  readonly loadPaise: bigint
  readonly loadTransferId: string
  readonly channels: Readonly<Record<Channel, ChannelFlags>>
  readonly blockCode: string
  readonly remarks: string
  readonly createdAt: Date
  readonly modifiedAt: Date
}

export interface CardRow {
  svc_card_id: string
  partner_id: string
  company_id: string
  card_account_id: string
  user_id: string
  masked_number: string
  token: string
  expiry_month: number
  expiry_year: number
  status: CardStatus
  kyc_status: KycStatus
  physical: boolean
  activated: boolean
  holder: Holder
  physical_requested_at: Date | null
  load_paise: bigint
  load_transfer_id: string
  pos_allowed: boolean
  pos_allowed_admin: boolean
  atm_allowed: boolean
  atm_allowed_admin: boolean
  online_allowed: boolean
  online_allowed_admin: boolean
  block_code: string
  remarks: string
  created_at: Date
  modified_at: Date
}

/** All but the number: neither the sealed one nor its digest is ever read with the card. */
export const CARD_COLUMNS = `c.svc_card_id, c.partner_id, c.company_id, c.card_account_id, c.user_id, c.masked_number, c.token,
  c.expiry_month, c.expiry_year, c.status, c.kyc_status, c.physical, c.activated, c.holder, c.physical_requested_at,
  c.load_paise, c.load_transfer_id, c.pos_allowed, c.pos_allowed_admin, c.atm_allowed, c.atm_allowed_admin,
  c.online_allowed, c.online_allowed_admin, c.block_code, c.remarks, c.created_at, c.modified_at`

export const toCard = (row: CardRow): Card => ({
  svcCardId: row.svc_card_id,
  partnerId: row.partner_id,
  companyId: row.company_id,
  cardAccountId: row.card_account_id,
  userId: row.user_id,
  maskedNumber: row.masked_number,
  token: row.token,
  expiryMonth: row.expiry_month,
  expiryYear: row.expiry_year,
  status: row.status,
  kycStatus: row.kyc_status,
  physical: row.physical,
  activated: row.activated,
  holder: row.holder,
  physicalRequestedAt: row.physical_requested_at,
  loadPaise: row.load_paise,
  loadTransferId: row.load_transfer_id,
  channels: {
    pos: { allowed: row.pos_allowed, allowedAdmin: row.pos_allowed_admin },
    atm: { allowed: row.atm_allowed, allowedAdmin: row.atm_allowed_admin },
    online: { allowed: row.online_allowed, allowedAdmin: row.online_allowed_admin },
  },
  blockCode: row.block_code,
  remarks: row.remarks,
  createdAt: row.created_at,
  modifiedAt: row.modified_at,
})

const ID = /^card_[0-9a-z]{26}$/
/** Whether the id can be one of ours; any other is answered like a missing one (decision A12). */
export const looksLikeCardId = (text: string): boolean => ID.test(text)
