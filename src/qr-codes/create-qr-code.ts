import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { AmountCaps } from '../config.ts'
import { fail } from '../errors.ts'
import { newId } from '../kernel/ids.ts'
import { formatRupees, type Paise, paise, paiseFromWire } from '../kernel/money.ts'
import { parseRfc3339 } from '../kernel/time.ts'
import type { Writes } from '../platform/db/database.ts'
import { PointRead } from '../platform/db/point-read.ts'
import { type RowLock, rowLock } from '../platform/db/row-lock.ts'
import { columns, statement } from '../platform/db/statement.ts'
import { canonicalJson, command, ok } from '../platform/http/operation.ts'
import { saveEvents } from '../platform/outbox.ts'
import {
  QR_CODE_COLUMNS,
  type QrCode,
  QrCodeResponse,
  type QrCodeRow,
  qrCodeEvent,
  toQrCode,
  toWireWithImage,
  updateQrCodes,
} from './qr-code.ts'
import { qrPng } from './qr-image.ts'
import { STORED_VALUE_LOAD_MCC, upiUri } from './upi-uri.ts'

const EXPIRY_YEARS_MAX = 5
const text = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }))

const CreateQrCodeRequest = Type.Object(
  {
    qrName: text(100, 'Shown to the payer as the note'),
    multipleUse: Type.Optional(Type.Boolean({ description: 'Default false: the code takes one payment' })),
    fixedAmount: Type.Optional(
      Type.Boolean({ description: 'Default false. True: `amount` is required and payments must match it' }),
    ),
    amount: Type.Optional(
      Type.Number({
        minimum: 0.01,
        format: 'rupees',
        'x-rule': 'must be an amount in rupees with at most two decimals',
        description: 'Rupees, at most two decimals. The fixed amount, or a suggestion',
      }),
    ),
    description: text(255, 'For the merchant’s own use'),
    expiry: Type.Optional(
      Type.String({
        format: 'date-time',
        'x-rule': 'must be an RFC 3339 date-time with a zone, such as 2027-01-31T18:30:00+05:30',
        description: `RFC 3339 with a zone; in the future, at most ${EXPIRY_YEARS_MAX} years ahead`,
      }),
    ),
    customParams: Type.Optional(
      // Not a `Type.Record`: its pattern for names passes over those with U+2028, whose values then go unchecked.
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        additionalProperties: Type.String({ maxLength: 256 }),
        maxProperties: 15,
        propertyNames: { minLength: 1, maxLength: 40 },
        description: 'At most 15 pairs; keys of 1 to 40 characters, values of at most 256',
      }),
    ),
    customerName: text(100, 'Name of the customer'),
    customerEmail: Type.Optional(
      Type.String({
        maxLength: 254,
        pattern: '^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$',
        'x-rule': 'must be an e-mail address',
      }),
    ),
    customerMobile: Type.Optional(
      Type.String({ pattern: '^[0-9]{10}$', 'x-rule': 'must be exactly 10 digits' }),
    ),
    customerId: text(64, 'The merchant’s id of the customer'),
    referenceNumber: text(64, 'The merchant’s own reference: repeating it answers the same active code'),
  },
  { additionalProperties: false },
)

interface CreateQrCode {
  readonly tenantId: string
  readonly code: QrCode
  readonly image: Buffer
  readonly eventId: string
  readonly timeZone: string
}

interface Created {
  readonly code: QrCode
  /** The code that held the reference number before and gives it up. */
  readonly former: QrCode | undefined
  readonly isNew: boolean
  readonly command: CreateQrCode
}

interface PayeeRow {
  merchant_id: string
  name: string
  vpa: string
  mcc: string
}

const PAYEES = statement<PayeeRow>(
  'qr_payees',
  'select merchant_id, name, vpa, mcc from merchants where merchant_id = any ($1)',
)

const LOCK: RowLock<QrCodeRow> = rowLock('qr_codes_by_reference', {
  select: QR_CODE_COLUMNS,
  from: `from qr_codes q
    where (q.merchant_id, q.reference_number) in (select * from unnest($1::text[], $2::text[])) and q.holds_reference
    order by q.qr_code_id`,
  tenant: 'q.merchant_id',
  id: 'q.qr_code_id',
  of: 'q',
})

