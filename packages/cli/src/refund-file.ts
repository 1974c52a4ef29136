import { newId } from '@svc/contract/id-kinds'
import { sendRefund } from '@svc/core/payments/send-refund'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { statement } from '@svc/platform/db/statement'
import type { Command } from 'commander'
import { addBankFileCommands, type BankRun } from './bank-file.ts'
import type { CommandContext } from './context.ts'
import { moneyActor } from './money-actor.ts'

interface Pending {
  readonly refund_id: string
  readonly merchant_id: string
}
const CHUNK = 1_000
const PENDING = statement<Pending>(
  'cli_refunds_pending',
  `select r.refund_id, r.merchant_id from merchant_refunds r where r.status = 'PENDING' and r.created_at <= $1
   order by r.created_at, r.refund_id limit ${CHUNK}`,
)
const NOW = statement<{ now: Date }>('cli_refunds_now', 'select clock_timestamp() as now')

interface RunRow {
  readonly refund_id: string
  readonly amount: Paise
  readonly utr: string
  readonly payer_vpa: string | null
}
const OF_RUN = statement<RunRow>(
  'cli_refunds_of_run',
  `select r.refund_id, r.amount_paise as amount, p.utr, p.payer_vpa
   from merchant_refunds r join payments p on p.merchant_id = r.merchant_id and p.payment_id = r.payment_id
   where r.run_id = $1 order by r.refund_id`,
)
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
      refundId: ({ refund_id }) => refund_id,
      amount: ({ amount }) => formatRupees(amount),
      creditUtr: ({ utr }) => utr,
      payerVpa: ({ payer_vpa }) => payer_vpa ?? '',
    },
    example: 'creditUtr=RRN,amount=AMOUNT,refundId=REFERENCE',
    send: sendPending,
    ofRun: ({ database }, runId) => database.operate((tx) => tx.query(OF_RUN, [runId])),
    runs: ({ database }, limit) => database.operate((tx) => tx.query(RUNS, [limit])),
  })

/** A refund that another run takes meanwhile stays in that run. */
async function sendPending(context: CommandContext): Promise<string> {
  const { commands, database, keyMaker } = context
  const { run } = commands.open(sendRefund)
  const [actor, runId] = [await moneyActor(context), newId('rfr', Date.now(), keyMaker.random)]
  const [{ now }] = (await database.operate((tx) => tx.query(NOW))) as [{ now: Date }]
  for (let pending: Pending[] = []; ; ) {
    pending = await database.operate((tx) => tx.query(PENDING, [now]))
    for (const { refund_id: refundId, merchant_id: merchantId } of pending)
      await run(
        { merchantId, refundId, runId },
        { actor, action: 'refund.sent', target: refundId, tenantId: merchantId },
      )
    if (pending.length < CHUNK) return runId
  }
}
