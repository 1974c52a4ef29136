-- Credentials that the link of a member hands over (decision O8). They are issued when the link is used, so that no
-- secret waits in the database: a row says what to issue and, afterwards, what was issued. Only operators enter rows.
create table handovers (
  tenant_id     text collate "C" not null,
  member_id     text collate "C" not null,
  -- whether a key for encrypted requests is issued besides the API key or OAuth client
  shared_key    boolean not null,
  created_at    timestamptz not null,
  -- as the audit names them
  created_by    text not null,
  opened_at     timestamptz,
  credential_id text collate "C",
  kid           text collate "C",
  constraint handover_to_a_member foreign key (tenant_id, member_id) references members (tenant_id, member_id),
  constraint opened_with_a_credential check ((opened_at is null) = (credential_id is null)),
  constraint key_as_asked_for check (kid is null or shared_key),
  primary key (tenant_id, member_id)
);
create constraint trigger audited after insert or update or delete on handovers deferrable initially deferred
  for each row execute function audit_change('handover', 'member_id', 'tenant_id', 'shared_key,opened_at,credential_id,kid');
select secure_tenants('handovers', 'tenant_id');
grant select, insert, update on handovers to svc_operator;
grant select, update (opened_at, credential_id, kid) on handovers to svc_service;

-- The shared key is issued by the request that opens the link, of that tenant alone.
grant insert on partner_encryption_keys to svc_service;
