-- run: statement by statement
alter table card_messages validate constraint card_messages_amount_paise_check;
