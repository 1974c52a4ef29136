import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { ACCOUNT_KINDS, type AccountKind, kindOf, type Unit } from './chart-of-accounts.ts'
import { transfersSince } from './transfers-since.ts'

/** An amount on one side of the books, in paise or coins; never negative. */
export interface Sided {
  readonly debit: bigint
  readonly credit: bigint
}

/** The ledger's balances are credits less debits. */
export const sided = (balance: bigint): Sided =>
  balance < 0n ? { debit: -balance, credit: 0n } : { debit: 0n, credit: balance }

/** A balance on the account's normal side; negative where it is on the other. */
export const onNormalSide = (kind: AccountKind, balance: bigint): bigint =>
  kindOf(kind).side === 'credit' ? balance : -balance

export interface BooksQuery {
  /** The instant at whose end the books are read; by default now. */
  readonly asOf?: Date | undefined
  /**
   * Only entries whose effective date is this day, `YYYY-MM-DD`, or before: also what was learned of later. By default
   * all that were entered (decision R4).
   */
  readonly effectiveThrough?: string | undefined
  readonly tenantId?: string | undefined
}

// Balances as they are, less what moved since: an instant of the recent past reads little of a long ledger. In one
// statement, so that balances and transfers are of one snapshot. An account is made a moment after its first transfer
// was decided: one that has a balance counts, whenever it was made.
const BALANCES = `
  with later as (
    select account_id, sum(amount) as amount from (
      select credit_account_id as account_id, amount from ledger_transfers where created_at > $1
      union all
      select debit_account_id, -amount from ledger_transfers where created_at > $1
      union all
      select unnest(array[t.credit_account_id, t.debit_account_id]), unnest(array[t.amount, -t.amount])
      from journals j join ledger_transfers t using (tenant_id, journal_id)
      where j.effective_date > $3::date and (j.at <= $1 or $1 is null)) sides
    group by account_id)
  select a.kind, a.unit, a.tenant_id, a.balance - coalesce(l.amount, 0) as balance
  from ledger_accounts a left join later l using (account_id)
  where ($1::timestamptz is null or a.created_at <= $1 or a.balance <> coalesce(l.amount, 0)) and ($2::text is null or a.tenant_id = $2)`

interface KindRow {
  kind: AccountKind
  unit: Unit
  accounts: bigint
  debit: bigint
  credit: bigint
}
const TRIAL_BALANCE = statement<KindRow>(
  'books_trial_balance',
  `select kind, unit, count(*) as accounts,
     coalesce(sum(-balance) filter (where balance < 0), 0)::bigint as debit,
     coalesce(sum(balance) filter (where balance > 0), 0)::bigint as credit
   from (${BALANCES}) balances group by kind, unit`,
)

export interface TrialBalanceLine extends Sided {
  readonly kind: AccountKind
  readonly unit: Unit
  /** How many accounts of the kind there are. */
  readonly accounts: number
}

/** Every kind of account with its balances, in the order of the chart. In each unit debits equal credits. */
export async function trialBalance(
  tx: Tx,
  { asOf, effectiveThrough, tenantId }: BooksQuery = {},
): Promise<TrialBalanceLine[]> {
  const rows = await tx.query(TRIAL_BALANCE, [asOf ?? null, tenantId ?? null, effectiveThrough ?? null])
  const order = (kind: AccountKind) => ACCOUNT_KINDS.indexOf(kind)
  return rows
    .map((row) => ({ ...row, accounts: Number(row.accounts) }))
    .sort((a, b) => order(a.kind) - order(b.kind))
}

export interface Liability {
  readonly tenantId: string
  readonly kind: AccountKind
  /** What is owed, in paise. */
  readonly amountPaise: bigint
}
const LIABILITIES = statement<{ tenant_id: string; kind: AccountKind; amount: bigint }>(
  'books_liabilities',
  `select tenant_id, kind, sum(balance)::bigint as amount from (${BALANCES}) balances
   where kind = any ($4) group by tenant_id, kind having sum(balance) <> 0 order by tenant_id, kind`,
)
const LIABILITY_KINDS = ACCOUNT_KINDS.filter((kind) => kindOf(kind).group === 'liability')

/** What we owe, by tenant and kind of account. */
export const liabilities = async (
  tx: Tx,
  { asOf, effectiveThrough, tenantId }: BooksQuery = {},
): Promise<Liability[]> =>
  (
    await tx.query(LIABILITIES, [asOf ?? null, tenantId ?? null, effectiveThrough ?? null, LIABILITY_KINDS])
  ).map(({ tenant_id, kind, amount }) => ({ tenantId: tenant_id, kind, amountPaise: amount }))

