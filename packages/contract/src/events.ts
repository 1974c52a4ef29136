interface EventKind {
  /** When it happens, for the reference. */
  readonly description: string
}

/**
 * Every event of the service, by type: the one registry. An event carries the record as the API returns it:
 * never a secret, never a card number.
 */
export const EVENTS = {
  'qr_code.created': { description: 'A QR code was created' },
  'qr_code.credited': { description: 'A payment was accepted through a QR code' },
  'qr_code.cancelled': {
    description: 'A QR code accepts no more payments: it was cancelled, or its one payment was accepted',
  },
  'qr_code.expired': { description: 'The `expiry` of an active QR code passed' },
  'payment.refund_pending': {
    description:
      'A credit arrived that its QR code cannot accept and goes back to its payer; or the merchant refunds a payment, with `refund`',
  },
  'payment.refunded': {
    description:
      'The bank confirmed that a credit which could not be accepted went back to its payer; or that it made a refund of the merchant, with `refund`',
  },
  'payment.refund_failed': {
    description:
      'The bank could not make a refund of the merchant; its money is payable to the merchant again',
  },
  'payment.suspended': {
    description:
      'A credit arrived that fits no QR code; it stays in suspense until it is assigned or returned',
  },
  'payment.settled': { description: 'The bank has paid for a payment, as its settlement file says' },
  'payment.settlement_reversed': {
    description:
      'An operator took back the transfer of the bank by which a payment was settled: it was recorded by mistake. The payment is not settled until another `payment.settled`',
  },
  'payment.adjusted': {
    description:
      'An operator corrected what a payment amounts to, by a reference of the bank; what is payable to the merchant changes by the difference',
  },
  'payment.assigned': {
    description: 'An operator assigned a credit out of suspense to the merchant, who is paid for it',
  },
  'payment.unassigned': {
    description:
      'An operator took the assignment of a credit back: it is no longer payable to the merchant, and waits in suspense again',
  },
  'payment.disputed': {
    description:
      'The payer disputes a payment or a part of it; submit evidence before `evidenceDueOn`, or accept it',
  },
  'dispute.evidence_sent': {
    description: 'The evidence of a dispute was sent to the bank; again for each evidence that follows',
  },
  'dispute.evidence_requested': {
    description:
      'The operator asks for more evidence in a dispute: `evidenceRequest` says what is missing; submit it before `evidenceDueOn`',
  },
  'dispute.won': {
    description:
      'A dispute was decided for the merchant; its money is payable to the merchant again. Follows `dispute.lost` where that was only because no evidence came in time',
  },
  'dispute.lost': {
    description:
      'A disputed amount stays with the payer: decided so, accepted by the merchant, or no evidence came in time',
  },
  'payout.paid': { description: 'The bank paid a payout to the merchant' },
  'payout.failed': {
    description:
      'The bank could not pay a payout, or its money came back after it was paid; what it was made of is due again',
  },
  'tax_document.issued': {
    description: 'An invoice of fees and GST, or a credit note for one, was issued to the merchant',
  },
  'card.created': { description: 'A card was issued' },
  'card.status_changed': { description: 'A card was locked, unlocked, blocked or activated' },
  'card.loaded': { description: 'Money was loaded on a card again, from its card account' },
  'card.unloaded': { description: 'Money of a card was taken back to its card account' },
  'card.spent': { description: 'Money was spent from a card' },
  'card.refunded': { description: 'Money that was spent came back to a card' },
  'card.authorized': { description: 'The card network placed a hold on a card' },
  'card.declined': {
    description: 'An authorisation of a card was declined, with `responseCode` and `reason`',
  },
  'card.captured': { description: 'The card network captured an amount, with or without an authorisation' },
  'card.voided': { description: 'The card network released a hold on a card, wholly or in part' },
  'card.hold_expired': { description: 'A hold on a card expired before it was captured' },
  'card.expiring': { description: 'A card expires soon: sent 30, 7 and 1 days before' },
  'card.expired': { description: 'A card has passed its last day' },
  'card.replaced': { description: 'A card was replaced by a new one, which has its money' },
  'card.unclaimed_soon': {
    description:
      'The remaining balance of a blocked or expired card returns to its card account soon: sent 45, 15 and 1 days before',
  },
  'card.return_waiting': {
    description: 'The remaining balance of a blocked or expired card waits to return to its card account',
  },
  'card.returned': {
    description: 'The remaining balance of a blocked or expired card has returned to its card account',
  },
  'card.return_reversed': {
    description: 'An operator put what was on its way back to the card account back on the card',
  },
  'card_account.funded': { description: 'Money that was transferred to a card account was credited to it' },
  'card_account.withdrawn': {
    description: 'What was left on a card account, or a part of it, was paid back to you',
  },
  'card_account.funding_reversed': {
    description:
      'An operator took back a funding that was entered wrongly; what it had credited has left the card account',
  },
  'card_account.withdrawal_reversed': {
    description:
      'An operator took back a withdrawal that was entered wrongly; its money is on the card account again',
  },
  'card_account.low': { description: 'A load brought the balance of a card account below its threshold' },
  'spend_rule.created': {
    description: 'A spend rule was set; one that it replaces was removed with it',
  },
  'spend_rule.removed': { description: 'A spend rule is no longer in force' },
  'user.erased': { description: 'The personal data of a user was erased; erase your copies too' },
  'coins.allocated': { description: 'Coins were awarded to a user' },
  'coins.pending': { description: 'Coins were awarded to a user and become active later' },
  'coins.activated': { description: 'Pending coins of a user became active' },
  'coins.voided': { description: 'An allocation of coins was voided, wholly or as far as coins were there' },
  'coins.redeemed': { description: 'A user spent coins' },
  'coins.expiring': { description: 'Coins of a user expire within `COIN_EXPIRY_NOTICE_DAYS`' },
  'coins.expired': { description: 'Coins of a user passed their last day' },
  'coin_config.changed': { description: 'A coin configuration was created, changed or switched on or off' },
  'merchant.updated': {
    description:
      'An operator changed what concerns your money or your QR codes, as `changed` says: name and category, the UPI address, the bank account, the fee. A new UPI address is announced before it holds; take it back in the portal if you did not ask for it',
  },
  'credential.issued': {
    description:
      'One more API key or OAuth client was issued, by whomever: revoke it if you did not ask for it',
  },
  'credential.revoked': { description: 'An API key or OAuth client was revoked for good' },
  'member.invited': { description: 'A person was invited to your portal as a member' },
  'member.factor_reset': { description: 'The second factor of a member was reset' },
  'api_key.revoked': { description: 'An API key was revoked for good' },
} as const satisfies Record<string, EventKind>

export type EventType = keyof typeof EVENTS

export const EVENT_TYPES = Object.keys(EVENTS) as EventType[]

const HOLDER = [
  'email',
  'mobile',
  'title',
  'firstName',
  'lastName',
  'gender',
  'specialDate',
  'address',
  'address2',
  'city',
  'state',
  'country',
  'pincode',
  'deliveryAddress',
  'deliveryAddress2',
  'deliveryCity',
  'deliveryState',
  'deliveryCountry',
  'deliveryPincode',
  'pan',
  'remarks',
]

/** The fields of events that erasure empties (decision C23): proofs of the feed hide them behind a salted digest. */
export const ERASED_FIELDS: Partial<Record<EventType, readonly string[]>> = {
  'card.created': HOLDER,
  'card.status_changed': HOLDER,
  'coins.voided': ['reason'],
}
