import { whole } from './setting.ts'

const DAYS_MAX = 365
const dayOfMonth = (fallback: number, what: string) =>
  whole(fallback, 1, 28, `Day of a month from which ${what} opens an alert for the operators.`)

/** After how long what did not happen opens an alert. */
export const DEADLINE_SETTINGS = {
  ALERT_REFUND_LATE_DAYS: whole(
    1,
    1,
    DAYS_MAX,
    'A credit that was not accepted and that the bank has not returned within so many bank days of its own day, or of that on which a person returned it, opens an alert; after 4 days of the calendar it is critical, since banks have to return it within 5.',
  ),
  ALERT_MERCHANT_REFUND_UNSENT_DAYS: whole(
    1,
    1,
    DAYS_MAX,
    'A refund of a merchant that was not sent to the bank for as many days opens an alert.',
  ),
  ALERT_MERCHANT_REFUND_UNANSWERED_DAYS: whole(
    3,
    1,
    DAYS_MAX,
    'A refund of a merchant of whose outcome the bank has sent no notice for as many days opens an alert.',
  ),
  ALERT_PAYOUT_LATE_HOURS: whole(
    24,
    1,
    8_760,
    'A payout whose outcome is not known so many hours after it was sent to the bank opens an alert.',
  ),
  ALERT_DISPUTE_DUE_HOURS: whole(
    48,
    1,
    8_760,
    'A dispute of which no evidence was sent to the bank opens an alert so many hours before its deadline.',
  ),
  ALERT_INVOICE_MISSING_DAY: dayOfMonth(5, 'a missing invoice of the month before'),
  ALERT_CLOSE_LATE_DAY: dayOfMonth(10, 'a month before that is not closed'),
  ALERT_GST_DUE_DAY: dayOfMonth(18, 'GST of the month before that is not paid'),
  ALERT_STATEMENT_HOUR: whole(
    12,
    0,
    23,
    'From this hour of a bank day on, a missing bank statement of the bank day before opens an alert.',
  ),
  ALERT_STATEMENT_UNMATCHED_DAYS: whole(
    1,
    0,
    365,
    'A line of a bank statement that fits nothing for longer opens an alert.',
  ),
  ALERT_SETTLEMENT_LATE_DAYS: whole(
    1,
    0,
    365,
    'A payment that the bank has not settled so many bank days after its own day opens an alert, once a settlement was imported.',
  ),
  ALERT_BATCH_INCOMPLETE_DAYS: whole(
    1,
    0,
    365,
    'A settlement batch whose lines do not add up to its net amount so many bank days after its value date opens an alert.',
  ),
  ALERT_BATCH_UNCONFIRMED_DAYS: whole(
    1,
    0,
    365,
    'A settlement batch that no bank statement shows so many bank days after its value date, and one more for the statement, opens an alert.',
  ),
  ALERT_SHORTFALL_RUPEES: whole(
    0,
    0,
    1_000_000_000,
    'An escrow account that has less than is owed out of it, by more than this, opens an alert.',
  ),
  ALERT_UNEXPLAINED_RUPEES: whole(
    0,
    0,
    1_000_000_000,
    'A proof of funds of which more than this is unexplained opens an alert.',
  ),
}

export type DeadlineSettings = {
  readonly [Name in keyof typeof DEADLINE_SETTINGS]: number
}

/** Only these, of all settings. */
export const deadlinesOf = (config: DeadlineSettings): DeadlineSettings =>
  Object.fromEntries(
    Object.keys(DEADLINE_SETTINGS).map((name) => [name, config[name as keyof DeadlineSettings]]),
  ) as DeadlineSettings
