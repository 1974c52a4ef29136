import { BankDays } from '@svc/kernel/bank-days'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { day, instant, type RowOf, table, text } from '@svc/platform/db/table'

/** Days on which banks are closed, beside Sundays and second and fourth Saturdays (decision R30). */
const bankHolidays = table('bank_holidays', 'h', ['day'], {
  day,
  name: text,
  setBy: text,
  createdAt: instant,
})
export type BankHoliday = Pick<RowOf<typeof bankHolidays>, 'day' | 'name'>

const ALL = statement<{ day: string }>('bank_holidays_all', 'select day::text as day from bank_holidays')
const LIST = statement<BankHoliday>(
  'bank_holidays_list',
  `select h.day::text as day, h.name from bank_holidays h
   where $1::integer is null or h.day >= make_date($1, 1, 1) and h.day < make_date($1 + 1, 1, 1) order by h.day`,
)
// The one that is stored stays unless its name is another one.
const ADD = statement<{ day: string; isNew: boolean }>(
  'bank_holidays_add',
  `insert into bank_holidays as h (day, name, set_by, created_at)
   select w.day, w.name, $3, clock_timestamp() from unnest($1::date[], $2::text[]) as w (day, name) order by w.day
   on conflict (day) do update set name = excluded.name, set_by = excluded.set_by where h.name <> excluded.name
   returning h.day::text as day, xmax = 0 as "isNew"`,
)
const REMOVE = statement<BankHoliday>(
  'bank_holiday_remove',
  'delete from bank_holidays h where h.day = $1::date returning h.day::text as day, h.name',
)

/** The bank days of the installation, by the holidays that are known now. */
export const readBankDays = async (tx: Pick<Tx, 'query'>): Promise<BankDays> =>
  new BankDays((await tx.query(ALL)).map((each) => each.day))

/** Oldest first; of one year, or all. */
export const listBankHolidays = (tx: Tx, year: number | undefined): Promise<BankHoliday[]> =>
  tx.query(LIST, [year ?? null])

export interface AddedHolidays {
  readonly added: number
  /** Known by another name until now. */
  readonly renamed: number
  readonly repeated: number
}

/** Adds holidays, each day once, in the name of an operator. */
export async function addBankHolidays(
  tx: Tx,
  holidays: readonly BankHoliday[],
  by: string,
): Promise<AddedHolidays> {
  const nameOf = new Map(holidays.map((each) => [each.day, each.name]))
  const changed = await tx.query(ADD, [[...nameOf.keys()], [...nameOf.values()], by])
  const added = changed.filter(({ isNew }) => isNew).length
  return { added, renamed: changed.length - added, repeated: nameOf.size - changed.length }
}

/** Removes a holiday that is none; `undefined`: there was none on that day. */
export const removeBankHoliday = async (tx: Tx, day: string): Promise<BankHoliday | undefined> =>
  (await tx.query(REMOVE, [day]))[0]
