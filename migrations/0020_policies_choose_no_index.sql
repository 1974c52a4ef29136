-- Row-level security hides rows; it is not how they are found. As a comparison with the tenant's column the policy could
-- be taken for an index condition, and a planner with old statistics took it: of a tenant with few rows when it looked,
-- that had thousands since, each look-up by key read them all and threw all but one away (see 0007). Each statement names
-- the tenant beside its keys, so the policy says the same in a form that no index answers.
do $$
declare
  secured record;
begin
  for secured in
    select p.tablename as name, (regexp_match(p.qual, '^\((\w+) = ANY'))[1] as tenant
    from pg_policies p where p.schemaname = 'svc' and p.policyname = 'tenant'
  loop
    execute format(
      'alter policy tenant on %I using (array_position((select current_tenants())::text[], %I) is not null)',
      secured.name, secured.tenant);
  end loop;
end $$;
