import type { DeadlineSettings } from '@svc/contract/deadline-settings'
import { idFloor } from '@svc/contract/id-kinds'
import type { BankDays } from '@svc/kernel/bank-days'
import { calendarDay, instantOfDay, plainTimestamp } from '@svc/kernel/time'
import type { BankDeadlines } from './deadlines.ts'

type Settings = DeadlineSettings & { readonly BUSINESS_TIME_ZONE: string }

/** What of banks is late at an instant, by their days. */
export function bankDeadlines(bankDays: BankDays, now: Date, config: Settings): BankDeadlines {
  const { BUSINESS_TIME_ZONE: zone } = config
  const today = calendarDay(now, zone)
  const isDue = Number(plainTimestamp(now, zone).slice(11, 13)) >= config.ALERT_STATEMENT_HOUR
  // Banks send the statement of a bank day on the next one.
  const last = isDue && bankDays.isOpen(today) ? today : bankDays.before(today, 1)
  return {
    statementDue: bankDays.before(last, 1),
    incompleteBefore: bankDays.firstInTime(today, config.ALERT_BATCH_INCOMPLETE_DAYS),
    // The statement of a value date comes a bank day later.
    unconfirmedBefore: bankDays.firstInTime(today, config.ALERT_BATCH_UNCONFIRMED_DAYS + 1),
    returnedBefore: bankDays.firstInTime(today, config.ALERT_REFUND_LATE_DAYS),
    settledBefore: bankDays.firstInTime(today, config.ALERT_SETTLEMENT_LATE_DAYS),
  }
}

/** Every payment of a day before has an id that sorts before it. */
export const settledBeforeId = (
  { settledBefore }: BankDeadlines,
  { BUSINESS_TIME_ZONE: zone }: Settings,
): string => idFloor('pay', instantOfDay(settledBefore, 0, zone))
