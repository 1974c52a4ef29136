import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { PURPOSES, type Purpose } from './bank-account.ts'
import { DOCUMENT_OF, ORIGINAL } from './movements.ts'

/** Legs on one account as `t`, with what each adds to it. */
const legsOf = (account: string, more = ''): string =>
  `(select d.*, d.amount as moved from ledger_transfers d where d.debit_account_id = ${account} ${more}
    union all
    select c.*, - c.amount from ledger_transfers c where c.credit_account_id = ${account} ${more})`

/** From legs `t` to what the bank moves as one: a payout by its run where the statement has the run. */
const documents = (purpose: string): string =>
  `join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
   ${ORIGINAL}
   cross join lateral (select ${DOCUMENT_OF} as id offset 0) own
   left join statement_lines run on run.purpose = ${purpose} and run.document_id = run_of_payout(own.id)`
const DOCUMENT = 'coalesce(run.document_id, own.id)'
const REFERENCE = `coalesce(utr_of_batch(own.id), split_part(o.reference, '~', 1), '')`

/** A difference between a statement and the books, or what both had before the first day. */
interface Row {
  readonly is: 'before' | 'item'
  readonly documentId: string | null
  readonly lineId: string | null
  readonly reference: string
  readonly date: string | null
  readonly owner: string
  readonly bookedPaise: bigint | null
  readonly linePaise: bigint | null
}
const COMPARED = statement<Row>(
  'proof_compared',
  `with docs as materialized (
     select ${DOCUMENT} as document_id, min(${REFERENCE}) as reference, min(j.effective_date) as day,
       coalesce(sum(t.moved) filter (where j.effective_date < $4::date), 0)::bigint as before,
       coalesce(sum(t.moved) filter (where j.effective_date >= $4::date), 0)::bigint as since
     from ledger_accounts a cross join lateral ${legsOf('a.account_id')} t
       ${documents('$1::text')}
     where a.kind = $2 and j.effective_date <= $3::date group by 1),
   lines as (
     select * from statement_lines l where l.purpose = $1::text and l.booked_on <= $3::date),
   compared as materialized (
     select d.document_id, d.reference, d.day, d.before, d.since, l.line_id, l.reference as line_reference,
       l.booked_on, l.owner, l.amount_paise
     from docs d full join lines l on l.document_id = d.document_id)
   select 'before' as "is", null as "documentId", null as "lineId", '' as reference, null as date, '' as owner,
     coalesce(sum(before), 0)::bigint as "bookedPaise", null as "linePaise"
   from compared where line_id is null
   union all
   select 'item', document_id, line_id, coalesce(line_reference, reference), coalesce(booked_on, day)::text,
     coalesce(owner, ''), case when line_id is null then since else before + since end, amount_paise
   from compared
   where case when line_id is null then since <> 0 else before + since is distinct from amount_paise end
   order by 1, 5, 2, 3`,
)

export interface Compared {
  /** What the books had before the first day of the statements, less what lines since then show. */
  readonly beforePaise: bigint
  readonly items: readonly (Row & { readonly date: string })[]
}

/** What a statement and the books of one purpose do not both have, as of a day. */
export async function compareWithBooks(
  tx: Tx,
  purpose: Purpose,
  { day, from }: { readonly day: string; readonly from: string },
): Promise<Compared> {
  const rows = await tx.query(COMPARED, [purpose, PURPOSES[purpose], day, from])
  const isItem = (row: Row): row is Row & { readonly date: string } => row.is === 'item'
  return {
    beforePaise: rows.find((row) => row.is === 'before')?.bookedPaise ?? 0n,
    items: rows.filter(isItem),
  }
}

const ACCOUNTS = statement<{ accountId: string }>(
  'proof_accounts',
  `select account_id as "accountId" from ledger_accounts where kind = $1 order by account_id`,
)
export interface BankEntryRow {
  readonly transferId: string
  readonly journalId: string
  readonly tenantId: string
  readonly kind: string
  readonly effectiveDate: string
  readonly amountPaise: bigint
  readonly reference: string
  readonly documentId: string
}
const PAGE = 10_000
const ENTRIES = statement<BankEntryRow>(
  'proof_entries',
  `select t.transfer_id as "transferId", t.journal_id as "journalId", t.tenant_id as "tenantId", j.kind,
     j.effective_date::text as "effectiveDate", t.moved as "amountPaise", ${REFERENCE} as reference, ${DOCUMENT} as "documentId"
   from ${legsOf('$1::text', 'and transfer_id > $4::text')} t
     ${documents('$2::text')}
   where j.effective_date <= $3::date order by t.transfer_id limit ${PAGE}`,
)
/** Every leg on accounts of a purpose until a day, page by page. */
export async function* bankEntriesOf(tx: Tx, purpose: Purpose, day: string): AsyncGenerator<BankEntryRow> {
  for (const { accountId } of await tx.query(ACCOUNTS, [PURPOSES[purpose]])) {
    let after = ''
    let page: BankEntryRow[]
    do {
      page = await tx.query(ENTRIES, [accountId, purpose, day, after])
      yield* page
      after = page.at(-1)?.transferId ?? ''
    } while (page.length === PAGE)
  }
}

export interface ProvenLine {
  readonly lineId: string
  readonly date: string
  readonly amountPaise: bigint
  readonly reference: string
  readonly status: string
  readonly documentId: string
}
const LINES = statement<ProvenLine>(
  'proof_lines',
  `select l.line_id as "lineId", l.booked_on::text as date, l.amount_paise as "amountPaise", l.reference, l.status,
     coalesce(l.document_id, '') as "documentId"
   from statement_lines l
   where l.tenant_id = 'house' and l.purpose = $1 and l.booked_on <= $2::date and l.line_id > $3 order by l.line_id limit ${PAGE}`,
)

/** Every line of a purpose until a day, page by page. */
export async function* linesOf(tx: Tx, purpose: Purpose, day: string): AsyncGenerator<ProvenLine> {
  let after = ''
  let page: ProvenLine[]
  do {
    page = await tx.query(LINES, [purpose, day, after])
    yield* page
    after = page.at(-1)?.lineId ?? ''
  } while (page.length === PAGE)
}
