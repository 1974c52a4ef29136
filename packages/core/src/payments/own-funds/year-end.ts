import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { formatRupees } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import type { CommandTools } from '@svc/platform/command'
import type { Tx } from '@svc/platform/db/database'
import { timeAhead } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import { bigint, day, instant, integer, type NewRowOf, table, text } from '@svc/platform/db/table'
import { type AccountKind, KINDS_OF_A_YEAR, kindOf } from '../../ledger/chart-of-accounts.ts'
import { listClosings } from '../../ledger/closing.ts'
import { furthestAhead } from '../../ledger/transfers-since.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { PAYMENT_CLOSING_CHECKS } from '../closing-checks.ts'
import { businessDay } from '../payouts/payout-statement.ts'
import type { Share } from './movement.ts'

/** Year ends: what each has moved from income and expenses to the owner's equity (decision R28). */
export const yearEnds = table('year_ends', 'y', ['tenantId', 'yearEndId'], {
  tenantId: text,
  yearEndId: text,
  /** 31 March. */
  through: day,
  /** 1, then one more for each that enters what was found since. */
  place: integer,
  /** Below zero it is a loss. */
  profitPaise: bigint,
  /** The journal of the whole; shares of tenants are in journals of the same reference. */
  journalId: text,
  createdAt: instant,
})
export type YearEnd = NewRowOf<typeof yearEnds>

/** A kind of account with its balance of the year, on the side of credits: expenses are below zero. */
export interface YearTotal {
  readonly account: AccountKind
  readonly paise: bigint
}

/** What of a year is not closed. */
export interface OpenYear {
  /** The last day of the year. */
  readonly through: string
  /** What each tenant has on which kind of account. */
  readonly shares: readonly Share[]
  /** How many year ends it has. */
  readonly ends: number
  /** What they have moved. */
  readonly closed: readonly YearTotal[]
}

// Back from today's balances, on one snapshot.
const OPEN = statement<Share & { beforePaise: bigint }>(
  'year_open',
  `select a.tenant_id as "tenantId", a.kind as account, (a.balance - l.after_it)::bigint as paise,
     (a.balance - l.since)::bigint as "beforePaise"
   from ledger_accounts a cross join lateral (
     select coalesce(sum(s.amount) filter (where j.effective_date > $1::date), 0) as after_it,
       coalesce(sum(s.amount), 0) as since
     from (select d.tenant_id, d.journal_id, - d.amount as amount from ledger_transfers d
           where d.debit_account_id = a.account_id
           union all
           select c.tenant_id, c.journal_id, c.amount from ledger_transfers c
           where c.credit_account_id = a.account_id) s
       join journals j on j.tenant_id = s.tenant_id and j.journal_id = s.journal_id
     where j.effective_date > ($1::date - interval '1 year')::date) l
   where a.kind = any ($2::text[]) and (a.balance <> l.after_it or a.balance <> l.since)
   order by a.tenant_id, a.kind`,
)
const ENDS = statement<{ count: bigint }>(
  'year_ends_count',
  `select count(*) from year_ends where tenant_id = '${PLATFORM_TENANT}' and through = $1::date`,
)
const CLOSED = statement<YearTotal>(
  'year_closed',
  `select split_part(s.account_id, ':', 1) as account, sum(s.amount)::bigint as paise
   from year_ends y join ledger_transfers t on t.tenant_id = y.tenant_id and t.journal_id = y.journal_id
     cross join lateral (values (t.debit_account_id, t.amount), (t.credit_account_id, - t.amount)) s (account_id, amount)
   where y.tenant_id = '${PLATFORM_TENANT}' and y.through = $1::date and s.account_id not like 'owner\\_equity:%'
   group by 1`,
)
const NOW = statement<{ now: Date }>('year_end_now', `select ${timeAhead(1)} as now`)

