-- Whether a capture was the last of its authorisation: a stand-in that arrives after it holds nothing (decision R1).
alter table card_messages add column is_final boolean not null default false;
