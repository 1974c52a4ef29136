-- Few codes are cancelled among very many that are active; the console lists them by their ids.
create index qr_codes_cancelled on qr_codes (qr_code_id) where status = 'CANCELLED';
