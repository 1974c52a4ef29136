import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { newId } from '../kernel/ids.ts'
import { type AccountKind, account, accountId, lockAccounts } from '../ledger/accounts.ts'
import { saveTransfers, type Transfer } from '../ledger/transfers.ts'
import { PointRead } from '../platform/db/point-read.ts'
import { type RowLock, rowLock } from '../platform/db/row-lock.ts'
import { columns, statement } from '../platform/db/statement.ts'
import { command, ok } from '../platform/http/operation.ts'
import { saveEvents } from '../platform/outbox.ts'
import { UTR_PATTERN } from './accept-payment.ts'
import {
  PAYMENT_COLUMNS,
  type Payment,
  PaymentResponse,
  type PaymentRow,
  paymentToWire,
  toPayment,
} from './payment.ts'

const RefundNotice = Type.Object(
  {
    utr: Type.String({
      pattern: UTR_PATTERN,
      'x-rule': 'must be 6 to 35 letters and digits',
      description: 'The bank’s reference of the credit that it returned',
    }),
  },
  { additionalProperties: false },
)

interface ConfirmRefund {
  readonly tenantId: string
  readonly utr: string
  readonly ids: { readonly transfer: string; readonly event: string }
  readonly timeZone: string
}

interface Confirmed {
  readonly payment: Payment
  readonly transfer: Transfer | undefined
  readonly command: ConfirmRefund
}

const PAYMENTS = statement<PaymentRow>('directory_payments_to_refund', 'select * from directory_payments($1)')

const LOCK: RowLock<PaymentRow> = rowLock('payments_to_refund', {
  select: PAYMENT_COLUMNS,
  from: `from payments p where (p.merchant_id, p.utr) in (select * from unnest($1::text[], $2::text[])) order by p.payment_id`,
  tenant: 'p.merchant_id',
  id: 'p.payment_id',
  of: 'p',
})

const UPDATE = statement(
  'payments_refunded',
  `update payments p set status = 'REFUNDED', refunded_at = done.refunded_at
   from unnest($1::text[], $2::text[], $3::timestamptz[]) as done (payment_id, merchant_id, refunded_at)
   where p.payment_id = done.payment_id and p.merchant_id = done.merchant_id`,
)

/** Decision Q11: the bank has sent a refused credit back to its payer. Idempotent: a repeat gets the same answer. */
export const confirmRefund = command({
  id: 'confirmRefund',
  method: 'POST',
  path: '/rails/upi/refunds',
  tag: 'UPI rail',
  summary: 'Notify that a UPI credit was returned',
  auth: 'rail',
  family: 'response_code',
  headers: {
    'x-rail-signature': 'Signature of the notice: `t=<unix seconds>,v1=<hex HMAC-SHA-256 of "t.body">`',
  },
  body: RefundNotice,
  result: PaymentResponse,
  errors: ['invalid_signature', 'payment_not_found', 'refund_not_due'],

  prepare({ clock, config, database, random }) {
    const payments = new PointRead<PaymentRow>(
      (keys) => database.directory(PAYMENTS, [keys.map(({ id }) => id)]),
      ({ utr }) => ({ tenantId: '', id: utr }),
    )
    return async ({ body: { utr } }): Promise<ConfirmRefund> => {
      const payment = (await payments.get('', utr)) ?? fail('payment_not_found')
      const ids = { transfer: newId('trf', clock.now(), random), event: newId('evt', clock.now(), random) }
      return { tenantId: payment.merchant_id, utr, ids, timeZone: config.BUSINESS_TIME_ZONE }
    }
  },

  async lock(tx, refunds): Promise<Map<string, Payment>> {
    const utrs = new Map(refunds.map((refund) => [refund.utr, refund]))
    const locking = tx.lock(
      LOCK,
      columns(
        [...utrs.values()],
        (r) => r.tenantId,
        (r) => r.utr,
      ),
      utrs.size,
    )
    const kinds = ['upi_clearing', 'upi_refunds', 'suspense'] as const
    const accounts = refunds.flatMap(({ tenantId }) => kinds.map((kind) => account(kind, tenantId)))
    // They travel together; the server takes them in this order, payments before accounts.
    const [rows] = await Promise.all([locking, lockAccounts(tx, accounts)])
    return new Map(rows.map((row) => [row.utr, toPayment(row)]))
  },

  decide(payments, refund, now): Confirmed {
    const payment = payments.get(refund.utr) ?? fail('payment_not_found')
    if (payment.status === 'REFUNDED') return { payment, transfer: undefined, command: refund }
    if (payment.status === 'ACCEPTED') fail('refund_not_due')
    const from: AccountKind = payment.status === 'SUSPENSE' ? 'suspense' : 'upi_refunds'
    return {
      payment: { ...payment, status: 'REFUNDED', refundedAt: now },
      transfer: {
        transferId: refund.ids.transfer,
        tenantId: payment.merchantId,
        kind: 'upi_refund',
        debitAccountId: accountId(from, payment.merchantId),
        creditAccountId: accountId('upi_clearing', payment.merchantId),
        amountPaise: payment.amountPaise,
        objectId: payment.paymentId,
        createdAt: now,
      },
      command: refund,
    }
  },

  apply: (payments, { payment }) => void payments.set(payment.utr, payment),

  save(tx, decisions) {
    const done = decisions.filter((decision) => decision.transfer)
    if (done.length === 0) return
    saveTransfers(
      tx,
      done.flatMap(({ transfer }) => transfer ?? []),
    )
    tx.write(
      UPDATE,
      columns(
        done,
        ({ payment: p }) => p.paymentId,
        ({ payment: p }) => p.merchantId,
        ({ payment: p }) => p.refundedAt,
      ),
    )
    saveEvents(
      tx,
      done.map(({ payment, command: { ids, timeZone } }) => ({
        eventId: ids.event,
        tenantId: payment.merchantId,
        type: 'qr_code.payment_refunded',
        objectId: payment.qrCodeId ?? payment.paymentId,
        payload: { qrCodeId: payment.qrCodeId ?? undefined, ...paymentToWire(payment, timeZone) },
        createdAt: payment.refundedAt!,
      })),
    )
  },

  answer: ({ payment, command: { timeZone } }) => ok(paymentToWire(payment, timeZone)),
})
