import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { QUEUE_EVENTS, statement, transaction } from './database.ts'
import { fail } from './failures.ts'
import { closedToWire, type QrCodeRow } from './qr-code.ts'
import type { Services } from './services.ts'
import { businessDay, newId, paiseOf, rfc3339, rupees } from './values.ts'

/** Has what belongs to no merchant. */
const PLATFORM = 'house'
/** Rupees 1,00,000: the most that one UPI payment moves. */
const AMOUNT_MAX_PAISE = 100_000_00n

interface PaymentRow extends pg.QueryResultRow {
  readonly payment_id: string
  readonly qr_code_id: string | null
  readonly utr: string
  readonly tr: string
  readonly amount_paise: bigint
  readonly payer_vpa: string | null
  readonly status: 'ACCEPTED' | 'REFUND_PENDING' | 'SUSPENSE'
  readonly reason: string | null
  readonly transaction_at: Date | null
  readonly created_at: Date
}

type PayableRow = QrCodeRow & { readonly mcc: string; readonly disabled_at: Date | null }

const LOCK = statement<PayableRow>(
  'payment_code',
  `select q.*, t.disabled_at from qr_codes q join tenants t on t.tenant_id = q.merchant_id
   where q.tr = $1 for no key update of q`,
)
const KNOWN = statement<PaymentRow>(
  'payment_known',
  `select payment_id, qr_code_id, utr, tr, amount_paise, payer_vpa, status, reason, transaction_at, created_at
   from payments where utr = $1 and (status = 'ASSIGNED') = false`,
)
// One statement, hence one round trip, for all that a payment writes.
const RECORD = statement<{ moved: bigint }>(
  'payment_record',
  `with payment as (
     insert into payments (payment_id, merchant_id, qr_code_id, utr, tr, amount_paise, payer_vpa, status, reason,
       transaction_at, flags, notice, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '{}', $11, $12)),
   code as (
     update qr_codes set accepted_count = accepted_count + 1, accepted_paise = accepted_paise + $6, last_utr = $4,
       revision = revision + 1, status = case when multiple_use then status else 'CANCELLED' end,
       close_reason = case when multiple_use then close_reason else 'paid' end,
       closed_at = case when multiple_use then closed_at else $12 end,
       modified_at = case when multiple_use then modified_at else $12 end
     where merchant_id = $2 and qr_code_id = $3 and $8 = 'ACCEPTED'),
   moved as (
     select from ledger_accounts a where a.tenant_id = $2 and a.account_id in ($13, $14)),
   journal as (
     insert into journals (tenant_id, journal_id, kind, effective_date, reference, legs, at)
     values ($2, $15, 'upi_credit', $16, $4, 1, $12)),
   transfer as (
     insert into ledger_transfers (transfer_id, tenant_id, journal_id, leg, kind, debit_account_id, credit_account_id,
       amount, unit, object_id, created_at)
     values ($17, $2, $15, 1, 'upi_credit', $14, $13, $6, 'INR', $1, $12)),
   event as (
     insert into outbox (event_id, tenant_id, type, object_id, payload, created_at)
     select event_id, $2, type, object_id, payload::jsonb, $12
     from unnest($18::text[], $19::text[], $20::text[], $21::text[]) as e (event_id, type, object_id, payload)
     returning *),
   queued as (${QUEUE_EVENTS} from event)
   select count(*) as moved from moved`,
)

interface Notice {
  readonly utr: string
  readonly tr: string
  readonly amountPaise: bigint
  readonly payerVpa: string | null
  readonly transactionAt: Date | null
  readonly body: Buffer
}

const canonical = (value: unknown): string =>
  (typeof value === 'string' || typeof value === 'number' ? String(value) : '')
    .replace(/[^A-Za-z0-9]/g, '')
    .toUpperCase()

function readNotice(body: unknown, bytes: Buffer): Notice {
  if (body === null || typeof body !== 'object')
    return fail('validation_failed', 'The body must be an object')
  const { utr, tr, amount, payerVpa, transactionTime } = body as Record<string, unknown>
  const amountPaise = paiseOf(amount)
  if (amountPaise === undefined || amountPaise === 0n)
    return fail('validation_failed', 'amount: is not readable')
  const reference = canonical(utr)
  if (reference.length < 6 || reference.length > 35) fail('validation_failed', 'utr: is not readable')
  const timeMs = typeof transactionTime === 'string' ? Date.parse(transactionTime) : Number.NaN
  return {
    utr: reference,
    tr: canonical(tr),
    amountPaise,
    payerVpa: typeof payerVpa === 'string' && payerVpa !== '' ? payerVpa : null,
    transactionAt: Number.isNaN(timeMs) ? null : new Date(timeMs),
    body: bytes,
  }
}