/** The last day of a financial year such as `2026-27`. */
export function lastDayOfYear(year: string): string {
  const [, first, second] = /^(\d{4})-(\d{2})$/.exec(year) ?? []
  const next = Number(first) + 1
  if (first === undefined || Number(second) !== next % 100)
    return failField('year', 'invalid', 'must be a financial year such as 2026-27')
  return `${next}-03-31`
}

/** The financial year that ends on a 31 March. */
export const yearThrough = (through: string): string =>
  `${Number(through.slice(0, 4)) - 1}-${through.slice(2, 4)}`

export const endsOf = async (tx: Pick<Tx, 'query'>, through: string): Promise<number> =>
  Number((await tx.query(ENDS, [through]))[0]!.count)

type Tools = Pick<CommandTools, 'config' | 'database'>

/** What of a year is not closed; fails where the year is not over, or its figures are not finished. */
export function readOpenYear({ config, database }: Tools, year: string): Promise<OpenYear> {
  const through = lastDayOfYear(year)
  return database.operate(
    async (tx) => {
      const { now } = (await tx.query(NOW, [await furthestAhead(tx)]))[0]!
      if (calendarDay(now, config.BUSINESS_TIME_ZONE) <= through) fail('year_not_over')
      const { to } = businessDay(through, config.BUSINESS_DAY_CUTOFF, config.BUSINESS_TIME_ZONE)
      await requireFinished(tx, through, to)
      // Before what is open: of one that is entered meanwhile the count shows it.
      const ends = await endsOf(tx, through)
      const found = await tx.query(OPEN, [through, KINDS_OF_A_YEAR])
      if (found.some(({ beforePaise }) => beforePaise !== 0n)) {
        const before = `${Number(through.slice(0, 4)) - 1}${through.slice(4)}`
        fail('year_before_open', {
          description: `Income and expenses until ${before} are not closed`,
          command: `svc admin books year-end --year ${yearThrough(before)}`,
        })
      }
      const shares = found.map(({ tenantId, account, paise }) => ({ tenantId, account, paise }))
      return { through, shares, ends, closed: await tx.query(CLOSED, [through]) }
    },
    'read committed',
    undefined,
    'long',
  )
}

/** What would change the figures: fees that are not entered, and transfers of the bank that may have charges. */
const OF_FIGURES = ['accrued', 'batches', 'old_lines']

/** Once the books of its last day are closed, what was open then was accepted with a reason (decision R23). */
async function requireFinished(tx: Tx, through: string, to: Date): Promise<void> {
  const [latest] = await listClosings(tx)
  const items = latest && latest.through >= through ? ['accrued'] : OF_FIGURES
  const problems: string[] = []
  for (const { item, problem } of PAYMENT_CLOSING_CHECKS.filter((each) => items.includes(each.item))) {
    const found = await problem(tx, { through, to })
    if (found) problems.push(`${item}: ${found.detail}`)
  }
  if (problems.length > 0)
    fail('year_not_ready', { description: `Not in order until ${through}: ${problems.join('; ')}` })
}

export const profitOf = (totals: readonly Pick<YearTotal, 'paise'>[]): bigint =>
  totals.reduce((sum, { paise }) => sum + paise, 0n)

/** Totals by kind of account, in the order of the chart, without those of nothing. */
export const totalsOf = (shares: readonly YearTotal[]): YearTotal[] =>
  KINDS_OF_A_YEAR.map((account) => ({
    account,
    paise: profitOf(shares.filter((share) => share.account === account)),
  })).filter(({ paise }) => paise !== 0n)

/** Amounts as texts of rupees, income and expenses each on its own side. */
export function yearEndToWire(through: string, shares: readonly YearTotal[], journals: number) {
  const totals = totalsOf(shares)
  const of = (group: 'income' | 'expense') =>
    totals
      .filter(({ account }) => kindOf(account).group === group)
      .map(({ account, paise }) => ({
        kind: account,
        amount: formatRupees(group === 'income' ? paise : 0n - paise),
      }))
  return {
    year: yearThrough(through),
    through,
    income: of('income'),
    expenses: of('expense'),
    profit: formatRupees(profitOf(totals)),
    journals,
  }
}
