-- run: statement by statement
-- What happened before the triggers were there, once: a balance is the sum of all that moved up to it.
insert into card_transactions (partner_id, transaction_id, svc_card_id, card_account_id, company_id, kind, amount_paise,
    message_id, authorization_id, response_code, channel, merchant_name, created_at)
  select m.partner_id, card_transaction_id(m.message_id, false), m.svc_card_id, c.card_account_id, c.company_id,
    'authorization', coalesce(m.amount_paise, 0), m.message_id, m.authorization_id, m.response_code, m.channel,
    m.merchant_name, m.created_at
  from card_messages m join cards c on c.partner_id = m.partner_id and c.svc_card_id = m.svc_card_id
  where m.type = 'authorization' or m.type = 'advice' and m.event_type = 'card.authorized'
  on conflict do nothing;
insert into card_transactions (partner_id, transaction_id, svc_card_id, card_account_id, company_id, kind, amount_paise,
    moved_paise, balance_paise, transfer_id, message_id, authorization_id, channel, merchant_name, created_at)
  select c.partner_id, card_transaction_id(t.transfer_id, t.sign < 0 and t.credit_account_id like 'card:%'), c.svc_card_id,
    c.card_account_id, c.company_id, card_transaction_kind(t.kind), t.amount, nullif(t.sign, 0) * t.amount, t.balance,
    t.transfer_id, m.message_id, m.authorization_id, m.channel, m.merchant_name, t.created_at
  from (
    select a.*, s.account_id, s.sign,
      case when s.sign <> 0 then sum(s.sign * a.amount) over (
        partition by s.account_id order by a.created_at, a.transfer_id) end as balance
    from ledger_transfers a cross join lateral cards_of_leg(a.debit_account_id, a.credit_account_id, a.kind, a.object_id) s) t
  join cards c on c.partner_id = t.tenant_id and c.svc_card_id = substr(t.account_id, 6)
  left join card_messages m on m.partner_id = t.tenant_id and m.message_id = 'cmg_' || substr(t.journal_id, 5)
  on conflict do nothing;
