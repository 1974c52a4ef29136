import { type Check, check, subjects } from '../../ledger/reconcile.ts'

const CERTIFICATES = subjects('certificates of tax', 'tds_certificates')

/** What must be true of tax that merchants deducted (decision R29). */
export const TDS_CHECKS: readonly Check[] = [
  check(
    'tds_certificates',
    CERTIFICATES,
    'A certificate of deducted tax has its one journal, of its amount, number and day',
    (
      chosen,
    ) => `select c.certificate_id as subject, c.number || ': ' || c.amount_paise || ', journals ' || l.amount as detail
       from tds_certificates c cross join lateral (
         select coalesce(sum(t.amount), 0) as amount
         from ledger_transfers t join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
           and j.kind = 'tds_certified' and j.reference = c.number and j.effective_date = c.dated_on
         where t.tenant_id = c.merchant_id and t.object_id = c.certificate_id) l
       where ${chosen('c.certificate_id')} and l.amount <> c.amount_paise limit 100`,
  ),
]
