import { canonicalReference } from '@svc/kernel/bank-reference'
import { groupBy } from '@svc/kernel/group-by'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import type { Purpose } from './bank-account.ts'
import type { StatementLine } from './statement-line.ts'

/** A movement in the books, or one that a line makes, which a statement shows as one line. */
export interface Movement {
  readonly purpose: Purpose
  /** A batch, payout, payout run, refund, movement of our funds or journal. */
  readonly documentId: string
  /** Above zero it is money to us. */
  readonly amountPaise: bigint
  /** What the line posts because only the statement shows that the money came or went; in the books of whom. */
  readonly settles: 'funding' | 'refund' | null
  readonly tenantId: string
}

/** Of what a reference or an id names a movement; the ids are ours, in the form of `canonicalReference`. */
interface Found extends Movement {
  readonly name: string
}

const JOURNALS_OF_BANKS = `('payout_paid', 'payout_returned', 'payout_paid_late', 'card_funding', 'card_withdrawal',
  'advance_repaid', 'exception_settled')`

/** The purpose of the account that a leg debits or credits, of the kinds that banks have. */
const PURPOSE_OF = (kind: string): string =>
  `case ${kind} when 'bank' then 'merchant_escrow' when 'ppi_bank' then 'ppi_escrow' when 'own_funds' then 'own_funds' end`

const kindOfAccount = (side: 'debit' | 'credit'): string => `split_part(t.${side}_account_id, ':', 1)`

/** Both sides of a leg `t`, each with what it adds to its account as the bank has it. */
export const SIDES = `cross join lateral (values
     (${PURPOSE_OF(kindOfAccount('debit'))}, t.amount), (${PURPOSE_OF(kindOfAccount('credit'))}, - t.amount)) as s (purpose, amount)`

/**
 * The movement that a leg `t` of a journal `j` belongs to, which takes back or is `o`: what the bank moves as one. A batch
 * is the object of its legs; a payout is one movement whatever its run.
 */
export const DOCUMENT_OF = `case
   when o.kind in ('payout_paid', 'payout_paid_late', 'bank_settlement', 'settlement_unmatched', 'settlement_matched',
     'settlement_charged', 'network_settlement', 'network_matched', 'settlement_taken_back', 'funding_settled', 'own_funds_swept', 'sweep_shared',
     'gst_paid', 'gst_shared', 'owner_paid', 'escrow_paid', 'tds_refunded', 'tds_shared', 'own_funds_taken_back') then t.object_id
   when o.kind in ('bank_settlement_reversed', 'taken_back_shared') then coalesce((
     select b.object_id from ledger_transfers b where b.tenant_id = t.tenant_id and b.journal_id = t.object_id limit 1), t.object_id)
   when o.kind = 'statement_resolved' then t.object_id
   else o.journal_id end`

/** The journal whose movement a journal `j` is: a reversal is a part of what it takes back. */
export const ORIGINAL = `join journals o on o.tenant_id = j.tenant_id
     and o.journal_id = case when j.kind = 'journal_reversal' then j.reverses else j.journal_id end`

const isStanding = `not exists (
  select from journals r where r.tenant_id = j.tenant_id and r.reverses = j.journal_id and r.kind = 'journal_reversal')`

// A journal that the bank moved as a whole, by its reference; entered again after a reversal it has a number behind it.
const BY_JOURNAL = `
  select n.name, s.purpose, ${DOCUMENT_OF} as document_id, sum(s.amount)::bigint as amount, null as settles, min(t.tenant_id) as tenant_id
  from names n cross join lateral (values (''), ('~2'), ('~3')) as again (suffix)
    join journals j on j.reference = n.name || again.suffix and j.kind in ${JOURNALS_OF_BANKS}
      and j.kind not in ('card_funding', 'card_withdrawal') and ${isStanding}
    join journals o on o.tenant_id = j.tenant_id and o.journal_id = j.journal_id
    join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
    ${SIDES}
  where s.purpose is not null group by n.name, s.purpose, 3`
const BY_FUNDING = `
  select n.name, 'ppi_escrow', j.journal_id, case j.kind when 'card_funding' then t.amount else - t.amount end, 'funding', j.tenant_id
  from names n cross join lateral (values (''), ('~2'), ('~3')) as again (suffix)
    join journals j on j.reference = n.name || again.suffix and j.kind in ${JOURNALS_OF_BANKS}
      and j.kind in ('card_funding', 'card_withdrawal') and ${isStanding}
    join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id`