/** A page of an account's statement. */
export interface StatementQuery {
  readonly accountId: string
  /** The first instant, and the first one after the period. */
  readonly from: Date
  readonly to: Date
  readonly limit: number
  /** By how many milliseconds the tenant's clock is ahead of that of ids; by default it has no test clock. */
  readonly aheadMs?: number | undefined
  /** The last line of the page before. */
  readonly after?: Pick<StatementLine, 'at' | 'transferId' | 'balance'> | undefined
}

export interface StatementLine extends Sided {
  readonly transferId: string
  readonly at: Date
  readonly effectiveDate: string
  readonly journalId: string
  readonly kind: string
  /** What the outside calls the journal, such as the bank's UTR. */
  readonly reference: string | null
  /** The account on the other side. */
  readonly otherAccountId: string
  readonly objectId: string
  /** Credits less debits, after this line. */
  readonly balance: bigint
}

export interface Statement {
  readonly accountId: string
  readonly kind: AccountKind
  readonly unit: Unit
  /** Credits less debits at the begin and at the end of the period. */
  readonly opening: bigint
  readonly closing: bigint
  readonly lines: readonly StatementLine[]
  /** Whether the period has lines after these. */
  readonly hasMore: boolean
}

const sumSince = (instant: string, floor: string) =>
  (['credit', 'debit'] as const)
    .map(
      (side) => `coalesce((select sum(amount) from ledger_transfers
         where ${side}_account_id = $1 and transfer_id > ${floor} and created_at >= ${instant}), 0)`,
    )
    .join(' - ')
interface PeriodRow {
  account_kind: AccountKind
  unit: Unit
  opening: bigint
  closing: bigint
}

interface LineRow extends PeriodRow {
  transfer_id: string
  created_at: Date
  effective_date: string
  journal_id: string
  kind: string
  reference: string | null
  other: string
  object_id: string
  amount: bigint
}
const side = (own: string, other: string, sign: string) =>
  `select t.tenant_id, t.transfer_id, t.journal_id, t.kind, t.${other} as other, t.object_id, ${sign}t.amount as amount,
     t.created_at
   from ledger_transfers t
   where t.${own} = $1 and t.transfer_id > $7 and t.created_at >= $2 and t.created_at < $3
     and (t.created_at, t.transfer_id) > ($4, $5)
   order by t.created_at, t.transfer_id limit $6`
// One statement, so that balances and lines are of one snapshot, whatever transaction it runs in.
const STATEMENT = statement<LineRow | (PeriodRow & { transfer_id: null })>(
  'books_statement',
  `select p.*, l.* from (
     select a.kind as account_kind, a.unit, (a.balance - (${sumSince('$2', '$8')}))::bigint as opening,
       (a.balance - (${sumSince('$3', '$9')}))::bigint as closing
     from ledger_accounts a where a.account_id = $1) p
   left join (
     select s.transfer_id, s.created_at, j.effective_date::text, s.journal_id, s.kind, j.reference, s.other, s.object_id,
       s.amount
     from ((${side('credit_account_id', 'debit_account_id', '')})
       union all (${side('debit_account_id', 'credit_account_id', '-')})) s
     join journals j on j.tenant_id = s.tenant_id and j.journal_id = s.journal_id
     order by s.created_at, s.transfer_id limit $6) l on true
   order by l.created_at, l.transfer_id`,
)

const floorOf = ({ accountId, aheadMs = 0 }: StatementQuery, at: Date): string =>
  accountId.startsWith('coins') ? '' : transfersSince(at, aheadMs)

/**
 * An account with its opening balance, what moved in the period, the balance after each line, and its closing balance.
 * `undefined`: there is no such account. For one snapshot of several pages call it under repeatable read.
 */
export async function accountStatement(tx: Tx, query: StatementQuery): Promise<Statement | undefined> {
  const { accountId, from, to, limit, after } = query
  const begin = after?.at ?? from
  const found = await tx.query(STATEMENT, [
    accountId,
    from,
    to,
    begin,
    after?.transferId ?? '',
    limit + 1,
    ...[begin, from, to].map((at) => floorOf(query, at)),
  ])
  const [first] = found
  if (!first) return undefined
  const { account_kind: kind, unit, opening, closing } = first
  const rows = found.filter((row) => row.transfer_id !== null)
  let balance = after?.balance ?? opening
  const lines = rows.slice(0, limit).map((row) => {
    balance += row.amount
    return {
      transferId: row.transfer_id,
      at: row.created_at,
      effectiveDate: row.effective_date,
      journalId: row.journal_id,
      kind: row.kind,
      reference: row.reference,
      otherAccountId: row.other,
      objectId: row.object_id,
      ...sided(row.amount),
      balance,
    }
  })
  return { accountId, kind, unit, opening, closing, lines, hasMore: rows.length > limit }
}
