-- Accounts and users are looked up by their own keys, with the tenant beside them. On a tenant that has grown since the
-- planner's last statistics, an index by tenant alone looked as cheap as the key: each look-up then read all rows of the
-- tenant (a search over 10,000 cards took minutes). No statement asks by tenant alone.
drop index ledger_accounts_by_tenant;
drop index users_by_partner;