/** Whether no line has it, but for the lines of this parameter, which are being matched again. */
const free = (again: string): string =>
  [
    'l.document_id = f.document_id',
    'l.document_id = run_of_payout(f.document_id)',
    'l.document_id in (select payouts_of_run(f.document_id))',
  ]
    .map(
      (isIts) =>
        `not exists (select from statement_lines l where l.purpose = f.purpose and ${isIts} and l.line_id <> all (${again}))`,
    )
    .join('\n   and ')

const COLUMNS = '(name, purpose, document_id, amount, settles, tenant_id)'
const FOUND = statement<Found>(
  'movements_by_name',
  `with names as (select * from unnest($1::text[], $2::text[]) as w (name, id))
   select f.name, f.purpose, f.document_id as "documentId", f.amount as "amountPaise", f.settles, f.tenant_id as "tenantId"
   from (${BY_JOURNAL} union ${BY_FUNDING} union select * from statement_movements($1::text[], $2::text[])) as f ${COLUMNS}
   where ${free('$3::text[]')}`,
)

const legs = (where: string): string =>
  `select s.purpose, ${DOCUMENT_OF} as document_id, s.amount, t.tenant_id
   from journals j ${ORIGINAL}
     join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id ${SIDES}
   where s.purpose is not null and ${where}`
// By its id, whatever names it: what people found out. What a line posted has no id of its own.
const BY_ID = statement<Omit<Found, 'name'> & { isFree: boolean }>(
  'movements_by_id',
  `with legs as (
     ${legs('j.journal_id = $1')}
     union all
     ${legs(`j.tenant_id = 'house' and j.kind = 'statement_resolved' and split_part(j.reference, '~', 1) = $1`)}),
   funding as (
     select 'ppi_escrow', j.journal_id, case j.kind when 'card_funding' then t.amount else - t.amount end, 'funding', j.tenant_id
     from journals j join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
     where j.journal_id = $1 and j.kind in ('card_funding', 'card_withdrawal') and ${isStanding})
   select f.purpose, f.document_id as "documentId", f.amount as "amountPaise", f.settles, f.tenant_id as "tenantId",
     ${free("'{}'::text[]")} as "isFree"
   from (
     select $1::text, l.purpose, l.document_id, sum(l.amount)::bigint, null, min(l.tenant_id) from legs l
       where (l.document_id = $1 or $1 like 'jrn\\_%') and batch_is_reversed(l.document_id) is not true
         and own_movement_is_reversed(l.document_id) is not true
       group by l.purpose, l.document_id
     union all
     select $1, * from funding
     union all
     select * from statement_movements(array[$1::text], array[$1::text])) as f ${COLUMNS}`,
)

/** Our ids as they are in texts of banks: in capitals, and without the mark behind their prefix. */
const OWN_ID = /^(PYO|PYR|RFD|OFM)([0-9A-Z]{26})$/
const NAME_CHARS_MIN = 6

/** What a line may name a movement by: its reference, and words of its narration that have a digit. */
export function namesOf({ reference, narration }: Pick<StatementLine, 'reference' | 'narration'>): string[] {
  const words = `${reference} ${narration}`.split(/[^A-Za-z0-9_]+/).map(canonicalReference)
  const names = [canonicalReference(reference), ...words]
  return [...new Set(names)].filter((name) => name.length >= NAME_CHARS_MIN && /\d/.test(name))
}

const idOf = (name: string): string | null => {
  const [, prefix, rest] = OWN_ID.exec(name) ?? []
  return prefix === undefined ? null : `${prefix.toLowerCase()}_${rest!.toLowerCase()}`
}

/** Movements without a line, by the names of lines; as if the lines `again` had none. */
export async function findMovements(
  tx: Pick<Tx, 'query'>,
  names: readonly string[],
  again: readonly string[],
): Promise<ReadonlyMap<string, readonly Movement[]>> {
  const wanted = [...new Set(names)]
  const found = await tx.query(FOUND, [...columns(wanted, (name) => name, idOf), again])
  return groupBy(found, ({ name }) => name)
}

/** The movement of this id on accounts of a purpose, and whether it has no line yet. */
export async function findMovement(
  tx: Pick<Tx, 'query'>,
  documentId: string,
  purpose: Purpose,
): Promise<(Movement & { readonly isFree: boolean }) | undefined> {
  const found = await tx.query(BY_ID, [documentId])
  return found.find((movement) => movement.purpose === purpose)
}
