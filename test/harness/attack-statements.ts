import { newUtr } from './qr-codes.ts'

/** One row more of a table, copied from one that is there with other values. */
export const copyOf = (table: string, other: Record<string, unknown>): string =>
  `insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(t) || '${JSON.stringify(other)}')).*
   from (select * from ${table} limit 1) t`

/** A public key and an endpoint of a partner, as that one registers them. */
export const keyAndEndpointOf = (partnerId: string): string =>
  `insert into partner_encryption_keys (kid, partner_id, kind, alg, material, created_at)
     values ('theirs', '${partnerId}', 'public', 'RSA-OAEP-256', '{}', now());
   insert into webhook_endpoints
     (endpoint_id, tenant_id, url, description, types, enabled, header_names, created_at, modified_at)
     values ('whe_theirs', '${partnerId}', 'https://example.com', '', '{}', false, '{}', now(), now())`

/** A journal of one leg. */
export const journal = (
  tenantId: string,
  kind: string,
  [debit, credit]: readonly [string, string],
  paise: number | bigint,
  { id = '01k0attack0000000000000012', object = 'x', reference = 'ATTACK0001' } = {},
): string =>
  `insert into journals (tenant_id, journal_id, kind, effective_date, reference, legs, at)
     values ('${tenantId}', 'jrn_${id}', '${kind}', current_date, '${reference}', 1, now());
   insert into ledger_transfers values ('trf_${id}', '${tenantId}', 'jrn_${id}', 1, '${kind}', '${debit}', '${credit}',
     ${paise}, 'INR', '${object}', now())`

/** A dispute that waits in quarantine, since no payment has its reference. */
export const STRANGE = { caseReference: 'CASE-4711', utr: newUtr(), amount: 1 }
/** The bytes of a notice, as PostgreSQL reads them. */
export const hexOf = (notice: object): string => `\\x${Buffer.from(JSON.stringify(notice)).toString('hex')}`
