import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import type { OutboxEvent } from '@svc/platform/outbox'
import { accountId } from '../ledger/accounts.ts'
import { type Journal, journalOf } from '../ledger/journals.ts'
import type { Transfer } from '../ledger/transfers.ts'
import { closedEvent, type QrCode } from '../qr-codes/qr-code.ts'
import { type CodeFacts, type Payment, paymentEvent, paymentRecordToWire } from './payment.ts'

/** A single-use code is used up by its one payment, and says so by its status (decision Q5). */
export const credited = <C extends QrCode>(code: C, { amountPaise, utr, createdAt: now }: Payment): C => ({
  ...code,
  acceptedCount: code.acceptedCount + 1,
  acceptedPaise: paise(code.acceptedPaise + amountPaise),
  lastUtr: utr,
  revision: code.revision + 1,
  ...(code.multipleUse ? {} : { status: 'CANCELLED', closeReason: 'paid', closedAt: now, modifiedAt: now }),
})

const CREDIT_TO = { ACCEPTED: 'payable', REFUND_PENDING: 'upi_refunds', SUSPENSE: 'suspense' } as const

/** What a new payment moves. */
export function transferOf(payment: Payment, transferId: string): Transfer {
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

/** In the books of the day on which the payer's bank made the transaction, where its notice says so (decision R4). */
export function creditJournal(
  transfer: Transfer,
  { utr, transactionAt, createdAt }: Payment,
  timeZone: string,
): Journal {
  const isEarlier = transactionAt !== null && transactionAt < createdAt
  const effectiveDate = calendarDay(isEarlier ? transactionAt : createdAt, timeZone)
  return { ...journalOf(transfer, utr), effectiveDate }
}

/** A new payment with its code after it, where the code accepted it. */
interface Recorded {
  readonly payment: Payment | undefined
  readonly facts: CodeFacts
  readonly code: QrCode | undefined
  readonly command: {
    readonly ids: { readonly event: string; readonly cancelled: string }
    readonly timeZone: string
  }
}

export function eventsOf({ payment, facts, code, command: { ids, timeZone } }: Recorded): OutboxEvent[] {
  if (!payment) return []
  const { referenceNumber, customParams } = facts
  const record = { ...payment, referenceNumber, customParams }
  // A merchant learns of a late credit when it arrives, not when the bank confirms its refund.
  if (!code)
    return [
      paymentEvent(payment.qrCodeId === null ? 'suspended' : 'refund_pending', record, ids.event, timeZone),
    ]
  const event: OutboxEvent = {
    eventId: ids.event,
    tenantId: payment.merchantId,
    type: 'qr_code.credited',
    objectId: code.qrCodeId,
    payload: paymentRecordToWire(record, timeZone),
    createdAt: payment.createdAt,
  }
  return code.status === 'CANCELLED'
    ? [event, closedEvent(code, 'payment', ids.cancelled, timeZone)]
    : [event]
}
