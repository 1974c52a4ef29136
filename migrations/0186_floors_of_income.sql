-- run: in batches
-- Accounts of other income from before 0185, which may be below zero since.
update ledger_accounts set floor = null where (tenant_id, account_id) in (
  select a.tenant_id, a.account_id from ledger_accounts a
  where a.kind in ('interchange_income', 'other_income') and a.floor is not null
  limit 1000);
