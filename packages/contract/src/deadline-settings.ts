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
    'A credit that was not accepted and that the bank has not returned for as many days opens an alert; after 4 days it is critical, since banks have to return it within 5.',
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
    'A dispute without evidence opens an alert so many hours before its deadline.',
  ),
  ALERT_INVOICE_MISSING_DAY: dayOfMonth(5, 'a missing invoice of the month before'),
  ALERT_CLOSE_LATE_DAY: dayOfMonth(10, 'a month before that is not closed'),
}

export type DeadlineSettings = {
  readonly [Name in keyof typeof DEADLINE_SETTINGS]: number
}

/** Only these, of all settings. */
export const deadlinesOf = (config: DeadlineSettings): DeadlineSettings =>
  Object.fromEntries(
    Object.keys(DEADLINE_SETTINGS).map((name) => [name, config[name as keyof DeadlineSettings]]),
  ) as DeadlineSettings
