import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { toBuffer } from 'qrcode'
import { command, QUEUE_EVENTS, type RetryKey, retryKeyOf, statement } from './database.ts'
import { fail } from './failures.ts'
import { CREATE_BODY, type CreateRequest, newCode, requireConsistent } from './new-code.ts'
import { closedToWire, paymentsOf, type QrCodeRow, toWire } from './qr-code.ts'
import type { Services } from './services.ts'
import { newId } from './values.ts'

const PAYEE = statement<{ name: string; vpa: string; mcc: string }>(
  'payee',
  'select name, vpa, mcc from merchants where merchant_id = $1',
)
const BY_REFERENCE = statement<QrCodeRow>(
  'code_by_reference',
  `select * from qr_codes where merchant_id = $1 and reference_number = $2 and holds_reference for no key update`,
)
const RELEASE_REFERENCE = statement(
  'code_release_reference',
  'update qr_codes set holds_reference = false where merchant_id = $1 and qr_code_id = $2',
)
const INSERT = statement(
  'code_insert',
  `with code as (
     insert into qr_codes (qr_code_id, merchant_id, tr, upi_uri, qr_name, multiple_use, fixed_amount, amount_paise,
       description, expiry_at, custom_params, status, customer_name, customer_email, customer_mobile, customer_id,
       reference_number, holds_reference, request_hash, created_at, modified_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'ACTIVE', $12, $13, $14, $15, $16, $17, $18, $19, $19)),
   event as (
     insert into outbox (event_id, tenant_id, type, object_id, payload, created_at)
     values ($20, $2, 'qr_code.created', $1, $21, $19) returning *)
   ${QUEUE_EVENTS} from event`,
)
const LOCK = statement<QrCodeRow>(
  'code_lock',
  'select * from qr_codes where merchant_id = $1 and qr_code_id = $2 for no key update',
)
const CANCEL = statement(
  'code_cancel',
  `with code as (
     update qr_codes set status = 'CANCELLED', revision = revision + 1, close_reason = $3, closed_at = $4, modified_at = $4
     where merchant_id = $1 and qr_code_id = $2),
   event as (
     insert into outbox (event_id, tenant_id, type, object_id, payload, created_at)
     values ($5, $1, 'qr_code.cancelled', $2, $6, $4) returning *)
   ${QUEUE_EVENTS} from event`,
)

const ok = (payload: unknown): string =>
  JSON.stringify({ response_code: 0, response_message: 'Success', payload })

/** PNG with four light modules around and four pixels a module; the fastest of the library's settings. */
async function withImage(code: QrCodeRow): Promise<string> {
  const image = await toBuffer(code.upi_uri, {
    errorCorrectionLevel: 'M',
    margin: 4,
    scale: 4,
    rendererOpts: { deflateLevel: 1 },
  })
  return ok({
    ...toWire(code),
    payments: paymentsOf(code),
    upiUri: code.upi_uri,
    qrCodeBase64: image.toString('base64'),
  })
}

const insert = (db: pg.Pool | pg.PoolClient, code: QrCodeRow) =>
  INSERT(db, [
    code.qr_code_id,
    code.merchant_id,
    code.tr,
    code.upi_uri,
    code.qr_name,
    code.multiple_use,
    code.fixed_amount,
    code.amount_paise,
    code.description,
    code.expiry_at,
    code.custom_params,
    code.customer_name,
    code.customer_email,
    code.customer_mobile,
    code.customer_id,
    code.reference_number,
    code.holds_reference,
    code.request_hash,
    code.created_at,
    newId('evt'),
    toWire(code),
  ])

/** A repeat of an active reference returns the same code. */
async function createOnce(tx: pg.PoolClient, code: QrCodeRow): Promise<QrCodeRow> {
  const now = code.created_at
  const [previous] =
    code.reference_number === null ? [] : await BY_REFERENCE(tx, [code.merchant_id, code.reference_number])
  if (previous) {
    const isActive = previous.status === 'ACTIVE' && (previous.expiry_at === null || previous.expiry_at > now)
    if (isActive && previous.request_hash.equals(code.request_hash)) return previous
    if (isActive) fail('reference_in_use')
    await RELEASE_REFERENCE(tx, [code.merchant_id, previous.qr_code_id])
  }
  await insert(tx, code)
  return code
}

async function cancel(tx: pg.PoolClient, merchantId: string, qrCodeId: string): Promise<string> {
  const [code] = await LOCK(tx, [merchantId, qrCodeId])
  if (!code) return fail('qr_code_not_found')
  if (code.status === 'CANCELLED') return ok(toWire(code))
  const now = new Date(Math.max(Date.now(), code.modified_at.getTime()))
  const cancelled: QrCodeRow = {
    ...code,
    status: 'CANCELLED',
    close_reason: code.expiry_at !== null && code.expiry_at <= now ? 'expired' : 'cancelled',
    modified_at: now,
  }
  await CANCEL(tx, [
    merchantId,
    qrCodeId,
    cancelled.close_reason,
    now,
    newId('evt'),
    closedToWire(cancelled, 'merchant'),
  ])
  return ok(toWire(cancelled))
}

export function mountQrCodes(app: FastifyInstance, { pool, access, config }: Services): void {
  const { storedResponse } = config.keys
  app.route<{ Body: CreateRequest }>({
    method: 'POST',
    url: '/api/v0/qr-code',
    schema: { body: CREATE_BODY },
    onRequest: access.merchant,
    async handler({ tenantId, headers, body }) {
      const now = new Date()
      requireConsistent(body, now)
      const [payee] = await PAYEE(pool, [tenantId])
      const code = newCode(tenantId, body, payee ?? fail('invalid_token'), now)
      const key = retryKeyOf(tenantId, 'POST /api/v0/qr-code', headers['idempotency-key'], body)
      if (key || code.holds_reference)
        return command(pool, storedResponse, key, async (tx) => withImage(await createOnce(tx, code)))
      // Without a key or a reference nothing has to be read: one statement is the whole transaction.
      const [response] = await Promise.all([withImage(code), insert(pool, code)])
      return response
    },
  })
  app.route<{ Params: { qrCodeId: string } }>({
    method: 'PATCH',
    url: '/api/v0/qr-code/:qrCodeId/cancel',
    onRequest: access.merchant,
    handler({ tenantId, headers, params: { qrCodeId } }) {
      const route = 'PATCH /api/v0/qr-code/:qrCodeId/cancel'
      const key: RetryKey | undefined = retryKeyOf(tenantId, route, headers['idempotency-key'], qrCodeId)
      return command(pool, storedResponse, key, (tx) => cancel(tx, tenantId, qrCodeId))
    },
  })
}
