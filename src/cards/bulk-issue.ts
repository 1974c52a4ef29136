import { setImmediate as nextTurn } from 'node:timers/promises'
import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { newId } from '../kernel/ids.ts'
import { statement } from '../platform/db/statement.ts'
import { command, succeedWithCode } from '../platform/http/operation.ts'
import { type BulkLine, insertBulkJobs, sealLine } from './bulk-job.ts'

const BODY_BYTES_MAX = 16 * 1024 * 1024
/** Lines sealed at a time, so that a large upload does not hold up the process. */
const SLICE = 250

interface BulkUpload {
  readonly tenantId: string
  readonly jobId: string
  readonly lines: readonly BulkLine[]
  /** Orders that the partner may have waiting, this upload's included. */
  readonly waitingMax: number
}

const WAITING = statement<{ partner_id: string; waiting: bigint }>(
  'bulk_rows_waiting',
  `select partner_id, sum(row_count - issued - failed)::bigint as waiting from bulk_jobs
   where partner_id = any ($1) and finished_at is null group by partner_id`,
)

/** Ours: takes many sealed orders at once and issues their cards in the background, as a job that survives a crash. */
export const bulkIssue = command({
  id: 'bulkIssueGiftCards',
  method: 'POST',
  path: '/api/v0/partner/svcCard/bulk',
  tag: 'Cards',
  summary: 'Create gift cards in bulk',
  description:
    'Each line is one order, sealed as for a single card. The orders are kept, then carried out in the background, after single orders; a crash loses none and repeats none. Each seal counts once: one that was used before answers the card of its first use. Ask for the progress and the results with the `jobId`.',
  auth: 'partnerWithId',
  family: 'code',
  accepts: ['application/x-ndjson'],
  bodyBytesMax: BODY_BYTES_MAX,
  headers: { partnerId: 'The partner’s id, shared at sign-up (required)' },
  body: Type.Unsafe<Buffer>({
    description:
      'A compact JWE on each line, bare or as a JSON string; at most 16 MiB. Empty lines are passed over.',
  }),
  result: Type.Object(
    {
      jobId: Type.String(),
      rows: Type.Integer({ description: 'Orders in the upload' }),
      status: Type.Enum(['QUEUED']),
    },
    { additionalProperties: false },
  ),
  errors: [],

  prepare({ clock, config, keyring, random }) {
    return async ({ caller, rawBody }): Promise<BulkUpload> => {
      const jobId = newId('blk', clock.now(), random)
      const found = splitLines(rawBody, config.BULK_ROWS_MAX)
      const lines: BulkLine[] = []
      for (let from = 0; from < found.length; from += SLICE) {
        for (const { line, text } of found.slice(from, from + SLICE))
          lines.push({ line, content: sealLine(keyring, jobId, line, text) })
        await nextTurn()
      }
      return { tenantId: caller.tenantId, jobId, lines, waitingMax: config.BULK_WAITING_ROWS_MAX }
    }
  },

  async lock(tx, uploads) {
    const rows = await tx.query(WAITING, [[...new Set(uploads.map(({ tenantId }) => tenantId))]])
    return new Map(rows.map(({ partner_id, waiting }) => [partner_id, Number(waiting)]))
  },
  decide(waiting, upload, now) {
    if ((waiting.get(upload.tenantId) ?? 0) + upload.lines.length > upload.waitingMax)
      fail('overloaded', { retryAfterSeconds: 60 })
    return { jobId: upload.jobId, partnerId: upload.tenantId, lines: upload.lines, createdAt: now }
  },
  apply(waiting, { partnerId, lines }) {
    waiting.set(partnerId, (waiting.get(partnerId) ?? 0) + lines.length)
  },
  save: insertBulkJobs,
  answer: ({ jobId, lines }) => ({
    status: 200,
    body: succeedWithCode({ jobId, rows: lines.length, status: 'QUEUED' }),
  }),
})

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d

/** Lines that are not empty, without the white space around them, and their numbers. */
function splitLines(body: Buffer, most: number): { line: number; text: Buffer }[] {
  const lines: { line: number; text: Buffer }[] = []
  for (let from = 0, line = 1; from < body.length; line++) {
    const newline = body.indexOf(0x0a, from)
    let end = newline === -1 ? body.length : newline
    let start = from
    from = end + 1
    while (start < end && isSpace(body[start])) start++
    while (start < end && isSpace(body[end - 1])) end--
    if (start === end) continue
    if (lines.length === most)
      fail('validation_failed', { description: `the body: must have at most ${most} lines` })
    lines.push({ line, text: body.subarray(start, end) })
  }
  if (lines.length === 0) fail('validation_failed', { description: 'the body: must have at least one line' })
  return lines
}
