import { tenantSet } from '@svc/platform/db/database'
import { type DocumentedLogin, withLogin } from './documented-logins.ts'
import { newUtr } from './qr-codes.ts'
import type { TestDatabase } from './service.ts'

/** The SQLSTATE of rights that a role does not have. */
export const RIGHTS = '42501'

/** What the database says to statements of a login, which end in a COMMIT: the constraint or the SQLSTATE. */
export const saidTo = (
  db: TestDatabase,
  tenants: readonly string[],
  login: DocumentedLogin,
  role: string,
  text: string,
): Promise<string> =>
  withLogin(db, login, role, async (client) => {
    try {
      await client.query(
        `begin; set local svc.tenants = '${tenantSet(tenants)}'; set local svc.actor = 'operator mallory'`,
      )
      await client.query(text)
      await client.query('commit')
      return 'accepted'
    } catch (error) {
      const { code, constraint } = error as { code?: string; constraint?: string }
      return constraint ?? code ?? String(error)
    }
  })

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

/** An approval of one paisa, as `who` would have given it. */
export const approvedBy = (tenantId: string, who: string): string =>
  `insert into approvals (tenant_id, approval_id, kind, amount_paise, reference, request, arguments, reason, requested_by,
     requested_at, expires_at, outcome, decided_by, decided_at)
   values ('${tenantId}', 'apv_forged', 'payment_adjustment', 1, 'X', '{}', '{}', 'x', 'operator mallory', now(),
     now() + interval '1 hour', 'APPROVED', '${who}', now())`

interface Paid {
  readonly merchantId: string
  readonly paymentId: string
}

/** One refund more of a payment, with its journal. */
export const forgedRefund = ({ merchantId, paymentId }: Paid, n: number, paise: number): string =>
  `${copyOf('merchant_refunds', {
    refund_id: `rfd_01k0attack000000000000000${n}`,
    reference_number: `MORE${n}`,
    payment_id: paymentId,
    amount_paise: paise,
    advanced_paise: 0,
    status: 'PENDING',
    run_id: null,
    utr: null,
    sent_at: null,
    completed_at: null,
  })}; ${journal(
    merchantId,
    'merchant_refund',
    [`merchant_advances:${merchantId}`, `upi_refunds:${merchantId}`],
    paise,
    {
      id: `01k0attack000000000000000${n}`,
      object: `rfd_01k0attack000000000000000${n}`,
      reference: `MORE${n}`,
    },
  )}`

/** A notice that an operator has read, and that became a payment. */
export const assignedNotice = ({
  merchantId,
  paymentId,
}: {
  merchantId: string
  paymentId: string
}): string =>
  `insert into rail_notices (tenant_id, notice_id, body, status, flags, received_at, payment_id, assigned_at, assigned_by)
   values ('${merchantId}', 'assigned', 'read once', 'ASSIGNED', '{}', now(), '${paymentId}', now(), 'operator asha')`
