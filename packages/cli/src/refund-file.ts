import { newId } from '@svc/contract/id-kinds'
import { sendRefund } from '@svc/core/payments/refunds/send-refund'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { statement } from '@svc/platform/db/statement'
import { isVpa } from '@svc/upi-qr/upi-uri'
import type { Command } from 'commander'
import { addBankFileCommands, type BankRun } from './bank-file.ts'
import type { CommandContext } from './context.ts'
import { moneyActor } from './money-actor.ts'

interface RunRow {
  readonly refund_id: string
  readonly merchant_id: string
  readonly amount: Paise
  readonly utr: string
  readonly payer_vpa: string | null
}
const ROWS = `select r.refund_id, r.merchant_id, r.amount_paise as amount, p.utr, p.payer_vpa
  from merchant_refunds r join payments p on p.merchant_id = r.merchant_id and p.payment_id = r.payment_id`
const CHUNK = 1_000
const PENDING = statement<RunRow>(
  'cli_refunds_pending',
  `${ROWS} where r.status = 'PENDING' and r.refund_id > $1 and r.created_at <= $2
   order by r.refund_id limit ${CHUNK}`,
)
const NOW = statement<{ now: Date }>('cli_refunds_now', 'select clock_timestamp() as now')
const OF_RUN = statement<RunRow>('cli_refunds_of_run', `${ROWS} where r.run_id = $1 order by r.refund_id`)
const RUNS = statement<BankRun>(
  'cli_refund_runs',
  `select r.run_id as "runId", count(*) as count, sum(r.amount_paise)::bigint as "amountPaise",
     max(r.sent_at) as "sentAt"
   from merchant_refunds r where r.run_id is not null group by r.run_id order by r.run_id desc limit $1`,
)

export const addRefundFileCommands = (refund: Command): void =>
  addBankFileCommands<RunRow>(refund, {
    name: 'refund',
    waiting: 'pending',
    fields: {
      refundId: { of: ({ refund_id }) => refund_id },
      amount: { of: ({ amount }) => formatRupees(amount) },
      creditUtr: { of: ({ utr }) => utr },
      // The payer's bank states it, masked perhaps; without it the bank returns the money by the credit's reference.
      payerVpa: {
        of: ({ payer_vpa }) => payer_vpa ?? '',
        problemOf: (vpa) => (vpa === '' || isVpa(vpa) ? undefined : 'is not a UPI address'),
      },
    },
    id: ({ refund_id }) => refund_id,
    example: 'creditUtr=RRN,amount=AMOUNT,refundId=REFERENCE',
    send: sendPending,
    ofRun: ({ database }, runId) => database.operate((tx) => tx.query(OF_RUN, [runId])),
    runs: ({ database }, limit) => database.operate((tx) => tx.query(RUNS, [limit])),
  })

/** A refund that another run takes meanwhile stays in that run. */
async function sendPending(
  context: CommandContext,
  hasProblem: (refund: RunRow) => boolean,
): Promise<string> {
  const { commands, database, keyMaker } = context
  const { run } = commands.open(sendRefund)
  const [actor, runId] = [await moneyActor(context), newId('rfr', Date.now(), keyMaker.random)]
  const [{ now }] = (await database.operate((tx) => tx.query(NOW))) as [{ now: Date }]
  for (let after = ''; ; ) {
    const pending = await database.operate((tx) => tx.query(PENDING, [after, now]))
    for (const refund of pending) {
      const { refund_id: refundId, merchant_id: merchantId } = refund
      if (hasProblem(refund)) continue
      await run(
        { merchantId, refundId, runId },
        { actor, action: 'refund.sent', target: refundId, tenantId: merchantId },
      )
    }
    const last = pending.at(-1)
    if (!last || pending.length < CHUNK) return runId
    after = last.refund_id
  }
}
