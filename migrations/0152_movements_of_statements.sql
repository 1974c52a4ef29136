-- What lines of bank statements may be, for operators, who see every tenant: a batch, a payout, a run of payouts, a refund
-- that the bank made as a transfer of its own. `names` are references in canonical form; `ids` our own ids, where names
-- look like ones.
create function statement_movements(names text[], ids text[])
  returns table (name text, purpose text, document_id text, amount bigint, settles text, tenant_id text)
  language sql stable
  as $$
    with n as (select * from unnest(names, ids) as w (name, id)),
      batches as (
        select n.name, b.* from n join settlement_batches b on b.tenant_id = 'house' and b.batch_utr = n.name
        union
        select n.name, b.* from n join settlement_batches b on b.tenant_id = 'house' and b.batch_id = n.id),
      paid as (
        select y.*
        from (
          select n.name, n.id, p.* from n join payouts p on p.payout_id = n.id
          union
          select n.name, n.id, p.* from n join payouts p on p.run_id = n.id) y
        where y.status = 'PAID' or y.returned_at is not null or y.paid_late_at is not null),
      refunds as (
        select n.name, r.* from n join merchant_refunds r on r.utr = n.name
        union
        select n.name, r.* from n join merchant_refunds r on r.refund_id = n.id)
    -- What it has moved: as the bank states it, else as its lines add up.
    select b.name, case b.rail when 'upi' then 'merchant_escrow' else 'ppi_escrow' end, b.batch_id,
        b.lines_paise + b.remainder_paise, null::text, b.tenant_id
      from batches b
    union all
    select p.name, 'merchant_escrow', p.payout_id, - p.amount_paise, null, p.merchant_id
      from paid p where p.payout_id = p.id
    union all
    select p.name, 'merchant_escrow', p.run_id, - sum(p.amount_paise)::bigint, null, min(p.merchant_id)
      from paid p where p.run_id = p.id group by p.name, p.run_id
    union all
    -- One that a batch has netted is no transfer of its own.
    select r.name, 'merchant_escrow', r.refund_id, - r.amount_paise, 'refund', r.merchant_id
      from refunds r
      where r.status = 'REFUNDED' and not exists (
        select from settlement_batch_lines l
        where l.kind = 'refund' and l.of_tenant = r.merchant_id and l.document_id = r.refund_id)
  $$;

-- The run that sent a payout, the payouts of a run, and the bank's reference of a batch; null for other ids.
create function run_of_payout(id text) returns text
  language sql stable as $$ select (select y.run_id from payouts y where y.payout_id = id limit 1) $$;
create function payouts_of_run(id text) returns setof text
  language sql stable as $$ select y.payout_id from payouts y where y.run_id = id $$;
create function utr_of_batch(id text) returns text
  language sql stable as $$
    select (select b.batch_utr from settlement_batches b where b.tenant_id = 'house' and b.batch_id = id) $$;

-- What statements say of batches. Of an incomplete batch the missing lines come first.
create function confirm_batches() returns void
  language sql
  as $$
    update settlement_batches b set status = case l.status when 'MATCHED' then 'CONFIRMED' else 'DIFFERS' end
    from statement_lines l
    where b.tenant_id = 'house' and l.document_id = b.batch_id and l.status in ('MATCHED', 'DIFFERS')
      and b.status in ('POSTED', 'CONFIRMED', 'DIFFERS')
      and b.status <> case l.status when 'MATCHED' then 'CONFIRMED' else 'DIFFERS' end
  $$;
create function unconfirm_batch(id text) returns void
  language sql
  as $$
    update settlement_batches b set status = 'POSTED'
    where b.tenant_id = 'house' and b.batch_id = id and b.status in ('CONFIRMED', 'DIFFERS')
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function statement_movements, run_of_payout, payouts_of_run, utr_of_batch, confirm_batches, unconfirm_batch
  to svc_operator;
