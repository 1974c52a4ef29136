import { setImmediate as nextTurn } from 'node:timers/promises'
import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import { statement } from '@svc/platform/db/statement'
import { type BulkLine, encryptLine, insertBulkJobs, type NewBulkJob } from './bulk-job.ts'

/** Lines encrypted at a time, so that a large upload does not hold up the process. */
const SLICE = 250

/** One order as it was sent, encrypted for the service. */
export interface OrderLine {
  /** Number of the line in the upload, from 1. */
  readonly line: number
  readonly text: Buffer
}

interface BulkIssue {
  readonly partnerId: string
  readonly lines: readonly OrderLine[]
}

const WAITING = statement<{ partnerId: string; waiting: bigint }>(
  'bulk_rows_waiting',
  `select partner_id as "partnerId", sum(row_count - issued - failed)::bigint as waiting from bulk_jobs
   where partner_id = any ($1) and finished_at is null group by partner_id`,
)

/** Accepts many orders at once; their cards are issued in the background, by a job that survives a crash. */
export const bulkIssue = command({
  name: 'bulkIssueGiftCards',
  batchMax: 1,

  prepare({ config, keyring, newId }) {
    return async ({ partnerId, lines }: BulkIssue) => {
      const jobId = newId('blk')
      const encrypted: BulkLine[] = []
      for (let from = 0; from < lines.length; from += SLICE) {
        for (const { line, text } of lines.slice(from, from + SLICE))
          encrypted.push({ line, content: encryptLine(keyring, jobId, line, text) })
        await nextTurn()
      }
      // Orders that the partner may have waiting, this upload's included.
      return { tenantId: partnerId, jobId, lines: encrypted, waitingMax: config.BULK_WAITING_ROWS_MAX }
    }
  },

  async lock(tx, uploads) {
    const rows = await tx.query(WAITING, [[...new Set(uploads.map(({ tenantId }) => tenantId))]])
    const state = new ByTenant(() => ({ waiting: 0 }))
    for (const { partnerId, waiting } of rows) state.of(partnerId).waiting = Number(waiting)
    return state
  },

  decide({ waiting }, { jobId, tenantId, lines, waitingMax }, now): NewBulkJob {
    if (waiting + lines.length > waitingMax) fail('overloaded', { retryAfterSeconds: 60 })
    return { jobId, partnerId: tenantId, lines, createdAt: now }
  },

  save: insertBulkJobs,
})
