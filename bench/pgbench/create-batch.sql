-- create.sql for 64 codes in one transaction, as src/platform/db/batch.ts sends them.
\set merchant random(0, 255)
\set id random(1000000, 900000000000000)
begin;
set local lock_timeout = 2000;
select set_config('svc.tenants', (select string_agg('mer_bench' || (:merchant::int + i) % 256, ',') from generate_series(0, 63) i), true);
insert into batches values ('bat_' || :id::bigint);
select clock_timestamp() as now;
insert into qr_codes (qr_code_id, merchant_id, tr, upi_uri, qr_name, multiple_use, fixed_amount, amount_paise, description, expiry_at, custom_params, status, customer_name, customer_email, customer_mobile, customer_id, reference_number, holds_reference, request_hash, created_at, modified_at) select 'qr_' || lpad((:id::bigint * 64 + i)::text, 26, '0'), 'mer_bench' || (:merchant::int + i) % 256, 'SVCP' || :id::bigint * 64 + i, 'upi://pay?pa=shop@bank&pn=Corner%20Shop&tr=SVC01234567890123456789012345&mc=5411&mode=15&cu=INR', 'Table 12', false, false, null::bigint, null::text, null::timestamptz, null::jsonb, 'ACTIVE', null::text, null::text, null::text, null::text, null::text, false, '\x00'::bytea, clock_timestamp(), clock_timestamp() from generate_series(0, 63) i order by 1;
insert into outbox (event_id, tenant_id, type, object_id, payload, created_at) select 'evt_' || :id::bigint || 'x' || i, 'mer_bench' || (:merchant::int + i) % 256, 'qr_code.created', 'qr_' || lpad((:id::bigint * 64 + i)::text, 26, '0'), '{"qrCodeId": "qr_01234567890123456789012345","qrName": "Table 12","multipleUse": false,"fixedAmount": false,"status": "ACTIVE","createdOn": "2026-01-01T00:00:00.000+05:30","modifiedOn": "2026-01-01T00:00:00.000+05:30"}'::jsonb, clock_timestamp() from generate_series(0, 63) i;
commit;
