import { setImmediate as nextTurn } from 'node:timers/promises'
import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import { statement } from '@svc/platform/db/statement'
import { type BulkKind, type BulkLine, encryptLine, insertBulkJobs, type NewBulkJob } from './bulk-job.ts'

/** Lines encrypted at a time, so that a large upload does not hold up the process. */
const SLICE = 250

/** One line as it was sent; an order is encrypted for the service. */
export interface UploadedLine {
  /** Number of the line in the upload, from 1. */
  readonly line: number
  readonly text: Buffer
}

interface AcceptBulkJob {
  readonly partnerId: string
  readonly kind: BulkKind
  readonly lines: readonly UploadedLine[]
}

const WAITING = statement<{ partnerId: string; waiting: bigint }>(
  'bulk_rows_waiting',
  `select partner_id as "partnerId", sum(row_count - issued - failed)::bigint as waiting from bulk_jobs
   where partner_id = any ($1) and finished_at is null group by partner_id`,
)

/** Accepts many orders, or loads, at once; they are carried out in the background, by a job that survives a crash. */
export const acceptBulkJob = command({
  name: 'acceptBulkJob',
  batchMax: 1,

  prepare({ config, keyring, newId }) {
    return async ({ partnerId, kind, lines }: AcceptBulkJob) => {
      const jobId = newId('blk')
      const encrypted: BulkLine[] = []
      for (let from = 0; from < lines.length; from += SLICE) {
        for (const { line, text } of lines.slice(from, from + SLICE))
          encrypted.push({ line, content: encryptLine(keyring, jobId, line, text) })
        await nextTurn()
      }
      // Rows that the partner may have waiting, this upload's included.
      return { tenantId: partnerId, jobId, kind, lines: encrypted, waitingMax: config.BULK_WAITING_ROWS_MAX }
    }
  },

  async lock(tx, uploads) {
    const rows = await tx.query(WAITING, [[...new Set(uploads.map(({ tenantId }) => tenantId))]])
    const state = new ByTenant(() => ({ waiting: 0 }))
    for (const { partnerId, waiting } of rows) state.of(partnerId).waiting = Number(waiting)
    return state
  },

  decide({ waiting }, { jobId, tenantId, kind, lines, waitingMax }, now): NewBulkJob {
    if (waiting + lines.length > waitingMax) fail('overloaded', { retryAfterSeconds: 60 })
    return { jobId, partnerId: tenantId, kind, lines, createdAt: now }
  },

  save: insertBulkJobs,
})
