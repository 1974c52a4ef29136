import type { Database, Tx } from '../platform/db/database.ts'
import { type Statement, statement } from '../platform/db/statement.ts'

interface Difference {
  subject: string
  detail: string
}

interface Check {
  readonly check: string
  readonly differences: Statement<Difference>
}

/** What must be true of every ledger; each statement answers the rows for which it is not, at most a hundred. */
const CHECKS: readonly Check[] = [
  {
    check: 'All balances of a unit add up to zero',
    differences: statement(
      'reconcile_sum',
      `select unit as subject, 'the balances add up to ' || sum(balance) as detail
       from ledger_accounts group by unit having sum(balance) <> 0`,
    ),
  },
  {
    check: 'Every balance equals the transfers of its account',
    differences: statement(
      'reconcile_balances',
      `with moved as (
         select account_id, sum(amount) as amount from (
           select credit_account_id as account_id, amount from ledger_transfers
           union all select debit_account_id, -amount from ledger_transfers) as sides group by account_id)
       select a.account_id as subject, 'balance ' || a.balance || ', transfers ' || coalesce(m.amount, 0) as detail
       from ledger_accounts a left join moved m using (account_id) where a.balance <> coalesce(m.amount, 0) limit 100`,
    ),
  },
  {
    check: 'No balance is under its floor',
    differences: statement(
      'reconcile_floors',
      `select account_id as subject, 'balance ' || balance || ', floor ' || floor as detail
       from ledger_accounts where balance < floor limit 100`,
    ),
  },
  {
    check: 'Both sides of a transfer have its unit and its tenant',
    differences: statement(
      'reconcile_sides',
      `select t.transfer_id as subject, 'between ' || d.account_id || ' and ' || c.account_id as detail
       from ledger_transfers t join ledger_accounts d on d.account_id = t.debit_account_id
         join ledger_accounts c on c.account_id = t.credit_account_id
       where d.unit <> t.unit or c.unit <> t.unit or d.tenant_id <> t.tenant_id or c.tenant_id <> t.tenant_id limit 100`,
    ),
  },
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
  return database.operate(async (tx: Tx) => {
    const [counts] = await tx.query(COUNTS)
    const checks = []
    for (const { check, differences } of [...CHECKS, ...extra]) {
      const found = await tx.query(differences)
      checks.push({ check, ok: found.length === 0, differences: found })
    }
    return {
      ok: checks.every((check) => check.ok),
      accounts: Number(counts!.accounts),
      transfers: Number(counts!.transfers),
      checks,
    }
  }, 'repeatable read')
}

export type { Check }
