-- run: statement by statement
alter table card_accounts validate constraint gift_cards_keep_their_money;
