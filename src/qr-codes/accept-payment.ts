import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { newId } from '../kernel/ids.ts'
import { type Paise, paise, paiseFromWire } from '../kernel/money.ts'
import { account, accountId, lockAccounts } from '../ledger/accounts.ts'
import { saveTransfers, type Transfer } from '../ledger/transfers.ts'
import type { BatchTx } from '../platform/db/batch.ts'
import type { Writes } from '../platform/db/database.ts'
import { PointRead } from '../platform/db/point-read.ts'
import { type RowLock, rowLock } from '../platform/db/row-lock.ts'
import { columns, statement } from '../platform/db/statement.ts'
import { command, ok } from '../platform/http/operation.ts'
import { type OutboxEvent, saveEvents } from '../platform/outbox.ts'
import {
  type Payment,
  PaymentResponse,
  type PaymentRow,
  paymentToWire,
  type RefusalReason,
  toPayment,
} from './payment.ts'
import {
  QR_CODE_COLUMNS,
  type QrCode,
  type QrCodeRow,
  qrCodeEvent,
  toQrCode,
  updateQrCodes,
} from './qr-code.ts'
import { VPA_PATTERN } from './upi-uri.ts'

/** Who holds credits that fit no code. */
const HOUSE = 'house'
export const UTR_PATTERN = '^[A-Za-z0-9]{6,35}$'
export const TR_CHARS_MAX = 64

const CreditNotice = Type.Object(
  {
    utr: Type.String({
      pattern: UTR_PATTERN,
      'x-rule': 'must be 6 to 35 letters and digits',
      description: 'The bank’s reference of the credit',
    }),
    tr: Type.String({
      maxLength: TR_CHARS_MAX,
      description: 'The transaction reference of the scanned code',
    }),
    amount: Type.Number({
      minimum: 0.01,
      maximum: 1e10,
      format: 'rupees',
      'x-rule': 'must be an amount in rupees with at most two decimals',
    }),
    payerVpa: Type.String({
      maxLength: 255,
      pattern: VPA_PATTERN,
      'x-rule': 'must be a virtual payment address, name@handle',
    }),
  },
  { additionalProperties: false },
)

interface AcceptPayment {
  /** The merchant whose code it pays, or the house. */
  readonly tenantId: string
  readonly qrCodeId: string | null
  readonly utr: string
  readonly tr: string
  readonly amountPaise: Paise
  readonly payerVpa: string
  /** Largest amount that a code of this merchant takes. */
  readonly capPaiseOf: (mcc: string) => Paise
  readonly ids: {
    readonly payment: string
    readonly transfer: string
    readonly credited: string
    readonly cancelled: string
  }
  readonly timeZone: string
}

/** A code with what else the decision needs of its merchant. */
interface Payee {
  readonly code: QrCode
  readonly mcc: string
  readonly disabled: boolean
}

interface State {
  readonly payees: Map<string, Payee>
  readonly payments: Map<string, Payment>
}

interface Recorded {
  readonly payment: Payment
  readonly isNew: boolean
  /** The code after an accepted payment. */
  readonly code: QrCode | undefined
  readonly transfer: Transfer | undefined
  readonly command: AcceptPayment
}

interface CodeDirectoryRow {
  tr: string
  merchant_id: string
  qr_code_id: string
}

const CODES = statement<CodeDirectoryRow>('directory_qr_codes', 'select * from directory_qr_codes($1)')
const PAYMENTS = statement<PaymentRow>('directory_payments', 'select * from directory_payments($1)')

const LOCK: RowLock<QrCodeRow & { mcc: string; disabled_at: Date | null }> = rowLock('qr_codes_to_pay', {
  select: `${QR_CODE_COLUMNS}, m.mcc, t.disabled_at`,
  from: `from qr_codes q join merchants m using (merchant_id) join tenants t on t.tenant_id = q.merchant_id
    where (q.merchant_id, q.qr_code_id) in (select * from unnest($1::text[], $2::text[])) order by q.qr_code_id`,
  tenant: 'q.merchant_id',
  id: 'q.qr_code_id',
  of: 'q',
})

/**
 * Decision Q11: how a bank tells us of a credit. Always answered 200 once it is recorded; the answer says whether the
 * money stays (`ACCEPTED`) or the bank has to send it back (`REFUND_PENDING`).
 */
