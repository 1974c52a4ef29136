-- The statements of packages/core/src/qr-codes/create-qr-code.ts for one code, in the order of packages/platform/src/db/batch.ts.
\set merchant random(0, 255)
\set id random(1000000, 900000000000000000)
begin;
set local lock_timeout = 60000;
select set_config('svc.tenants', 'mer_bench' || :merchant::int, true);
insert into batches values ('bat_' || :id::bigint);
select clock_timestamp() as now;
insert into qr_codes (qr_code_id, merchant_id, tr, upi_uri, qr_name, multiple_use, fixed_amount, amount_paise, minimum_paise, description, expiry_at, custom_params, status, customer_name, customer_email, customer_mobile, customer_id, reference_number, holds_reference, request_hash, created_at, modified_at) select * from unnest(array['qr_' || lpad(:id::bigint::text, 26, '0')], array['mer_bench' || :merchant::int], array['SVCP' || :id::bigint], array['upi://pay?pa=shop@bank&pn=Corner%20Shop&tr=SVC01234567890123456789012345&mc=5411&mode=15&cu=INR'], array['Table 12'], array[false], array[false], array[null]::bigint[], array[null]::bigint[], array[null]::text[], array[null]::timestamptz[], array[null]::jsonb[], array['ACTIVE'], array[null]::text[], array[null]::text[], array[null]::text[], array[null]::text[], array[null]::text[], array[false], array['\x00']::bytea[], array[clock_timestamp()], array[clock_timestamp()]) order by 1;
with events as (insert into outbox (event_id, tenant_id, type, object_id, payload, created_at, traceparent) select * from unnest(array['{{event}}' || :id::bigint], array['mer_bench' || :merchant::int], array['qr_code.created'], array['qr_' || lpad(:id::bigint::text, 26, '0')], array['{"qrCodeId": "qr_01234567890123456789012345","qrName": "Table 12","multipleUse": false,"fixedAmount": false,"status": "ACTIVE","createdOn": "2026-01-01T00:00:00.000+05:30","modifiedOn": "2026-01-01T00:00:00.000+05:30"}']::jsonb[], array[clock_timestamp()], array[null::text]) returning *) insert into unnumbered_events (created_at, tenant_id, event_id, type, object_id, amount) select created_at, tenant_id, event_id, type, object_id, payload -> 'amount' from events;
commit;
