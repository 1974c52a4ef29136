-- run: statement by statement
-- What is held on a card is looked up with every card that is read, however many of its authorisations are closed.
drop index concurrently if exists card_authorizations_open;
create index concurrently card_authorizations_open on card_authorizations (partner_id, svc_card_id) include (held_paise)
  where status = 'OPEN';
