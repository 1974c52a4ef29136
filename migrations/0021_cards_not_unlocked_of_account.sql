-- The cards of one partner, company or account that are not unlocked, account by account: few among very many.
create index cards_not_unlocked_of_account on cards (partner_id, company_id, card_account_id, status, svc_card_id)
  where status <> 'UL';
