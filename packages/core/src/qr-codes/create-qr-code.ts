import { createHash } from 'node:crypto'
import type { AmountCaps } from '@svc/contract/config'
import { fail } from '@svc/contract/errors'
import { failFields } from '@svc/contract/fail-fields'
import { type FieldError, fieldError } from '@svc/contract/field-errors'
import { byTenant, lastOfEach } from '@svc/kernel/by-tenant'
import { canonicalJson } from '@svc/kernel/canonical-json'
import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import { type CommandTools, command } from '@svc/platform/command'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import { columns, statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { qrPng } from '@svc/upi-qr/qr-image'
import { STORED_VALUE_LOAD_MCC, upiUri } from '@svc/upi-qr/upi-uri'
import { outcomeHeader } from './outcome.ts'
import { type QrCode, qrCodeEvent, qrCodes, updateQrCodes } from './qr-code.ts'

export const EXPIRY_YEARS_MAX = 5

/** What a merchant wants a code to be; what is absent has no value. */
export interface QrCodeRequest {
  readonly qrName?: string | undefined
  readonly multipleUse?: boolean | undefined
  readonly fixedAmount?: boolean | undefined
  readonly amountPaise?: Paise | undefined
  /** The least that may be paid of a suggested amount. */
  readonly minimumPaise?: Paise | undefined
  readonly description?: string | undefined
  readonly expiryAt?: Date | undefined
  readonly customParams?: Readonly<Record<string, string>> | undefined
  readonly customerName?: string | undefined
  readonly customerEmail?: string | undefined
  readonly customerMobile?: string | undefined
  readonly customerId?: string | undefined
  readonly referenceNumber?: string | undefined
}

interface CreateQrCode {
  readonly merchantId: string
  readonly request: QrCodeRequest
}

interface PayeeRow {
  readonly merchantId: string
  readonly name: string
  readonly vpa: string
  readonly mcc: string
}

const PAYEES = statement<PayeeRow>(
  'qr_payees',
  'select merchant_id as "merchantId", name, vpa, mcc from merchants where merchant_id = any ($1)',
)

const LOCK = qrCodes.lock('by_reference', {
  where:
    '(q.merchant_id, q.reference_number) in (select * from unnest($1::text[], $2::text[])) and q.holds_reference',
})

type Referenced = QrCode & { readonly referenceNumber: string }
const hasReference = (code: QrCode): code is Referenced => code.referenceNumber !== null
const merchantOf = (code: QrCode) => code.merchantId
const referenceOf = (code: Referenced) => code.referenceNumber

/** Creates a UPI QR code that any payer's app can scan (decision Q1). */
export const createQrCode = command({
  name: 'createQrCode',

  prepare(tools) {
    const payeeOf = payeeLookup(tools)
    const { clock, config, keyring, newId } = tools
    return async ({ merchantId, request }: CreateQrCode) => {
      const payee = (await payeeOf(merchantId)) ?? fail('invalid_token')
      if (payee.mcc === STORED_VALUE_LOAD_MCC) fail('mcc_not_allowed')
      const now = new Date(clock.of(merchantId).now())
      requireConsistent(request, payee.mcc, config.QR_AMOUNT_CAPS, now.getTime())
      const qrCodeId = newId('qr')
      const tr = newId('svc')
        .replace('_', keyring.home.cell ?? '')
        .toUpperCase()
      const code = newQrCode(request, payee, { qrCodeId, tr, now })
      return {
        tenantId: merchantId,
        code,
        image: qrPng(code.upiUri),
        eventId: newId('evt'),
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    }
  },

  async lock(tx, creates) {
    const named = creates.map(({ code }) => code).filter(hasReference)
    const wanted = lastOfEach(named, merchantOf, referenceOf)
    const keys = columns(wanted, merchantOf, referenceOf)
    const rows = wanted.length === 0 ? [] : await tx.lock(LOCK, keys, wanted.length)
    return byTenant<Referenced, QrCode>(rows.filter(hasReference), merchantOf, referenceOf, (code) => code)
  },

  decide(codes, create, now) {
    const code: QrCode = { ...create.code, createdAt: now, modifiedAt: now }
    const previous = code.referenceNumber === null ? undefined : codes.get(code.referenceNumber)
    if (!previous) return { code, previous, isNew: true, create, now }
    const active = previous.status === 'ACTIVE' && (previous.expiryAt === null || previous.expiryAt > now)
    if (active && previous.requestHash.equals(code.requestHash))
      return { code: previous, previous, isNew: false, create, now }
    if (active)
      fail('reference_in_use', {
        description: `referenceNumber: is used by the active QR code ${previous.qrCodeId}, which was created with another request`,
      })
    if (previous.acceptedCount > 0)
      fail('reference_paid', {
        description: `referenceNumber: the QR code ${previous.qrCodeId} was paid under it`,
        headers: outcomeHeader(previous, now),
      })
    return { code, previous: { ...previous, holdsReference: false }, isNew: true, create, now }
  },

  apply(codes, { code }) {
    if (code.holdsReference && hasReference(code)) codes.set(code.referenceNumber, code)
  },

  save(tx, decisions) {
    const created = decisions.filter(({ isNew }) => isNew)
    updateQrCodes(
      tx,
      created.flatMap(({ previous }) => previous ?? []),
    )
    qrCodes.insert(
      tx,
      created.map(({ code }) => code),
    )
    saveEvents(
      tx,
      created.map(({ code, create }) => qrCodeEvent('created', code, create.eventId, create.timeZone)),
    )
  },
})

function payeeLookup({ database }: CommandTools): (merchantId: string) => Promise<PayeeRow | undefined> {
  const payees = new BatchedLookup<PayeeRow>(
    (keys) => {
      const ids = keys.map(({ id }) => id)
      return database.read(ids, (tx) => tx.query(PAYEES, [ids]))
    },
    ({ merchantId: id }) => ({ tenantId: id, id }),
  )
  return (merchantId) => payees.get(merchantId, merchantId)
}

/** The rules that no schema can say: all that are broken at once (decisions F4, Q6, Q10, Q13). */
function requireConsistent(
  { amountPaise, fixedAmount, minimumPaise, expiryAt }: QrCodeRequest,
  mcc: string,
  caps: AmountCaps,
  nowMs: number,
): void {
  const errors: FieldError[] = []
  const cap = caps.get(mcc) ?? caps.get('default')!
  if (fixedAmount && amountPaise === undefined)
    errors.push(fieldError('amount', 'required', 'is required when fixedAmount is true'))
  if (minimumPaise !== undefined) {
    if (fixedAmount || amountPaise === undefined)
      errors.push(fieldError('minimumAmount', 'not_allowed', 'needs an amount that is not fixed'))
    else if (minimumPaise > amountPaise)
      errors.push(fieldError('minimumAmount', 'maximum', 'must be at most amount'))
  }
  if (amountPaise !== undefined && amountPaise > cap)
    errors.push(fieldError('amount', 'maximum', `must be at most ${formatRupees(cap)} rupees`))
  const latest = new Date(nowMs)
  latest.setUTCFullYear(latest.getUTCFullYear() + EXPIRY_YEARS_MAX)
  if (expiryAt && expiryAt.getTime() <= nowMs)
    errors.push(
      fieldError('expiry', 'minimum', `must be in the future, after ${new Date(nowMs).toISOString()}`),
    )
  if (expiryAt && expiryAt > latest)
    errors.push(
      fieldError(
        'expiry',
        'maximum',
        `must be at most ${EXPIRY_YEARS_MAX} years ahead, by ${latest.toISOString()}`,
      ),
    )
  failFields(...errors)
}

/**
 * A till that repeats a request computes its expiry again, and may name a default that it left out before: the intent is
 * the same (decisions Q9, Q13).
 */
const hashOf = (request: QrCodeRequest): Buffer => {
  const { multipleUse, fixedAmount } = request
  const intent = { multipleUse: multipleUse || undefined, fixedAmount: fixedAmount || undefined }
  return createHash('sha256')
    .update(canonicalJson({ ...request, ...intent, expiryAt: undefined }))
    .digest()
}

interface Drawn {
  readonly qrCodeId: string
  readonly tr: string
  readonly now: Date
}

function newQrCode(request: QrCodeRequest, payee: PayeeRow, { qrCodeId, tr, now }: Drawn): QrCode {
  const {
    multipleUse = false,
    fixedAmount = false,
    qrName,
    amountPaise,
    minimumPaise,
    referenceNumber,
  } = request
  return {
    qrCodeId,
    merchantId: payee.merchantId,
    tr,
    upiUri: upiUri({
      vpa: payee.vpa,
      name: payee.name,
      mcc: payee.mcc,
      tr,
      multipleUse,
      fixedAmount,
      ...(qrName !== undefined && { note: qrName }),
      ...(amountPaise !== undefined && { amountPaise }),
      ...(minimumPaise !== undefined && { minimumPaise }),
    }),
    qrName: qrName ?? null,
    multipleUse,
    fixedAmount,
    amountPaise: amountPaise ?? null,
    minimumPaise: minimumPaise ?? null,
    description: request.description ?? null,
    expiryAt: request.expiryAt ?? null,
    customParams: request.customParams ?? null,
    status: 'ACTIVE',
    customerName: request.customerName ?? null,
    customerEmail: request.customerEmail ?? null,
    customerMobile: request.customerMobile ?? null,
    customerId: request.customerId ?? null,
    referenceNumber: referenceNumber ?? null,
    holdsReference: referenceNumber !== undefined,
    requestHash: hashOf(request),
    acceptedCount: 0,
    acceptedPaise: paise(0n),
    lastUtr: null,
    revision: 0,
    closeReason: null,
    closedAt: null,
    cancelReason: null,
    createdAt: now,
    modifiedAt: now,
  }
}
