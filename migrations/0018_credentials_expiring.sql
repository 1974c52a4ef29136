-- run: statement by statement
drop index concurrently if exists api_keys_expiring;
create index concurrently api_keys_expiring on api_keys (expires_at) where expires_at is not null;
drop index concurrently if exists oauth_clients_expiring;
create index concurrently oauth_clients_expiring on oauth_clients (expires_at) where expires_at is not null;
