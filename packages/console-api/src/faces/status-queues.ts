import { DELIVERIES_UNDER_WAY } from '@svc/core/webhooks/delivery-store'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'

/** Rows that are counted of a queue. */
export const QUEUE_MAX = 10_000

/** What waits, in the order in which it is shown: its rows, and the instant since when each waits. */
const QUEUES = {
  events: 'select created_at as at from unnumbered_events',
  webhooks: `select d.due_at as at from ${DELIVERIES_UNDER_WAY}`,
  credits_to_return: `select created_at as at from payments where status = 'REFUND_PENDING'`,
  refunds_open: `select created_at as at from merchant_refunds where status in ('PENDING', 'SENT')`,
  suspense: `select created_at as at from payments where status = 'SUSPENSE'`,
  bank_notices: `select received_at as at from rail_notices where status = 'QUARANTINED'`,
  payouts_to_approve: `select created_at as at from payouts where status = 'PREPARED'`,
  payouts_to_send: `select approved_at as at from payouts where status = 'APPROVED'`,
  payouts_at_the_bank: `select sent_at as at from payouts where status = 'SENT'`,
  bulk_jobs: 'select created_at as at from bulk_jobs where finished_at is null',
} as const
export type QueueName = keyof typeof QUEUES
export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[]

const READ = statement<{ name: QueueName; waiting: bigint; oldest: Date | null }>(
  'console_status_queues',
  QUEUE_NAMES.map(
    (name) =>
      `select '${name}' as name, count(*) as waiting, min(w.at) as oldest
       from (select q.at from (${QUEUES[name]}) q limit ${QUEUE_MAX}) w`,
  ).join(' union all '),
)

export async function readQueues(tx: Tx, timeZone: string) {
  const found = new Map((await tx.query(READ)).map((row) => [row.name, row]))
  return QUEUE_NAMES.map((name) => {
    const row = found.get(name)
    return {
      name,
      waiting: Number(row?.waiting ?? 0n),
      oldestOn: row?.oldest ? rfc3339(row.oldest, timeZone) : undefined,
    }
  })
}
