import type { Database, Tx } from '@svc/platform/db/database'
import { type Statement, statement } from '@svc/platform/db/statement'
import { OPEN_MONEY } from './chart-of-accounts.ts'

export interface Difference {
  subject: string
  detail: string
}

/** What a check looks at: a name in the plural, and how many there are. */
export interface Subject {
  readonly name: string
  readonly count: Statement<{ count: bigint }>
}

/** Something that must be true; the statement returns the rows for which it is not, at most a hundred. */
export interface Check {
  readonly check: string
  readonly differences: Statement<Difference>
  readonly of?: Subject
  /** The same for some of the subjects only, whose ids are `$1`; absent where only the whole can be checked. */
  readonly differencesOf?: Statement<Difference>
}

export const subjects = (name: string, from: string): Subject => ({
  name,
  count: statement(`count_${name.replaceAll(' ', '_')}`, `select count(*) from ${from}`),
})

/** The condition that no event of what is as old as `since` has been forgotten yet: so old feeds lose their beginnings. */
export const allEventsKept = (tenantId: string, since: string): string =>
  `not exists (select from event_counters f where f.tenant_id = ${tenantId} and f.forgotten_at >= ${since})`

/** What exceptions of the account were settled or written off, less what was reversed of it; as `amount`. */
export const settledOutside = (account: string): string => `(
         select coalesce(sum(case when t.credit_account_id = ${account}.account_id then t.amount else -t.amount end), 0) as amount
         from journals j
           join journals p on p.tenant_id = j.tenant_id and p.journal_id = coalesce(j.reverses, j.journal_id)
           join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
             and ${account}.account_id in (t.debit_account_id, t.credit_account_id)
         where j.tenant_id = ${account}.tenant_id
           and j.kind in ('exception_settled', 'exception_written_off', 'journal_reversal')
           and p.kind in ('exception_settled', 'exception_written_off'))`

/**
 * One check, written once: `text` gets a function that makes the condition for the subject's id, which holds all of them
 * or those that are asked for.
 */
export function check(
  name: string,
  of: Subject,
  promise: string,
  text: (chosen: (id: string) => string) => string,
): Check {
  return {
    check: promise,
    of,
    differences: statement(
      `reconcile_${name}`,
      text(() => 'true'),
    ),
    differencesOf: statement(
      `reconcile_${name}_of`,
      text((id) => `${id} = any ($1)`),
    ),
  }
}

export const ACCOUNTS = subjects('ledger accounts', 'ledger_accounts')
const TRANSFERS = subjects('transfers', 'ledger_transfers')
const JOURNALS = subjects('journals', 'journals')
export const OPENING_BALANCES = subjects('opening balances', 'opening_balances')

