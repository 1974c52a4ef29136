import { fail } from '@svc/contract/errors'
import { byTenant, lastOfEach } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import { columns, statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { account, accountId, lockAccounts } from '../ledger/accounts.ts'
import type { AccountKind } from '../ledger/chart-of-accounts.ts'
import { journalOf, saveJournals } from '../ledger/journals.ts'
import type { Transfer } from '../ledger/transfers.ts'
import {
  CODE_FACTS,
  type CodeFacts,
  type Payment,
  paymentEvent,
  paymentRecordToWire,
  payments,
} from './payment.ts'

interface ConfirmRefund {
  readonly tenantId: string
  readonly utr: string
  readonly ids: { readonly transfer: string; readonly event: string; readonly ofCode: string }
  readonly timeZone: string
}

type Refundable = Payment & CodeFacts

interface Confirmed {
  readonly payment: Refundable
  readonly transfer: Transfer | undefined
  readonly command: ConfirmRefund
}

const OF_UTRS = statement<Payment>(
  'directory_payments_to_refund',
  `select ${payments.columns} from directory_payments($1) p`,
)

const LOCK = payments.lock<CodeFacts>('to_refund', {
  select: CODE_FACTS,
  joins: 'left join qr_codes q on q.merchant_id = p.merchant_id and q.qr_code_id = p.qr_code_id',
  where: '(p.merchant_id, p.utr) in (select * from unnest($1::text[], $2::text[]))',
})

const saveRefunded = payments.updates(['status', 'refundedAt'])

const tenantOf = (refund: ConfirmRefund) => refund.tenantId
const utrOf = (refund: ConfirmRefund) => refund.utr

/** Records that the bank returned a refused credit to its payer (decision Q11); a repeat changes nothing. */
export const confirmRefund = command({
  name: 'confirmRefund',

  prepare({ config, database, newId }) {
    const found = new BatchedLookup<Payment>(
      (keys) => database.directory(OF_UTRS, [keys.map(({ id }) => id)]),
      ({ utr }) => ({ tenantId: '', id: utr }),
    )
    return async ({ utr }: { readonly utr: string }): Promise<ConfirmRefund> => {
      const payment = (await found.get('', utr)) ?? fail('payment_not_found')
      const ids = { transfer: newId('trf'), event: newId('evt'), ofCode: newId('evt') }
      return { tenantId: payment.merchantId, utr, ids, timeZone: config.BUSINESS_TIME_ZONE }
    }
  },

  async lock(tx, refunds) {
    const wanted = lastOfEach(refunds, tenantOf, utrOf)
    const locking = tx.lock(LOCK, columns(wanted, tenantOf, utrOf), wanted.length)
    const kinds = ['upi_clearing', 'upi_refunds', 'suspense'] as const
    const accounts = refunds.flatMap(({ tenantId }) => kinds.map((kind) => account(kind, tenantId)))
    // They travel together; the server takes them in this order, payments before accounts.
    const [rows] = await Promise.all([locking, lockAccounts(tx, accounts)])
    return byTenant<Refundable, Refundable>(
      rows,
      ({ merchantId }) => merchantId,
      ({ utr }) => utr,
      (payment) => payment,
    )
  },

  decide(ofTenant, refund, now): Confirmed {
    const payment = ofTenant.get(refund.utr) ?? fail('payment_not_found')
    if (payment.status === 'REFUNDED') return { payment, transfer: undefined, command: refund }
    // Also one that was assigned between its lookup and its lock: the money is payable to its merchant.
    if (payment.status !== 'SUSPENSE' && payment.status !== 'REFUND_PENDING') return fail('refund_not_due')
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

  apply: (ofTenant, { payment }) => void ofTenant.set(payment.utr, payment),

  save(tx, decisions) {
    const done = decisions.filter((decision) => decision.transfer)
    if (done.length === 0) return
    saveJournals(
      tx,
      done[0]!.command.timeZone,
      done.flatMap(({ transfer, payment }) => (transfer ? journalOf(transfer, payment.utr) : [])),
    )
    saveRefunded(
      tx,
      done.map(({ payment }) => payment),
    )
    saveEvents(
      tx,
      done.flatMap(({ payment, command: { ids, timeZone } }) => [
        {
          eventId: ids.ofCode,
          tenantId: payment.merchantId,
          type: 'qr_code.payment_refunded' as const,
          objectId: payment.qrCodeId ?? payment.paymentId,
          payload: paymentRecordToWire(payment, timeZone),
          createdAt: payment.refundedAt!,
        },
        paymentEvent('refunded', payment, ids.event, timeZone),
      ]),
    )
  },
})
