-- run: statement by statement
alter table card_messages validate constraint replacement_not_negative;
