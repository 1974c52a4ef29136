-- What the merchant says with a cancellation: not in the specified record.
alter table qr_codes add column cancel_reason text;
grant update (cancel_reason) on qr_codes to svc_service;
