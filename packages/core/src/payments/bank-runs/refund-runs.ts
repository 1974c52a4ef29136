import { formatRupees, type Paise } from '@svc/kernel/money'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { isVpa } from '@svc/upi-qr/upi-uri'
import type { BankResponse } from '../../bank-files/response-rows.ts'
import { WaitingApproval } from '../../ledger/money-command.ts'
import { completeRefund } from '../refunds/complete-refund.ts'
import { findRefund } from '../refunds/find-refund.ts'
import type { MerchantRefund } from '../refunds/merchant-refund.ts'
import { sendRefund } from '../refunds/send-refund.ts'
import { type BankRunSteps, type BankRuns, type Became, CHUNK, runsOf } from './bank-run.ts'
import { done, left, notNamed, otherAmount, WAITS } from './results.ts'

interface RefundToSend {
  readonly refundId: string
  readonly merchantId: string
  readonly amountPaise: Paise
  readonly creditUtr: string
  readonly payerVpa: string | null
}
const ROWS = `select r.refund_id as "refundId", r.merchant_id as "merchantId", r.amount_paise as "amountPaise",
    p.utr as "creditUtr", p.payer_vpa as "payerVpa"
  from merchant_refunds r join payments p on p.merchant_id = r.merchant_id and p.payment_id = r.payment_id`
const WAITING = statement<RefundToSend>(
  'refunds_to_send',
  `${ROWS} where r.status = 'PENDING' and r.refund_id > $1 order by r.refund_id limit ${CHUNK}`,
)
const OF_RUN = statement<RefundToSend>('refunds_of_run', `${ROWS} where r.run_id = $1 order by r.refund_id`)
const RUNS = runsOf('refund', 'merchant_refunds')

export const REFUND_RUNS: BankRuns<RefundToSend> = {
  name: 'refund',
  waiting: 'pending',
  runIdPrefix: 'rfr',
  fields: {
    refundId: { of: ({ refundId }) => refundId },
    amount: { of: ({ amountPaise }) => formatRupees(amountPaise) },
    creditUtr: { of: ({ creditUtr }) => creditUtr },
    // The payer's bank states it, masked perhaps; without it the bank returns the money by the credit's reference.
    payerVpa: {
      of: ({ payerVpa }) => payerVpa ?? '',
      problemOf: (vpa) => (vpa === '' || isVpa(vpa) ? undefined : 'is not a UPI address'),
    },
  },
  idOf: ({ refundId }) => refundId,
  amountOf: ({ amountPaise }) => amountPaise,
  listWaiting: (tx, afterId) => tx.query(WAITING, [afterId]),
  ofRun: (tx, runId) => tx.query(OF_RUN, [runId]),
  runs: (tx, limit) => tx.query(RUNS, [limit]),
  outcomes: { refunded: ['done', 'REFUNDED'], failed: ['failed', 'FAILED,REJECTED'] },

  async preview(database, response) {
    const refund = await findStated(database, response)
    if ('result' in refund) return refund
    const to = response.outcome === 'done' ? 'REFUNDED' : 'FAILED'
    return done(refund.status === to ? to : `would be ${to}; it is ${refund.status}`)
  },
}

export const REFUND_STEPS: BankRunSteps<RefundToSend> = {
  sendOne: (commands, { merchantId, refundId }, runId, by) =>
    commands
      .open(sendRefund)
      .run(
        { merchantId, refundId, runId },
        { ...by, action: 'refund.sent', target: refundId, tenantId: merchantId },
      ),

  async record({ commands, database }, response, { file, ...by }) {
    const refund = await findStated(database, response)
    if ('result' in refund) return refund
    const { merchantId: tenantId, refundId } = refund
    const outcome = {
      refundId,
      utr: response.utr ?? null,
      amountPaise: response.amountPaise,
      failureReason: response.outcome === 'failed' ? (response.reason ?? response.word) : null,
    }
    const audit = { ...by, action: 'refund.completed', target: refundId, tenantId }
    const completed = await commands.open(completeRefund).run({ read: { outcome }, file }, audit)
    if (completed instanceof WaitingApproval) return WAITS
    const status = completed.refund?.status ?? refund.status
    return status === 'REFUNDED' || status === 'FAILED' ? done(status) : left(status)
  },
}

/** The refund that a response is of, or why nothing is recorded. */
async function findStated(database: Database, response: BankResponse): Promise<MerchantRefund | Became> {
  if (response.outcome === undefined) return notNamed(response, REFUND_RUNS)
  const refund = await database.operate((tx) => findRefund(tx, response.id))
  if (!refund) return left('no such refund')
  return otherAmount(response, refund.amountPaise) ?? refund
}
