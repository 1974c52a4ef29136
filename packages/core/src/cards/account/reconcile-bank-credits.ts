import { ACCOUNTS, allEventsKept, type Check, check, subjects } from '../../ledger/reconcile.ts'

const CREDITS = subjects('bank transfers', 'bank_credits')

/** What must be true between transfers that the bank reported, and the ledger. */
export const BANK_CREDIT_CHECKS: readonly Check[] = [
  check(
    'bank_credits',
    CREDITS,
    'Every bank transfer is one funding of its card account, of its amount and under its reference',
    (
      chosen,
    ) => `select b.credit_id as subject, coalesce('funded ' || t.amount || ' to ' || t.credit_account_id || ' under '
         || j.reference, 'no funding') || ', reported ' || b.amount_paise || ' under ' || b.utr as detail
       from bank_credits b left join journals j on j.tenant_id = b.partner_id and j.journal_id = b.journal_id
         and j.kind = 'card_funding'
       left join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
       where ${chosen('b.credit_id')} and (t.amount is distinct from b.amount_paise
         or t.credit_account_id is distinct from 'card_funding:' || b.card_account_id
         or split_part(j.reference, '~', 1) is distinct from b.utr) limit 100`,
  ),
  check(
    'bank_credit_events',
    CREDITS,
    'An event was published for each bank transfer that was credited',
    (
      chosen,
    ) => `select b.credit_id as subject, 'no event of ' || b.utr || ' to ' || b.card_account_id as detail
       from bank_credits b
       where ${chosen('b.credit_id')} and not b.entered_before and ${allEventsKept('b.partner_id', 'b.created_at')}
         and not exists (
           select from outbox o where o.tenant_id = b.partner_id and o.object_id = b.card_account_id
             and o.type = 'card_account.funded' and o.payload ->> 'reference' = b.utr) limit 100`,
  ),
  check(
    'card_withdrawals',
    ACCOUNTS,
    'Every withdrawal takes money from a card account to the clearing account of its partner, and has one event',
    (chosen) => `select t.transfer_id as subject, t.debit_account_id || ' to ' || t.credit_account_id || ', '
         || (select count(*) from outbox o where o.tenant_id = t.tenant_id and o.object_id = t.object_id
           and o.type = 'card_account.withdrawn' and o.payload ->> 'transactionId' = t.transfer_id) || ' events' as detail
       from journals j join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
       where j.kind = 'card_withdrawal' and ${chosen('t.debit_account_id')}
         and (t.debit_account_id <> 'card_funding:' || t.object_id
           or t.credit_account_id <> 'funding_clearing:' || t.tenant_id
           or ${allEventsKept('t.tenant_id', 't.created_at')} and not exists (
             select from outbox o where o.tenant_id = t.tenant_id and o.object_id = t.object_id
               and o.type = 'card_account.withdrawn' and o.payload ->> 'transactionId' = t.transfer_id)) limit 100`,
  ),
]
