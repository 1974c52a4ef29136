import { type Check, check, subjects } from '../ledger/reconcile.ts'

const NOTICES = subjects('notices', 'rail_notices')

/** What must be true between the notices of banks and the ledger. */
export const NOTICE_CHECKS: readonly Check[] = [
  check(
    'notices',
    NOTICES,
    'Every stored notice is in quarantine, dismissed or ignored by the settings, or has the credit in the ledger or the card account that it repeats or became',
    (chosen) => `select n.notice_id as subject, n.status || ' without its payment' as detail
       from rail_notices n left join ledger_transfers t on t.object_id = n.payment_id and t.kind = 'upi_credit'
       where ${chosen('n.notice_id')} and n.status in ('ASSIGNED', 'DUPLICATE') and t.transfer_id is null
         and n.card_account_id is null limit 100`,
  ),
]
