-- What the records of a partner's cards say where their card account does not (decision C27).
create table partner_record_settings (
  partner_id      text collate "C" not null references tenants,
  record_settings jsonb not null,
  modified_at     timestamptz not null,
  primary key (partner_id)
);
select secure_tenants('partner_record_settings', 'partner_id');
grant select, insert, update (record_settings, modified_at) on partner_record_settings to svc_service;
grant select on partner_record_settings to svc_operator;
