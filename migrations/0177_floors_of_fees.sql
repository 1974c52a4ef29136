-- run: in batches
-- Accounts of fees and GST from before 0175, which may be below zero since.
update ledger_accounts set floor = null where (tenant_id, account_id) in (
  select a.tenant_id, a.account_id from ledger_accounts a
  where a.kind in ('fee_income', 'output_cgst', 'output_sgst', 'output_igst') and a.floor is not null
  limit 1000);
