-- create.sql for 64 codes in one transaction, as packages/platform/src/db/batch.ts sends them.
-- The arrays are made first, so that the statements have parameters, and hence plans, as the service's own have.
\set merchant random(0, 255)
\set id random(1000000, 900000000000000)
select array_agg('mer_bench' || (:merchant::int + i) % 256 order by i) as merchants, array_agg('qr_' || lpad((:id::bigint * 64 + i)::text, 26, '0') order by i) as codes, array_agg('SVCP' || :id::bigint * 64 + i order by i) as trs, array_agg('evt_' || :id::bigint || 'x' || i order by i) as events from generate_series(0, 63) i \gset
begin;
set local lock_timeout = 2000;
select set_config('svc.tenants', array_to_string(:merchants::text[], ','), true);
insert into batches values ('bat_' || :id::bigint);
select clock_timestamp() as now;
insert into qr_codes (qr_code_id, merchant_id, tr, upi_uri, qr_name, multiple_use, fixed_amount, amount_paise, description, expiry_at, custom_params, status, customer_name, customer_email, customer_mobile, customer_id, reference_number, holds_reference, request_hash, created_at, modified_at) select * from unnest(:codes::text[], :merchants::text[], :trs::text[], array_fill('upi://pay?pa=shop@bank&pn=Corner%20Shop&tr=SVC01234567890123456789012345&mc=5411&mode=15&cu=INR'::text, array[64]), array_fill('Table 12'::text, array[64]), array_fill(false::boolean, array[64]), array_fill(false::boolean, array[64]), array_fill(null::bigint, array[64]), array_fill(null::text, array[64]), array_fill(null::timestamptz, array[64]), array_fill(null::jsonb, array[64]), array_fill('ACTIVE'::text, array[64]), array_fill(null::text, array[64]), array_fill(null::text, array[64]), array_fill(null::text, array[64]), array_fill(null::text, array[64]), array_fill(null::text, array[64]), array_fill(false::boolean, array[64]), array_fill('\x00'::bytea, array[64]), array_fill(clock_timestamp()::timestamptz, array[64]), array_fill(clock_timestamp()::timestamptz, array[64])) order by 1;
insert into outbox (event_id, tenant_id, type, object_id, payload, created_at) select * from unnest(:events::text[], :merchants::text[], array_fill('qr_code.created'::text, array[64]), :codes::text[], array_fill('{"qrCodeId": "qr_01234567890123456789012345","qrName": "Table 12","multipleUse": false,"fixedAmount": false,"status": "ACTIVE","createdOn": "2026-01-01T00:00:00.000+05:30","modifiedOn": "2026-01-01T00:00:00.000+05:30"}'::jsonb, array[64]), array_fill(clock_timestamp()::timestamptz, array[64]));
commit;