/** Why this code cannot accept this credit. */
function refusalOf(code: PayableRow, { amountPaise, transactionAt }: Notice, now: Date): string | null {
  if (!code.multiple_use && code.accepted_count > 0) return 'qr_code_used'
  if (code.status === 'CANCELLED')
    return transactionAt && transactionAt < code.modified_at ? 'paid_before_cancel' : 'qr_code_cancelled'
  if (code.expiry_at && code.expiry_at <= now) return 'qr_code_expired'
  if (code.disabled_at) return 'merchant_disabled'
  if (code.fixed_amount && amountPaise !== code.amount_paise) return 'amount_mismatch'
  if (amountPaise > AMOUNT_MAX_PAISE) return 'amount_over_limit'
  return null
}

const toWire = (payment: PaymentRow) => ({
  paymentId: payment.payment_id,
  utr: payment.utr,
  amount: rupees(payment.amount_paise),
  payerVpa: payment.payer_vpa ?? undefined,
  status: payment.status,
  reason: payment.reason ?? undefined,
  transactionOn: payment.transaction_at ? rfc3339(payment.transaction_at) : undefined,
  createdOn: rfc3339(payment.created_at),
})

const EVENTS = {
  ACCEPTED: 'qr_code.credited',
  REFUND_PENDING: 'payment.refund_pending',
  SUSPENSE: 'payment.suspended',
} as const
const ACCOUNTS = { ACCEPTED: 'payable', REFUND_PENDING: 'upi_refunds', SUSPENSE: 'suspense' } as const

function eventsOf(payment: PaymentRow, code: PayableRow | undefined) {
  const record = {
    ...toWire(payment),
    qrCodeId: payment.qr_code_id ?? undefined,
    referenceNumber: code?.reference_number ?? undefined,
    customParams: code?.custom_params ?? undefined,
  }
  const accepts = payment.status === 'ACCEPTED' ? code : undefined
  const events: { type: string; objectId: string; payload: unknown }[] = [
    { type: EVENTS[payment.status], objectId: accepts?.qr_code_id ?? payment.payment_id, payload: record },
  ]
  if (accepts && !accepts.multiple_use) {
    const paid: PayableRow = {
      ...accepts,
      status: 'CANCELLED',
      close_reason: 'paid',
      accepted_count: 1,
      accepted_paise: payment.amount_paise,
      modified_at: payment.created_at,
    }
    events.push({
      type: 'qr_code.cancelled',
      objectId: paid.qr_code_id,
      payload: closedToWire(paid, 'payment'),
    })
  }
  return events
}

/** The lock of the code serializes its payments and its cancellation; the unique UTR all notices of one credit. */
async function record(tx: pg.PoolClient, notice: Notice): Promise<PaymentRow> {
  const [code] = notice.tr === '' ? [] : await LOCK(tx, [notice.tr])
  const [known] = await KNOWN(tx, [notice.utr])
  if (known) return known
  const now = new Date()
  const reason = code ? refusalOf(code, notice, now) : 'unknown_code'
  const payment: PaymentRow = {
    payment_id: newId('pay'),
    qr_code_id: code?.qr_code_id ?? null,
    utr: notice.utr,
    tr: notice.tr,
    amount_paise: notice.amountPaise,
    payer_vpa: notice.payerVpa,
    status: !code ? 'SUSPENSE' : reason ? 'REFUND_PENDING' : 'ACCEPTED',
    reason,
    transaction_at: notice.transactionAt,
    created_at: now,
  }
  const tenantId = code?.merchant_id ?? PLATFORM
  const events = eventsOf(payment, code)
  const transferId = newId('trf')
  const [wrote] = await RECORD(tx, [
    payment.payment_id,
    tenantId,
    payment.qr_code_id,
    payment.utr,
    payment.tr,
    payment.amount_paise,
    payment.payer_vpa,
    payment.status,
    payment.reason,
    payment.transaction_at,
    notice.body,
    now,
    `${ACCOUNTS[payment.status]}:${tenantId}`,
    `upi_clearing:${tenantId}`,
    transferId.replace('trf', 'jrn'),
    businessDay(now),
    transferId,
    events.map(() => newId('evt')),
    events.map(({ type }) => type),
    events.map(({ objectId }) => objectId),
    events.map(({ payload }) => JSON.stringify(payload)),
  ])
  if (wrote?.moved !== 2n) throw new Error('a ledger account is missing')
  return payment
}

/** `t=<unix seconds>,v1=<hex HMAC-SHA-256 of "t.body">`. */
function isSigned(header: unknown, body: Buffer, key: string): boolean {
  const [, seconds = '', hex = ''] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(String(header)) ?? []
  if (hex === '') return false
  const expected = createHmac('sha256', key).update(`${seconds}.`).update(body).digest()
  return timingSafeEqual(Buffer.from(hex, 'hex'), expected)
}

export function mountPayments(app: FastifyInstance, { pool, config }: Services): void {
  app.post('/rails/upi/credits', async ({ bytes, body, headers }) => {
    if (!isSigned(headers['x-rail-signature'], bytes, config.railKey)) fail('invalid_signature')
    const notice = readNotice(body, bytes)
    const payment = await transaction(pool, (tx) => record(tx, notice))
    return JSON.stringify({ response_code: 0, response_message: 'Success', payload: toWire(payment) })
  })
}
