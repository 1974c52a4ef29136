interface Decline {
  /** ISO 8583-1:1987, field 39. */
  readonly code: string
  readonly meaning: string
}

/** ISO 8583 field 39 of what is approved or recorded. */
export const APPROVED = '00'

/** ISO 8583 field 39 of an authorisation that is approved for a part of its amount. */
export const PARTLY_APPROVED = '10'

/** ISO 8583 field 39 of a card that was verified by an authorisation of zero: no reason to decline it. */
export const VERIFIED = '85'

/** The codes of approvals other than `00`. */
export type Approval = typeof VERIFIED | typeof PARTLY_APPROVED

/** Why an authorisation or a balance inquiry is declined, with its ISO 8583 response code (decision R1). */
export const DECLINES = {
  voided_before: { code: '05', meaning: 'Its void arrived before it' },
  currency_not_inr: { code: '12', meaning: 'The amount is not in rupees' },
  unknown_card: { code: '14', meaning: 'No card has this token or number' },
  authorization_not_open: {
    code: '25',
    meaning: 'It names an authorisation to raise that is not open, or that this card does not have',
  },
  message_unreadable: { code: '30', meaning: 'A field cannot be read; `detail` names it' },
  insufficient_funds: { code: '51', meaning: 'The balance less open holds is too small' },
  card_expired: { code: '54', meaning: 'The card is past its last month' },
  blocked_by_rule: {
    code: '57',
    meaning: 'A spend rule, `spendRuleId`, permits no such channel, category or country',
  },
  channel_closed_by_user: { code: '57', meaning: 'The user has closed the channel' },
  channel_closed_by_admin: {
    code: '57',
    meaning: 'The admin has closed the channel, whatever the user’s flag says',
  },
  over_transaction_limit: { code: '61', meaning: 'The amount exceeds `CARD_TRANSACTION_MAX_RUPEES`' },
  over_day_limit: { code: '61', meaning: 'The day’s amounts would exceed `CARD_DAY_MAX_RUPEES`' },
  over_month_limit: { code: '61', meaning: 'The month’s amounts would exceed `CARD_MONTH_MAX_RUPEES`' },
  over_rule_transaction_limit: {
    code: '61',
    meaning: 'The amount exceeds that of a spend rule, `spendRuleId`, for one transaction',
  },
  over_rule_day_limit: {
    code: '61',
    meaning: 'The day’s amounts would exceed that of a spend rule, `spendRuleId`',
  },
  over_rule_month_limit: {
    code: '61',
    meaning: 'The month’s amounts would exceed that of a spend rule, `spendRuleId`',
  },
  card_locked: { code: '62', meaning: 'The card is locked' },
  card_blocked: { code: '62', meaning: 'The card is blocked for good' },
  over_rule_day_count: {
    code: '65',
    meaning: 'The day’s authorisations would be more than a spend rule, `spendRuleId`, permits',
  },
  over_rule_month_count: {
    code: '65',
    meaning: 'The month’s authorisations would be more than a spend rule, `spendRuleId`, permits',
  },
  card_not_active: { code: '78', meaning: 'The card is not activated yet' },
  contradicts_earlier_message: {
    code: '94',
    meaning:
      'An earlier message of the same type, acquirer, STAN and transmission time asked for something else, or the same message was sent to the operation of another type',
  },
} as const satisfies Readonly<Record<string, Decline>>

export type DeclineReason = keyof typeof DECLINES

/** The table of response codes in Markdown, for the generated reference. */
export function responseCodeTable(): string {
  const rows = Object.entries(DECLINES).map(
    ([reason, { code, meaning }]) => `| \`${code}\` | \`${reason}\` | ${meaning} |`,
  )
  return [
    '| `responseCode` | `reason` | Meaning |',
    '|---|---|---|',
    `| \`${APPROVED}\` | | Approved, or recorded |`,
    `| \`${PARTLY_APPROVED}\` | | Approved for \`approvedAmount\`, a part of the amount |`,
    `| \`${VERIFIED}\` | | An authorisation of zero: the card is verified, no amount is held |`,
    ...rows,
    '',
  ].join('\n')
}
