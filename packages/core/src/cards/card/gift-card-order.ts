import type { Paise } from '@svc/kernel/money'
import type { Holder } from './card.ts'

/** The card that a partner wants. */
export interface GiftCardOrder {
  readonly companyId: string
  readonly cardAccountId: string
  /** Absent for the user with the holder’s mobile or e-mail, or a new one (decision C9). */
  readonly userId?: string | undefined
  readonly physical: boolean
  /** Absent for the account's denomination. */
  readonly loadPaise?: Paise | undefined
  readonly holder: Holder
  /** The partner's own, unique among its orders: a repeat returns the first card (decision C22). */
  readonly referenceNumber?: string | undefined
}