/** What must be true of every ledger. */
export const LEDGER_CHECKS: readonly Check[] = [
  {
    check: 'All balances of a unit add up to zero',
    of: ACCOUNTS,
    differences: statement(
      'reconcile_sum',
      `select unit as subject, 'the balances add up to ' || sum(balance) as detail
       from ledger_accounts group by unit having sum(balance) <> 0`,
    ),
  },
  check(
    'balances',
    ACCOUNTS,
    'Every balance equals the transfers of its account',
    (chosen) => `with moved as (
       select account_id, sum(amount) as amount from (
         select credit_account_id as account_id, amount from ledger_transfers where ${chosen('credit_account_id')}
         union all
         select debit_account_id, -amount from ledger_transfers where ${chosen('debit_account_id')}) as sides
       group by account_id)
     select a.account_id as subject, 'balance ' || a.balance || ', transfers ' || coalesce(m.amount, 0) as detail
     from ledger_accounts a left join moved m using (account_id)
     where ${chosen('a.account_id')} and a.balance <> coalesce(m.amount, 0) limit 100`,
  ),
  check(
    'floors',
    ACCOUNTS,
    'No balance is under its floor',
    (chosen) => `select account_id as subject, 'balance ' || balance || ', floor ' || floor as detail
     from ledger_accounts where ${chosen('account_id')} and balance < floor limit 100`,
  ),
  check(
    'closed_tenants',
    ACCOUNTS,
    'No money of a closed tenant is open',
    (
      chosen,
    ) => `select a.account_id as subject, 'balance ' || a.balance || ', closed at ' || t.closed_at as detail
     from tenants t join ledger_accounts a using (tenant_id)
     where t.closed_at is not null and a.balance <> 0 and a.kind in (${OPEN_MONEY.map((kind) => `'${kind}'`).join(', ')})
       and ${chosen('a.account_id')} limit 100`,
  ),
  {
    check: 'Both sides of a transfer have its unit and its tenant',
    of: TRANSFERS,
    differences: statement(
      'reconcile_sides',
      `select t.transfer_id as subject, 'between ' || d.account_id || ' and ' || c.account_id as detail
       from ledger_transfers t join ledger_accounts d on d.account_id = t.debit_account_id
         join ledger_accounts c on c.account_id = t.credit_account_id
       where d.unit <> t.unit or c.unit <> t.unit or d.tenant_id <> t.tenant_id or c.tenant_id <> t.tenant_id limit 100`,
    ),
  },
  {
    check: 'Every journal has the legs that it names, and every transfer is a leg of a journal of its tenant',
    of: JOURNALS,
    differences: statement(
      'reconcile_journals',
      `with moved as (
         select tenant_id, journal_id, count(*) as legs, max(leg) as last from ledger_transfers group by 1, 2)
       select coalesce(j.journal_id, m.journal_id) as subject,
         'names ' || coalesce(j.legs, 0) || ', has ' || coalesce(m.legs, 0) as detail
       from journals j full join moved m on m.tenant_id = j.tenant_id and m.journal_id = j.journal_id
       where j.legs is distinct from m.legs or j.legs is distinct from m.last limit 100`,
    ),
  },
  {
    check: 'A journal that reverses another moves the same back, in the same units, and once',
    of: JOURNALS,
    differences: statement(
      'reconcile_reversals',
      `with reversals as (
         select tenant_id, journal_id, reverses from journals where reverses is not null),
       sides as (
         select r.tenant_id, r.journal_id, s.account_id, s.unit, sum(s.amount) as amount
         from reversals r join ledger_transfers t
           on t.tenant_id = r.tenant_id and t.journal_id in (r.journal_id, r.reverses)
         cross join lateral (values
           (t.debit_account_id, t.unit, -t.amount), (t.credit_account_id, t.unit, t.amount)) as s (account_id, unit, amount)
         group by 1, 2, 3, 4)
       select journal_id as subject, account_id || ' is left with ' || amount as detail
       from sides where amount <> 0
       union all
       select r.journal_id, 'reverses ' || r.reverses || ', as another does'
       from (select *, count(*) over (partition by tenant_id, reverses) as times from reversals) r
       where r.times > 1 limit 100`,
    ),
  },
  check(
    'postings',
    TRANSFERS,
    'Each kind of journal moves between its kinds of accounts',
    (
      chosen,
    ) => `select t.journal_id as subject, j.kind || ' (' || t.kind || ') from ' || d.kind || ' to ' || c.kind as detail
     from ledger_transfers t
       join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
       join ledger_accounts d on d.tenant_id = t.tenant_id and d.account_id = t.debit_account_id
       join ledger_accounts c on c.tenant_id = t.tenant_id and c.account_id = t.credit_account_id
     where ${chosen('t.debit_account_id')} and not exists (
       select from posting_rules r where r.journal_kind = j.kind and r.leg_kind = t.kind
         and r.debit_kind = d.kind and r.credit_kind = c.kind) limit 100`,
  ),
  check(
    'chart',
    ACCOUNTS,
    'Each account has the name, unit and floor of its kind in the chart of accounts',
    (chosen) => `select a.account_id as subject,
       a.kind || ' in ' || a.unit || ', floor ' || coalesce(a.floor::text, 'none') as detail
     from ledger_accounts a left join account_kinds k on k.kind = split_part(a.account_id, ':', 1)
     where ${chosen('a.account_id')} and (k.kind is distinct from a.kind or a.unit <> k.unit
       or a.floor is distinct from case when k.is_bounded then 0 end) limit 100`,
  ),
  check(
    'opening_balances',
    OPENING_BALANCES,
    'An opening balance is its journal of that amount and account, and names what reversed it',
    (
      chosen,
    ) => `select o.journal_id as subject, o.amount_paise || ' to ' || o.account_id || ', reversed by ' || coalesce(o.reversed_by, 'none')
           || '; ' || coalesce(j.kind, 'no journal') || ', moved ' || coalesce(t.amount, 0) as detail
       from opening_balances o
         left join journals j on j.tenant_id = o.tenant_id and j.journal_id = o.journal_id
         left join ledger_transfers t on t.tenant_id = o.tenant_id and t.journal_id = o.journal_id
           and t.credit_account_id = o.account_id
         left join journals r on r.tenant_id = o.tenant_id and r.reverses = o.journal_id
       where ${chosen('o.journal_id')} and (j.kind is distinct from 'opening_balance'
         or j.reference is distinct from o.reference or t.amount is distinct from o.amount_paise
         or r.journal_id is distinct from o.reversed_by) limit 100`,
  ),
  check(
    'posted_alone',
    JOURNALS,
    'What counts as posted by one person is what its journal moves',
    // A transfer of the bank counts whole, under one of the journals that were entered with it; a payout by its net amount.
    (chosen) => `select o.journal_id as subject,
       'counted ' || o.amount_paise || ', moved ' || coalesce(string_agg(m.kind || ' ' || m.amount, ', '), 'nothing') as detail
     from one_person_postings o left join lateral (
       select t.kind, sum(t.amount) as amount from ledger_transfers t
       where t.tenant_id = o.tenant_id and t.journal_id = o.journal_id and t.debit_account_id not like 'inter\\_tenant:%'
       group by t.kind
       union all
       select o.kind, sum(t.amount) from ledger_transfers one join ledger_transfers t on t.object_id = one.object_id and t.created_at = one.created_at
       where o.kind = 'settlement_recorded' and one.tenant_id = o.tenant_id and one.journal_id = o.journal_id and one.leg = 1
         and t.kind in ('settlement_charged', 'settlement_unmatched', 'network_settlement')
         and t.debit_account_id not like 'card\\_settlement:%' and t.credit_account_id not like 'card\\_settlement:%'
       union all
       select o.kind, t.amount from ledger_transfers t
       where o.kind = 'payout_failed' and t.tenant_id = o.tenant_id and t.journal_id = o.journal_id) m on true
     where ${chosen('o.journal_id')}
     group by o.tenant_id, o.journal_id having not coalesce(bool_or(m.amount = o.amount_paise), false) limit 100`,
  ),
]

const COUNTS = statement<{ accounts: bigint; transfers: bigint }>(
  'reconcile_counts',
  'select (select count(*) from ledger_accounts) as accounts, (select count(*) from ledger_transfers) as transfers',
)

export interface Reconciliation {
  readonly ok: boolean
  readonly accounts: number
  readonly transfers: number
  readonly checks: readonly {
    readonly check: string
    readonly ok: boolean
    readonly differences: readonly Difference[]
  }[]
}

/** Proves the books, all tenants', on one snapshot. `extra` are the checks of the slices, which know their nouns. */
export function reconcile(database: Database, extra: readonly Check[] = []): Promise<Reconciliation> {
  const work = async (tx: Tx) => {
    const [counts] = await tx.query(COUNTS)
    const checks = []
    for (const { check: promise, differences } of [...LEDGER_CHECKS, ...extra]) {
      const found = await tx.query(differences)
      checks.push({ check: promise, ok: found.length === 0, differences: found })
    }
    return {
      ok: checks.every(({ ok }) => ok),
      accounts: Number(counts!.accounts),
      transfers: Number(counts!.transfers),
      checks,
    }
  }
  return database.report(work, 'repeatable read', 'long')
}