export const acceptPayment = command({
  id: 'acceptPayment',
  method: 'POST',
  path: '/rails/upi/credits',
  tag: 'UPI rail',
  summary: 'Notify a UPI credit',
  description:
    'Sent by the bank, signed. Idempotent by `utr`: a repeated notice gets the same answer. A credit that its code cannot take is recorded as `REFUND_PENDING` with a reason, for the bank to return; one whose `tr` fits no code is kept as `SUSPENSE`.',
  auth: 'rail',
  family: 'response_code',
  headers: {
    'x-rail-signature': 'Signature of the notice: `t=<unix seconds>,v1=<hex HMAC-SHA-256 of "t.body">`',
  },
  body: CreditNotice,
  result: PaymentResponse,
  errors: ['invalid_signature', 'utr_conflict'],

  prepare({ clock, config, database, random }) {
    const codes = new PointRead<CodeDirectoryRow>(
      (keys) => database.directory(CODES, [keys.map(({ id }) => id)]),
      ({ tr }) => ({ tenantId: '', id: tr }),
    )
    const caps = config.QR_AMOUNT_CAPS
    return async ({ body }): Promise<AcceptPayment> => {
      const code = await codes.get('', body.tr)
      const id = (prefix: string) => newId(prefix, clock.now(), random)
      return {
        tenantId: code?.merchant_id ?? HOUSE,
        qrCodeId: code?.qr_code_id ?? null,
        utr: body.utr,
        tr: body.tr,
        amountPaise: paiseFromWire(body.amount)!,
        payerVpa: body.payerVpa,
        capPaiseOf: (mcc) => caps.get(mcc) ?? caps.get('default')!,
        ids: { payment: id('pay'), transfer: id('trf'), credited: id('evt'), cancelled: id('evt') },
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    }
  },

  lock,
  decide,
  apply(state, { payment, code }) {
    state.payments.set(payment.utr, payment)
    const payee = code && state.payees.get(code.qrCodeId)
    if (payee) state.payees.set(code.qrCodeId, { ...payee, code })
  },

  save(tx, decisions) {
    const recorded = decisions.filter((decision) => decision.isNew)
    const codes = new Map(recorded.flatMap(({ code }) => (code ? [[code.qrCodeId, code]] : [])))
    updateQrCodes(tx, [...codes.values()])
    saveTransfers(
      tx,
      recorded.flatMap(({ transfer }) => transfer ?? []),
    )
    insertPayments(
      tx,
      recorded.map(({ payment }) => payment),
    )
    saveEvents(tx, recorded.flatMap(eventsOf))
  },

  answer: ({ payment, command: { timeZone } }) => ok(paymentToWire(payment, timeZone)),
})

async function lock(tx: BatchTx, credits: readonly AcceptPayment[]): Promise<State> {
  const wanted = new Map(
    credits.flatMap((credit) => (credit.qrCodeId === null ? [] : [[credit.qrCodeId, credit]])),
  )
  const locking =
    wanted.size === 0
      ? []
      : tx.lock(
          LOCK,
          columns(
            [...wanted.values()],
            (credit) => credit.tenantId,
            (credit) => credit.qrCodeId,
          ),
          wanted.size,
        )
  const knowing = tx.query(PAYMENTS, [credits.map((credit) => credit.utr)])
  const accounts = lockAccounts(
    tx,
    credits.flatMap(({ tenantId, qrCodeId }) => {
      const kinds =
        qrCodeId === null
          ? (['upi_clearing', 'suspense'] as const)
          : (['upi_clearing', 'payable', 'upi_refunds'] as const)
      return kinds.map((kind) => account(kind, tenantId))
    }),
  )
  // They travel together; the server takes them in this order, codes before accounts.
  const [rows, known] = await Promise.all([locking, knowing, accounts])
  const payees = rows.map((row) => ({
    code: toQrCode(row),
    mcc: row.mcc,
    disabled: row.disabled_at !== null,
  }))
  return {
    payees: new Map(payees.map((payee) => [payee.code.qrCodeId, payee])),
    payments: new Map(known.map((row) => [row.utr, toPayment(row)])),
  }
}

function decide({ payees, payments }: State, credit: AcceptPayment, now: Date): Recorded {
  const { utr, tr, amountPaise, payerVpa } = credit
  const known = payments.get(utr)
  if (known) {
    if (known.tr !== tr || known.amountPaise !== amountPaise || known.payerVpa !== payerVpa)
      fail('utr_conflict')
    return { payment: known, isNew: false, code: undefined, transfer: undefined, command: credit }
  }
  const payee = credit.qrCodeId === null ? undefined : payees.get(credit.qrCodeId)
  const reason = payee ? refusal(payee, credit, now) : 'unknown_code'
  const payment: Payment = {
    paymentId: credit.ids.payment,
    merchantId: credit.tenantId,
    qrCodeId: credit.qrCodeId,
    utr,
    tr,
    amountPaise,
    payerVpa,
    status: !payee ? 'SUSPENSE' : reason ? 'REFUND_PENDING' : 'ACCEPTED',
    reason: reason ?? null,
    createdAt: now,
    refundedAt: null,
  }
  const code = payee && !reason ? credited(payee.code, amountPaise, now) : undefined
  return { payment, isNew: true, code, transfer: transferOf(payment, credit.ids.transfer), command: credit }
}

/** Why this code cannot take this credit, `undefined` when it can (decisions Q3 to Q6, Q10). */
function refusal(
  { code, mcc, disabled }: Payee,
  { amountPaise, capPaiseOf }: AcceptPayment,
  now: Date,
): RefusalReason | undefined {
  if (!code.multipleUse && code.acceptedCount > 0) return 'qr_code_used'
  if (code.status === 'CANCELLED') return 'qr_code_cancelled'
  if (code.expiryAt !== null && code.expiryAt <= now) return 'qr_code_expired'
  if (disabled) return 'merchant_disabled'
  if (code.fixedAmount && amountPaise !== code.amountPaise) return 'amount_mismatch'
  if (amountPaise > capPaiseOf(mcc)) return 'amount_over_limit'
  return undefined
}

/** A single-use code is used up by its one payment, and says so by its status (decision Q5). */
const credited = (code: QrCode, amountPaise: Paise, now: Date): QrCode => ({
  ...code,
  acceptedCount: code.acceptedCount + 1,
  acceptedPaise: paise(code.acceptedPaise + amountPaise),
  ...(code.multipleUse ? {} : { status: 'CANCELLED', modifiedAt: now }),
})

const CREDIT_TO = { ACCEPTED: 'payable', REFUND_PENDING: 'upi_refunds', SUSPENSE: 'suspense' } as const

function transferOf(payment: Payment, transferId: string): Transfer {
  const { merchantId: tenantId, amountPaise, createdAt } = payment
  return {
    transferId,
    tenantId,
    kind: 'upi_credit',
    debitAccountId: accountId('upi_clearing', tenantId),
    creditAccountId: accountId(CREDIT_TO[payment.status as keyof typeof CREDIT_TO], tenantId),
    amountPaise,
    objectId: payment.paymentId,
    createdAt,
  }
}

function eventsOf({ payment, code, command: { ids, timeZone } }: Recorded): OutboxEvent[] {
  if (!code) return []
  const credited: OutboxEvent = {
    eventId: ids.credited,
    tenantId: payment.merchantId,
    type: 'qr_code.credited',
    objectId: code.qrCodeId,
    payload: { qrCodeId: code.qrCodeId, ...paymentToWire(payment, timeZone) },
    createdAt: payment.createdAt,
  }
  return code.status === 'CANCELLED'
    ? [credited, qrCodeEvent('cancelled', code, ids.cancelled, timeZone)]
    : [credited]
}

const INSERT = statement(
  'payments_insert',
  `insert into payments
     (payment_id, merchant_id, qr_code_id, utr, tr, amount_paise, payer_vpa, status, reason, created_at)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[],
     $8::text[], $9::text[], $10::timestamptz[]) as p (payment_id, merchant_id, qr_code_id, utr) order by utr`,
)

function insertPayments(tx: Writes, payments: readonly Payment[]): void {
  if (payments.length === 0) return
  tx.write(
    INSERT,
    columns(
      payments,
      (p) => p.paymentId,
      (p) => p.merchantId,
      (p) => p.qrCodeId,
      (p) => p.utr,
      (p) => p.tr,
      (p) => p.amountPaise,
      (p) => p.payerVpa,
      (p) => p.status,
      (p) => p.reason,
      (p) => p.createdAt,
    ),
  )
}
