-- run: statement by statement
alter table coin_configs validate constraint activation_known;
alter table coin_configs validate constraint activation_by_one_rule;
alter table coin_configs validate constraint activate_after_days_positive;
alter table coin_wallets validate constraint pending_and_voided_not_negative;
alter table coin_lots validate constraint lot_adds_up;
alter table coin_lots validate constraint pending_or_active;
alter table coin_lots validate constraint pending_and_voided_not_negative;
alter table coin_lots validate constraint activation_of_pending;
alter table coin_lots validate constraint confirmed_or_scheduled;
alter table coin_entries validate constraint coin_entries_kind_check;
alter table coin_entries validate constraint coin_entries_amount_check;
drop index concurrently if exists coin_lots_pending;
create index concurrently coin_lots_pending on coin_lots (user_id, activates_at) where pending > 0;
drop index concurrently if exists coin_lots_pending_due;
create index concurrently coin_lots_pending_due on coin_lots (activates_at) where pending > 0;
