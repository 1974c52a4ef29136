import { cancelQrCode } from '@svc/core/qr-codes/cancel-qr-code'
import { listCredentials, lockCredentials, revokeCredential } from '@svc/core/tenants/credentials'
import { findTenant, setTenantDisabled, type TenantKind } from '@svc/core/tenants/tenant'
import { DELIVERIES_UNDER_WAY } from '@svc/core/webhooks/delivery-store'
import { formatRupees, paise } from '@svc/kernel/money'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'

const EVERY_MS = 5_000
const CODES_AT_ONCE = 500

/** A tenant that leaves: since when, and since when nothing of it is open. */
export interface Closing {
  readonly tenantId: string
  readonly kind: TenantKind
  readonly closingAt: Date
  readonly closedAt: Date | null
}

/** Something of a closing tenant that has not come to its end. */
export interface LeftOpen {
  readonly what: (typeof OPEN)[number]['what']
  /** How many, where it is counted. */
  readonly count?: number
  /** Rupees, where it is money. */
  readonly amount?: string
}

const count = (from: string) => `select count(*)::bigint from ${from}`
const balances = (...kinds: string[]) =>
  `select coalesce(sum(abs(a.balance)), 0)::bigint from ledger_accounts a
   where a.tenant_id = $1 and a.kind in (${kinds.map((kind) => `'${kind}'`).join(', ')})`
// Advances that are in the merchant's favour end by another way than those that it owes.
const ADVANCES_IN_CREDIT = `a.kind = 'merchant_advances' and a.balance > 0`

/** Everything that keeps a tenant from being closed, with the words of the console and the remedy that the guide names. */
export const OPEN = [
  {
    what: 'qr_codes',
    unit: 'count',
    sql: count(`qr_codes q where q.merchant_id = $1 and q.status = 'ACTIVE'`),
  },
  { what: 'payable', unit: 'paise', sql: balances('payable') },
  { what: 'payouts_in_transit', unit: 'paise', sql: balances('payouts_in_transit') },
  { what: 'refunds', unit: 'paise', sql: balances('upi_refunds') },
  { what: 'suspense', unit: 'paise', sql: balances('suspense') },
  { what: 'disputes', unit: 'paise', sql: balances('disputes') },
  {
    what: 'advances',
    unit: 'paise',
    sql: `${balances('merchant_advances', 'payout_exceptions', 'refund_exceptions')} and not (${ADVANCES_IN_CREDIT})`,
  },
  {
    what: 'advances_in_credit',
    unit: 'paise',
    sql: `${balances('merchant_advances')} and ${ADVANCES_IN_CREDIT}`,
  },
  { what: 'card_accounts', unit: 'paise', sql: balances('card_funding') },
  { what: 'cards', unit: 'paise', sql: balances('card') },
  { what: 'unclaimed', unit: 'paise', sql: balances('unclaimed') },
  { what: 'card_exceptions', unit: 'paise', sql: balances('card_exceptions') },
  {
    what: 'card_holds',
    unit: 'count',
    sql: count(`card_authorizations h where h.partner_id = $1 and h.status = 'OPEN'`),
  },
  {
    what: 'bulk_jobs',
    unit: 'count',
    sql: count('bulk_jobs b where b.partner_id = $1 and b.finished_at is null'),
  },
  {
    what: 'webhook_deliveries',
    unit: 'count',
    sql: `select (select count(*) from unnumbered_events e where e.tenant_id = $1)
        + (select count(*) from ${DELIVERIES_UNDER_WAY} where d.tenant_id = $1)`,
  },
] as const

const CLOSINGS = statement<Closing>(
  'tenants_closing',
  `select t.tenant_id as "tenantId", t.kind, t.closing_at as "closingAt", t.closed_at as "closedAt" from tenants t
   where t.closing_at is not null and ($1::text is null or t.tenant_id = $1) and ($2 or t.closed_at is null)
   order by t.closing_at desc, t.tenant_id`,
)
const START = statement<{ newly: boolean }>(
  'tenant_close',
  `with previous as (select closing_at from tenants where tenant_id = $1 for no key update)
   update tenants t set closing_at = coalesce(t.closing_at, clock_timestamp()) from previous p where t.tenant_id = $1
   returning p.closing_at is null as newly`,
)
const LOCK = statement<{ isClosing: boolean }>(
  'tenant_lock_closing',
  'select closing_at is not null as "isClosing" from tenants where tenant_id = $1 for no key update',
)
// In the order of all other locks of ledger accounts.
const LOCK_ACCOUNTS = statement(
  'tenant_accounts_to_close',
  `select from ledger_accounts where tenant_id = $1 and unit = 'INR' order by account_id for no key update`,
)
const LEFT = statement<{ what: LeftOpen['what']; amount: bigint }>(
  'tenant_left_open',
  OPEN.map(({ what, sql }) => `select '${what}' as what, (${sql}) as amount`).join('\nunion all '),
)
const CODES = statement<{ qrCodeId: string }>(
  'tenant_codes_to_cancel',
  `select qr_code_id as "qrCodeId" from qr_codes where merchant_id = $1 and status = 'ACTIVE'
   order by qr_code_id limit ${CODES_AT_ONCE}`,
)
const SILENCE = statement(
  'tenant_webhooks_stop',
  `update webhook_endpoints set enabled = false, disabled_reason = 'closed', modified_at = clock_timestamp()
   where tenant_id = $1 and enabled`,
)
const FINISH = statement<{ tenantId: string }>(
  'tenant_closed',
  `update tenants set closed_at = clock_timestamp()
   where tenant_id = $1 and closed_at is null and closing_at < clock_timestamp() - $2 * interval '1 millisecond'
   returning tenant_id as "tenantId"`,
)

