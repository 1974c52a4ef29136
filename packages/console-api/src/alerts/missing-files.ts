import type { Config } from '@svc/contract/config'
import { idFloor } from '@svc/contract/id-kinds'
import { type BankDays, dayAfter } from '@svc/kernel/bank-days'
import { calendarDay, instantOfDay } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { unsettledAhead } from './settled-payments.ts'

/** A file that the bank owes by today's calendar and that was not imported. */
interface MissingFile {
  /** The account of a statement, the value date of a settlement. */
  readonly id: string
  /** The name of the account, or the value date. */
  readonly about: string
  /** What a settlement file has at least. */
  readonly amount: bigint | null
  readonly since: Date
  readonly due: Date
}

const ACCOUNTS = statement<{ id: string; name: string; through: string }>(
  'console_accounts_without_statement',
  `select b.bank_account_id as id, b.name, coalesce(s.through, b.opened_on - 1)::text as through
   from bank_accounts b cross join lateral (
     select max(s.through) as through from bank_statements s where s.bank_account_id = b.bank_account_id) s
   where coalesce(s.through, b.opened_on - 1) < $1::date order by 3, 1`,
)
const UNSETTLED = statement<{ day: string; amount: bigint }>(
  'console_days_without_settlement',
  `select (late.created_at at time zone $2::text)::date::text as day, sum(late.amount_paise)::bigint as amount
   from ${unsettledAhead('$1')} late where exists (select from settlement_batches where rail = 'upi') group by 1 order by 1`,
)
const VALUE_DATES = statement<{ day: string }>(
  'console_settlement_value_dates',
  `select distinct value_date::text as day from settlement_batches where rail = 'upi' and value_date >= $1::date`,
)

const HOUR_MINUTES = 60

/** The last bank day whose statement is to come by the end of today: banks send it on the next one. */
const lastStatement = (bankDays: BankDays, today: string): string =>
  bankDays.before(bankDays.isOpen(today) ? today : bankDays.before(today, 1), 1)

async function missingStatements(
  tx: Tx,
  bankDays: BankDays,
  today: string,
  config: Config,
): Promise<MissingFile[]> {
  const zone = config.BUSINESS_TIME_ZONE
  const accounts = await tx.query(ACCOUNTS, [lastStatement(bankDays, today)])
  return accounts.map(({ id, name, through }) => {
    const sentOn = bankDays.after(bankDays.after(through, 1), 1)
    return {
      id,
      about: name,
      amount: null,
      since: instantOfDay(sentOn, 0, zone),
      due: instantOfDay(sentOn, config.ALERT_STATEMENT_HOUR * HOUR_MINUTES, zone),
    }
  })
}

async function missingSettlements(
  tx: Tx,
  bankDays: BankDays,
  today: string,
  config: Config,
): Promise<MissingFile[]> {
  const { ALERT_SETTLEMENT_LATE_DAYS: days, BUSINESS_TIME_ZONE: zone } = config
  const notExpected = bankDays.firstInTime(dayAfter(today), days)
  const unsettled = await tx.query(UNSETTLED, [idFloor('pay', instantOfDay(notExpected, 0, zone)), zone])
  const first = unsettled[0]
  if (!first) return []
  const arrived = new Set((await tx.query(VALUE_DATES, [first.day])).map(({ day }) => day))
  const missing = new Map<string, bigint>()
  for (const { day, amount } of unsettled) {
    const valueDate = bankDays.after(day, days)
    if (!arrived.has(valueDate)) missing.set(valueDate, (missing.get(valueDate) ?? 0n) + amount)
  }
  return [...missing].map(([valueDate, amount]) => ({
    id: valueDate,
    about: valueDate,
    amount,
    since: instantOfDay(valueDate, 0, zone),
    due: instantOfDay(dayAfter(valueDate), 0, zone),
  }))
}

/** What the bank owes today, and has owed since, by kind; the longest first. */
export async function missingFiles(tx: Tx, bankDays: BankDays, now: Date, config: Config) {
  const today = calendarDay(now, config.BUSINESS_TIME_ZONE)
  return {
    bank_statements: await missingStatements(tx, bankDays, today, config),
    settlement_files: await missingSettlements(tx, bankDays, today, config),
  }
}
