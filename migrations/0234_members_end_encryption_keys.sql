-- Members of a partner end its encryption keys in the portal.
grant update (retired_at) on partner_encryption_keys to svc_service;
