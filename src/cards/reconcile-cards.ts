import type { Check } from '../ledger/reconcile.ts'
import { statement } from '../platform/db/statement.ts'

/** What must be true between cards and the ledger; the checks that `svc reconcile` adds for this area. */
export const CARD_CHECKS: readonly Check[] = [
  {
    check: 'Every card was loaded once, with its load, from its card account',
    differences: statement(
      'reconcile_card_loads',
      `select c.svc_card_id as subject, count(t.transfer_id) || ' loads, ' ||
         count(t.transfer_id) filter (where t.transfer_id = c.load_transfer_id and t.amount = c.load_paise
           and t.tenant_id = c.partner_id and t.credit_account_id = 'card:' || c.svc_card_id
           and t.debit_account_id = 'card_funding:' || c.card_account_id) || ' of them fitting' as detail
       from cards c left join ledger_transfers t on t.object_id = c.svc_card_id and t.kind = 'card_load'
       group by c.svc_card_id
       having count(t.transfer_id) <> 1
         or count(t.transfer_id) filter (where t.transfer_id = c.load_transfer_id and t.amount = c.load_paise
           and t.tenant_id = c.partner_id and t.credit_account_id = 'card:' || c.svc_card_id
           and t.debit_account_id = 'card_funding:' || c.card_account_id) <> 1 limit 100`,
    ),
  },
  {
    check:
      'Every card has its load less what it spent and more what it was refunded, and never less than nothing',
    differences: statement(
      'reconcile_card_balances',
      `select c.svc_card_id as subject, 'balance ' || coalesce(l.balance::text, 'missing') || ', load ' || c.load_paise
         || ', spent ' || u.spent || ', refunded ' || u.refunded as detail
       from cards c left join ledger_accounts l on l.account_id = 'card:' || c.svc_card_id and l.tenant_id = c.partner_id
       cross join lateral (
         select coalesce(sum(t.amount) filter (where t.kind = 'card_spend'
             and t.debit_account_id = 'card:' || c.svc_card_id), 0) as spent,
           coalesce(sum(t.amount) filter (where t.kind = 'card_refund'
             and t.credit_account_id = 'card:' || c.svc_card_id), 0) as refunded
         from ledger_transfers t where t.object_id = c.svc_card_id) u
       where l.balance is distinct from c.load_paise - u.spent + u.refunded or l.balance < 0 or u.refunded > u.spent
       limit 100`,
    ),
  },
  {
    check: 'Every card account of the ledger is a card’s',
    differences: statement(
      'reconcile_card_accounts',
      `select l.account_id as subject, 'balance ' || l.balance || ', and no card' as detail
       from ledger_accounts l left join cards c on l.account_id = 'card:' || c.svc_card_id and l.tenant_id = c.partner_id
       where l.kind = 'card' and c.svc_card_id is null limit 100`,
    ),
  },
  {
    check: 'Company, card account and user of a card belong together and to its partner',
    differences: statement(
      'reconcile_card_owners',
      `select c.svc_card_id as subject, 'partner ' || c.partner_id || ', company ' || c.company_id || ', account '
         || c.card_account_id || ', user ' || c.user_id as detail
       from cards c join companies co using (company_id) join card_accounts a using (card_account_id)
         join users u using (user_id)
       where co.partner_id <> c.partner_id or a.partner_id <> c.partner_id or u.partner_id <> c.partner_id
         or a.company_id <> c.company_id or u.company_id <> c.company_id limit 100`,
    ),
  },
  {
    check: 'The history of a card leads to the state that it has',
    differences: statement(
      'reconcile_card_history',
      `select c.svc_card_id as subject, h.field || ' is ' || s.value || ', its history ends with ' || h.to_value as detail
       from (select distinct on (svc_card_id, field) svc_card_id, field, to_value from card_changes
             order by svc_card_id, field, created_at desc, change_id desc) h
       join cards c using (svc_card_id)
       cross join lateral (select case h.field when 'cardStatus' then c.status when 'kycStatus' then c.kyc_status
         when 'cardActivated' then c.activated::text
         when 'posAllowed' then c.pos_allowed::text when 'posAllowedAdmin' then c.pos_allowed_admin::text
         when 'atmAllowed' then c.atm_allowed::text when 'atmAllowedAdmin' then c.atm_allowed_admin::text
         when 'onlineAllowed' then c.online_allowed::text
         when 'onlineAllowedAdmin' then c.online_allowed_admin::text end as value) s
       where s.value is distinct from h.to_value limit 100`,
    ),
  },
]
