import { type Check, check, subjects } from '../ledger/reconcile.ts'

/** What must be true of credentials (decision A16). */
export const CREDENTIAL_CHECKS: readonly Check[] = [
  check(
    'credential_limits',
    subjects('limited credentials', 'credential_limits'),
    'What has limits is an API key or OAuth client of that tenant',
    (chosen) => `select l.credential_id as subject, 'no credential of ' || l.tenant_id as detail
       from credential_limits l
       where ${chosen('l.tenant_id')}
         and not exists (select from api_keys k where k.tenant_id = l.tenant_id and k.api_key_id = l.credential_id)
         and not exists (select from oauth_clients c where c.tenant_id = l.tenant_id and c.client_id = l.credential_id)
       limit 100`,
  ),
]