const referenceOf = (code: QrCode) => `${code.merchantId} ${code.referenceNumber}`

/** Ours (decision Q1): makes a UPI QR code that any payer's app can scan. */
export const createQrCode = command({
  id: 'createQrCode',
  method: 'POST',
  path: '/api/v0/qr-code',
  tag: 'QR codes',
  summary: 'Create UPI QR code',
  description:
    'Answers the full record with the image. Without an amount the payer enters one. The same `referenceNumber` with the same request answers the same code while it is active.',
  auth: 'merchant',
  family: 'response_code',
  body: CreateQrCodeRequest,
  result: QrCodeResponse,
  errors: ['mcc_not_allowed', 'reference_in_use', 'reference_paid'],

  prepare(services) {
    const { clock, config, database, random } = services
    const payees = new PointRead<PayeeRow>(
      (keys) => {
        const ids = keys.map(({ id }) => id)
        return database.read(ids, (tx) => tx.query(PAYEES, [ids]))
      },
      ({ merchant_id: id }) => ({ tenantId: id, id }),
    )
    return async ({ caller: { tenantId }, body }): Promise<CreateQrCode> => {
      const payee = (await payees.get(tenantId, tenantId)) ?? fail('invalid_token')
      if (payee.mcc === STORED_VALUE_LOAD_MCC) fail('mcc_not_allowed')
      const nowMs = clock.now()
      const { amountPaise, expiryAt } = checkValues(body, payee.mcc, config.QR_AMOUNT_CAPS, nowMs)
      const qrCodeId = newId('qr', nowMs, random)
      const tr = newId('svc', nowMs, random).replace('_', '').toUpperCase()
      const code = newQrCode(body, payee, { qrCodeId, tr, amountPaise, expiryAt, now: new Date(nowMs) })
      return {
        tenantId,
        code,
        image: qrPng(code.upiUri),
        eventId: newId('evt', nowMs, random),
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    }
  },

  async lock(tx, creates) {
    const wanted = new Map(
      creates
        .filter(({ code }) => code.referenceNumber !== null)
        .map(({ code }) => [referenceOf(code), code]),
    )
    if (wanted.size === 0) return new Map()
    const keys = columns(
      [...wanted.values()],
      (code) => code.merchantId,
      (code) => code.referenceNumber,
    )
    const rows = await tx.lock(LOCK, keys, wanted.size)
    return new Map(rows.map((row) => toQrCode(row)).map((code) => [referenceOf(code), code]))
  },

  decide(codes: Map<string, QrCode>, create, now): Created {
    const code: QrCode = { ...create.code, createdAt: now, modifiedAt: now }
    const former = code.referenceNumber === null ? undefined : codes.get(referenceOf(code))
    if (!former) return { code, former, isNew: true, command: create }
    const active = former.status === 'ACTIVE' && (former.expiryAt === null || former.expiryAt > now)
    if (active && former.requestHash.equals(code.requestHash))
      return { code: former, former, isNew: false, command: create }
    if (active) fail('reference_in_use')
    if (former.acceptedCount > 0) fail('reference_paid')
    return { code, former: { ...former, holdsReference: false }, isNew: true, command: create }
  },

  apply: (codes, { code }) => void (code.holdsReference && codes.set(referenceOf(code), code)),

  save(tx, decisions) {
    const made = decisions.filter((decision) => decision.isNew)
    updateQrCodes(
      tx,
      made.flatMap(({ former }) => former ?? []),
    )
    insertQrCodes(
      tx,
      made.map(({ code }) => code),
    )
    saveEvents(
      tx,
      made.map(({ code, command }) => qrCodeEvent('created', code, command.eventId, command.timeZone)),
    )
  },

  answer: ({ code, isNew, command: { image, timeZone } }) =>
    ok(toWireWithImage(code, timeZone, isNew ? image : undefined)),
})

type Request = Static<typeof CreateQrCodeRequest>

/** The rules that no schema can say: all faults at once (decisions F4, Q6, Q10, Q13). */
function checkValues(body: Request, mcc: string, caps: AmountCaps, nowMs: number) {
  const faults: string[] = []
  const amountPaise = body.amount === undefined ? null : paiseFromWire(body.amount)!
  const cap = caps.get(mcc) ?? caps.get('default')!
  if (body.fixedAmount && amountPaise === null) faults.push('amount: is required when fixedAmount is true')
  if (amountPaise !== null && amountPaise > cap)
    faults.push(`amount: must be at most ${formatRupees(cap)} rupees`)
  const expiryAt = body.expiry === undefined ? null : parseRfc3339(body.expiry)!
  const latest = new Date(nowMs)
  latest.setUTCFullYear(latest.getUTCFullYear() + EXPIRY_YEARS_MAX)
  if (expiryAt && expiryAt.getTime() <= nowMs) faults.push('expiry: must be in the future')
  if (expiryAt && expiryAt > latest) faults.push(`expiry: must be at most ${EXPIRY_YEARS_MAX} years ahead`)
  if (faults.length > 0) fail('validation_failed', { description: faults.join('; ') })
  return { amountPaise, expiryAt }
}

interface Drawn {
  readonly qrCodeId: string
  readonly tr: string
  readonly amountPaise: Paise | null
  readonly expiryAt: Date | null
  readonly now: Date
}

function newQrCode(
  body: Request,
  payee: PayeeRow,
  { qrCodeId, tr, amountPaise, expiryAt, now }: Drawn,
): QrCode {
  const { multipleUse = false, fixedAmount = false, customParams = null } = body
  return {
    qrCodeId,
    merchantId: payee.merchant_id,
    tr,
    upiUri: upiUri({
      vpa: payee.vpa,
      name: payee.name,
      mcc: payee.mcc,
      tr,
      multipleUse,
      ...(body.qrName !== undefined && { note: body.qrName }),
      ...(amountPaise !== null && { amountPaise }),
    }),
    qrName: body.qrName ?? null,
    multipleUse,
    fixedAmount,
    amountPaise,
    description: body.description ?? null,
    expiryAt,
    customParams,
    status: 'ACTIVE',
    customerName: body.customerName ?? null,
    customerEmail: body.customerEmail ?? null,
    customerMobile: body.customerMobile ?? null,
    customerId: body.customerId ?? null,
    referenceNumber: body.referenceNumber ?? null,
    holdsReference: body.referenceNumber !== undefined,
    requestHash: createHash('sha256').update(canonicalJson(body)).digest(),
    acceptedCount: 0,
    acceptedPaise: paise(0n),
    createdAt: now,
    modifiedAt: now,
  }
}

const INSERT = statement(
  'qr_codes_insert',
  `insert into qr_codes (qr_code_id, merchant_id, tr, upi_uri, qr_name, multiple_use, fixed_amount, amount_paise,
     description, expiry_at, custom_params, status, customer_name, customer_email, customer_mobile, customer_id,
     reference_number, holds_reference, request_hash, created_at, modified_at)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::boolean[],
     $8::bigint[], $9::text[], $10::timestamptz[], $11::jsonb[], $12::text[], $13::text[], $14::text[], $15::text[],
     $16::text[], $17::text[], $18::boolean[], $19::bytea[], $20::timestamptz[], $20::timestamptz[]) order by 1`,
)

function insertQrCodes(tx: Writes, codes: readonly QrCode[]): void {
  if (codes.length === 0) return
  tx.write(
    INSERT,
    columns(
      codes,
      (c) => c.qrCodeId,
      (c) => c.merchantId,
      (c) => c.tr,
      (c) => c.upiUri,
      (c) => c.qrName,
      (c) => c.multipleUse,
      (c) => c.fixedAmount,
      (c) => c.amountPaise,
      (c) => c.description,
      (c) => c.expiryAt,
      (c) => c.customParams && JSON.stringify(c.customParams),
      (c) => c.status,
      (c) => c.customerName,
      (c) => c.customerEmail,
      (c) => c.customerMobile,
      (c) => c.customerId,
      (c) => c.referenceNumber,
      (c) => c.holdsReference,
      (c) => c.requestHash,
      (c) => c.createdAt,
    ),
  )
}
