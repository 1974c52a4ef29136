import { statement } from '@svc/platform/db/statement'
import { type Check, check, subjects } from '../../ledger/reconcile.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'

const LINES = subjects('settlement lines', 'settlement_lines')
const BATCHES = subjects('transfers of banks', 'settlement_batches')

/** Legs that a bank account gains, less those that it loses. */
const ON_BANK = `case when split_part(t.debit_account_id, ':', 1) in ('bank', 'ppi_bank') then t.amount else - t.amount end`

/** What the books of some tenants have of a transfer `b`; `among` is a condition on a column with their ids. */
export const bookedOfBatch = (among: (column: string) => string): string =>
  `coalesce((select sum(t.amount) from legs_of_batch(b.batch_id) t where ${among('t.tenant_id')}), 0)
     -- Of lines that a file without transfers had before: their money is in its journals.
     + coalesce((select sum(l.amount_paise) from settlement_lines l
       where l.batch_id = b.batch_id and coalesce(l.journal_id, l.unmatched_journal_id) is not null and ${among('l.tenant_id')}
         and not exists (select from ledger_transfers t where t.tenant_id in (l.tenant_id, '${PLATFORM_TENANT}')
           and t.journal_id = coalesce(l.journal_id, l.unmatched_journal_id) and t.object_id = b.batch_id)), 0)`

/** What must be true between the bank's transfers, their lines and the ledger. */
export const SETTLEMENT_CHECKS: readonly Check[] = [
  check(
    'settlement_lines',
    LINES,
    'Every matched settlement line has its payment, of its amount',
    (
      chosen,
    ) => `select l.utr as subject, 'matched with ' || coalesce((p.amount_paise + p.adjusted_paise)::text, 'no payment') as detail
       from settlement_lines l left join payments p on p.merchant_id = l.tenant_id and p.payment_id = l.payment_id
       where ${chosen('l.utr')} and l.status = 'MATCHED' and p.amount_paise + p.adjusted_paise is distinct from l.amount_paise limit 100`,
  ),
  {
    check: 'A settlement journal moves what its lines add up to, less what was taken back of it since',
    of: LINES,
    differences: statement(
      'reconcile_settlement_journals',
      `select j.journal_id as subject, 'moved ' || sum(${ON_BANK}) || ', moved back ' || back.amount || ', matched '
           || coalesce(own.amount, 0) as detail
       from journals j join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
         cross join lateral (
           -- Each is the other way round than what it takes back.
           select coalesce(sum(case when split_part(b.debit_account_id, ':', 1) in ('bank', 'ppi_bank') then - b.amount
             else b.amount end), 0)::bigint as amount from ledger_transfers b
           where b.tenant_id = j.tenant_id and b.object_id = j.journal_id
             and b.kind in ('bank_settlement_reversed', 'taken_back_shared')) back
         left join lateral (
           select sum(l.amount_paise) as amount from (
             select l.amount_paise from settlement_lines l where l.tenant_id = j.tenant_id and l.journal_id = j.journal_id
             union all
             select b.amount_paise from settlement_batch_lines b
             where b.of_tenant = j.tenant_id and b.matched_journal_id = j.journal_id and b.status = 'MATCHED') l) own on true
       where (j.kind = 'bank_settlement' and t.object_id not like 'rfd\\_%' or j.kind = 'network_settlement' and j.tenant_id <> '${PLATFORM_TENANT}')
         -- The lines of a transfer stay in the cell in which its tenants lived then.
         and (t.object_id not like 'stb\\_%' or (select cell is null from installation)
           or exists (select from settlement_batches b where b.batch_id = t.object_id))
       group by j.tenant_id, j.journal_id, back.amount, own.amount
       having sum(${ON_BANK}) - back.amount <> coalesce(own.amount, 0) limit 100`,
    ),
  },
  check(
    'settlement_lines_found',
    LINES,
    'A line that fitted nothing at first has the amount of its merchant’s line, which was recorded from it',
    (
      chosen,
    ) => `select l.utr as subject, 'at first ' || l.amount_paise || ', of the merchant ' || m.amount_paise as detail
       from settlement_lines l join payments p on p.utr = l.utr and p.assigned_from is null
         join settlement_lines m on m.tenant_id = p.merchant_id and m.utr = l.utr
       where ${chosen('l.utr')} and l.status = 'UNKNOWN' and m.status <> 'UNKNOWN'
         and (m.file_id, m.line) = (l.file_id, l.line) and m.amount_paise <> l.amount_paise limit 100`,
  ),
  {
    check: 'The bank has moved by the net amount of each transfer, matched or not',
    of: BATCHES,
    differences: statement(
      'reconcile_settlement_batches',
      `select b.batch_id as subject, 'moved ' || booked.amount || ', in other cells ' || b.moved_paise || ', lines '
           || b.lines_paise || ', beyond them ' || b.remainder_paise as detail
       from settlement_batches b cross join lateral (select ${bookedOfBatch(() => 'true')} as amount) booked
       where b.is_awaited and booked.amount + b.moved_paise <> b.lines_paise + b.remainder_paise
       limit 100`,
    ),
  },
  {
    check: 'A transfer’s net amount is that of its lines and of what is beyond them',
    of: BATCHES,
    differences: statement(
      'reconcile_settlement_amounts',
      `select b.batch_id as subject, 'net ' || coalesce(b.net_paise::text, 'not stated') || ', lines ' || b.lines_paise
         || ', beyond them ' || b.remainder_paise || ', its lines are ' || lines.amount as detail
       from settlement_batches b cross join lateral (
         select (select coalesce(sum(l.amount_paise), 0) from settlement_lines l
           -- A line that fitted nothing at first stays beside that of its merchant.
           where l.batch_id = b.batch_id and not (l.status = 'UNKNOWN' and exists (
             select from settlement_lines m where m.utr = l.utr and m.batch_id = l.batch_id and m.status <> 'UNKNOWN')))
           + (select coalesce(sum(l.amount_paise), 0) from settlement_batch_lines l
             where l.tenant_id = b.tenant_id and l.batch_id = b.batch_id) as amount) lines
       where b.is_awaited and b.status <> 'REVERSED' and (
         b.net_paise <> b.lines_paise + b.remainder_paise
         -- Lines of tenants that live in another cell now are there.
         or lines.amount <> b.lines_paise
           and b.created_at > coalesce((select max(since) from tenant_moves where state = 'moved'), '-infinity')) limit 100`,
    ),
  },
  {
    check: 'A transfer that was taken back has no lines, and nothing of it is in any books',
    of: BATCHES,
    differences: statement(
      'reconcile_settlements_taken_back',
      `select b.batch_id as subject, counted.lines || ' lines, in books ' || coalesce(booked.what, 'nothing') as detail
       from settlement_batches b
         cross join lateral (select (select count(*) from settlement_lines l where l.batch_id = b.batch_id)
           + (select count(*) from settlement_batch_lines l where l.tenant_id = b.tenant_id and l.batch_id = b.batch_id) as lines) counted
         cross join lateral (
           select string_agg(t.other_kind || ' of ' || t.tenant_id || ' ' || t.amount, ', ') as what
           from (select l.tenant_id, l.other_kind, sum(l.amount) as amount from legs_of_batch(b.batch_id) l
             group by l.tenant_id, l.other_kind having sum(l.amount) <> 0) t) booked
       where b.status = 'REVERSED' and (counted.lines > 0 or booked.what is not null) limit 100`,
    ),
  },
]
