import { type Check, check, subjects } from '../../ledger/reconcile.ts'

const CERTIFICATES = subjects('certificates of tax', 'tds_certificates')

/** What must be true of tax that merchants deducted (decision R29). */
export const TDS_CHECKS: readonly Check[] = [
  check(
    'tds_certificates',
    CERTIFICATES,
    'A certificate of deducted tax has its one journal, of its amount, number and day, and the one that took it back',
    (
      chosen,
    ) => `select c.certificate_id as subject, c.number || ': ' || c.amount_paise || ', journals ' || l.amount || ', taken back ' || l.back as detail
       from tds_certificates c cross join lateral (
         select coalesce(sum(t.amount) filter (where j.kind = 'tds_certified' and split_part(j.reference, '~', 1) = c.number
             and j.effective_date = c.dated_on), 0) as amount,
           coalesce(sum(t.amount) filter (where j.kind = 'journal_reversal' and j.journal_id = c.reversed_by), 0) as back
         from ledger_transfers t join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
         where t.tenant_id = c.merchant_id and t.object_id = c.certificate_id) l
       where ${chosen('c.certificate_id')}
         and (l.amount <> c.amount_paise or l.back <> case when c.reversed_by is null then 0 else c.amount_paise end) limit 100`,
  ),
]