/** Tokens die within a second in every process (decision A4). */
const TOKENS_DIE_MS = 1_000

/**
 * Starts to close a tenant, in a transaction of the operator: it is disabled, its API keys and clients are revoked. The
 * rest follows in the background. A repeat changes nothing. False when there is none.
 */
export async function startClosing(tx: Tx, tenantId: string, reason: string): Promise<boolean> {
  const kind = await findTenant(tx, tenantId)
  if (!kind) return false
  await lockCredentials(tx, tenantId)
  await setTenantDisabled(tx, tenantId, kind, true)
  const [started] = await tx.query(START, [tenantId])
  if (!started?.newly) return true
  for (const { credentialId, revokedAt } of await listCredentials(tx, tenantId))
    if (!revokedAt) await revokeCredential(tx, tenantId, credentialId)
  recordAudit(tx, [{ action: 'tenant.closing', target: tenantId, tenantId, details: { reason } }])
  return true
}

/** Tenants that are closing, newest first; `withClosed`: and those that are closed. */
export const listClosings = (tx: Tx, withClosed: boolean): Promise<Closing[]> =>
  tx.query(CLOSINGS, [null, withClosed])

export const findClosing = async (tx: Tx, tenantId: string): Promise<Closing | undefined> =>
  (await tx.query(CLOSINGS, [tenantId, true]))[0]

/** Whether a tenant is closing or closed, with its row locked. */
export const lockClosing = async (tx: Tx, tenantId: string): Promise<boolean> =>
  (await tx.query(LOCK, [tenantId]))[0]?.isClosing ?? false

/** What of a tenant is still open. */
export async function leftOpen(tx: Tx, tenantId: string): Promise<LeftOpen[]> {
  const units = new Map(OPEN.map(({ what, unit }) => [what, unit]))
  return (await tx.query(LEFT, [tenantId])).flatMap(({ what, amount }) =>
    amount === 0n
      ? []
      : [
          units.get(what) === 'paise'
            ? { what, amount: formatRupees(paise(amount)) }
            : { what, count: Number(amount) },
        ],
  )
}

type Services = Pick<CoreServices, 'commands' | 'config' | 'database'>

/** Takes the next steps of every tenant that is closing; returns how many were closed. */
export async function continueClosings(services: Services, stopping?: AbortSignal): Promise<number> {
  const { database } = services
  if (!database.hasOperators) return 0
  let closed = 0
  for (const { tenantId, kind } of await database.operate((tx) => listClosings(tx, false))) {
    if (kind === 'merchant') await cancelCodes(services, tenantId, stopping)
    if (stopping?.aborted) break
    if (await closeIfDone(services, tenantId)) closed++
  }
  return closed
}

async function cancelCodes({ commands, database }: Services, merchantId: string, stopping?: AbortSignal) {
  const { run } = commands.open(cancelQrCode)
  while (!stopping?.aborted) {
    const codes = await database.operate((tx) => tx.query(CODES, [merchantId]))
    if (codes.length === 0) break
    await Promise.all(codes.map(({ qrCodeId }) => run({ merchantId, qrCodeId, actor: 'operator' })))
  }
}

/**
 * The last events have been delivered by then: webhooks stop with the tenant. Commands that move its money have committed
 * before its accounts are locked, or find it closed behind them, and it is closing again (decision A14). Commands of its
 * last tokens have ended.
 */
const closeIfDone = ({ config, database }: Services, tenantId: string): Promise<boolean> =>
  database.operate(
    async (tx) => {
      if ((await leftOpen(tx, tenantId)).length > 0) return false
      await tx.query(LOCK_ACCOUNTS, [tenantId])
      if ((await leftOpen(tx, tenantId)).length > 0) return false
      if ((await tx.query(FINISH, [tenantId, TOKENS_DIE_MS + config.COMMAND_TIMEOUT_MS])).length === 0)
        return false
      await tx.query(SILENCE, [tenantId])
      recordAudit(tx, [{ action: 'tenant.closed', target: tenantId, tenantId }])
      return true
    },
    'read committed',
    { actor: 'service' },
  )

export const closeTenantsLoop = (services: CoreServices): Loop => {
  const loop: Loop = new Loop(
    {
      name: 'close_tenants',
      everyMs: EVERY_MS,
      work: async () => void (await continueClosings(services, loop.stopping)),
      atStart: true,
    },
    services,
  )
  return loop
}
