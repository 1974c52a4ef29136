-- The statements of packages/core/src/qr-codes/cancel-qr-code.ts for one cancel, in the order of packages/platform/src/db/batch.ts.
\set code random(2000, 61999)
\set merchant :code % 256
\set id random(1, 900000000000000000)
begin;
set local lock_timeout = 60000;
select set_config('svc.tenants', 'mer_bench' || :merchant::int, true);
insert into batches values ('bat_' || :id::bigint);
select q.merchant_id as lock_tenant, q.qr_code_id as lock_id, q.qr_code_id, q.merchant_id, q.tr, q.upi_uri, q.qr_name, q.multiple_use, q.fixed_amount, q.amount_paise, q.description, q.expiry_at, q.custom_params, q.status, q.customer_name, q.customer_email, q.customer_mobile, q.customer_id, q.reference_number, q.holds_reference, q.request_hash, q.accepted_count, q.accepted_paise, q.created_at, q.modified_at from qr_codes q where (q.merchant_id, q.qr_code_id) in (select * from unnest(array['mer_bench' || :merchant::int], array['qr_' || lpad(:code::int::text, 26, '0')])) order by q.qr_code_id for no key update of q;
select clock_timestamp() as now;
update qr_codes q set status = 'CANCELLED', holds_reference = false, accepted_count = q.accepted_count, accepted_paise = q.accepted_paise, modified_at = clock_timestamp() from unnest(array['qr_' || lpad(:code::int::text, 26, '0')], array['mer_bench' || :merchant::int]) as new (qr_code_id, merchant_id) where q.qr_code_id = new.qr_code_id and q.merchant_id = new.merchant_id;
with events as (insert into outbox (event_id, tenant_id, type, object_id, payload, created_at, traceparent) select * from unnest(array['{{event}}' || :id::bigint], array['mer_bench' || :merchant::int], array['qr_code.cancelled'], array['qr_' || lpad(:code::int::text, 26, '0')], array['{"qrCodeId": "qr_01234567890123456789012345","multipleUse": false,"fixedAmount": false,"status": "CANCELLED","createdOn": "2026-01-01T00:00:00.000+05:30","modifiedOn": "2026-01-01T00:00:00.000+05:30"}']::jsonb[], array[clock_timestamp()], array[null::text]) returning *) insert into unnumbered_events (created_at, tenant_id, event_id, type, object_id, amount) select created_at, tenant_id, event_id, type, object_id, payload -> 'amount' from events;
commit;
