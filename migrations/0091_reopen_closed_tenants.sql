-- run: in batches
-- Tenants that were closed before money came to them, which 0090 now reopens as it comes.
update tenants set closed_at = null where tenant_id in (
  select t.tenant_id from tenants t
  where t.closed_at is not null and exists (
    select from ledger_accounts l where l.tenant_id = t.tenant_id and l.balance <> 0 and l.kind in (
      'payable', 'payouts_in_transit', 'upi_refunds', 'suspense', 'disputes', 'merchant_advances',
      'payout_exceptions', 'refund_exceptions', 'card_funding', 'card', 'unclaimed', 'card_exceptions'))
  limit 1000);
