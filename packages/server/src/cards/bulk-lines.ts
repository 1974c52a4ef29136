import { fail } from '@svc/contract/errors'
import type { UploadedLine } from '@svc/core/cards/bulk/accept-bulk-job'
import type { BulkLine, BulkOutcome, DueJob } from '@svc/core/cards/bulk/bulk-job'
import { withoutByteOrderMark } from '@svc/kernel/strict-json'
import type { OpenCommand } from '@svc/platform/command'
import { Type } from 'typebox'
import { okWithCode } from '../http/operation.ts'

export type LeasedLine = BulkLine & { readonly attempts: number }

/** How the rows of one kind of job are carried out. */
export interface BulkWork {
  /** The command of a row, and of single requests, which go first. */
  readonly command: Pick<OpenCommand<never, unknown>, 'submitted' | 'quiet'>
  /** Calls `submitting` just before it submits the command. Throws what may pass, and our own errors. */
  readonly carryOut: (job: DueJob, row: LeasedLine, submitting: () => void) => Promise<BulkOutcome>
}

/** Of an upload in bulk. */
export const BULK_BODY_BYTES_MAX = 16 * 1024 * 1024

/** The longest line, and how a failure names it. */
export interface LineLimit {
  readonly bytes: number
  /** Such as `65536 characters, as a JWE has`. */
  readonly text: string
}

export const BULK_ACCEPTED = Type.Object(
  {
    jobId: Type.String(),
    rows: Type.Integer({ description: 'Lines of the upload that are not empty' }),
    status: Type.Enum(['QUEUED']),
  },
  { additionalProperties: false },
)

export const bulkAccepted = ({ jobId, lines }: { jobId: string; lines: readonly unknown[] }) =>
  okWithCode({ jobId, rows: lines.length, status: 'QUEUED' })

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d

/** Lines that are not empty, without the white space around them, and their numbers. */
export function splitLines(upload: Buffer, most: number, limit: LineLimit): UploadedLine[] {
  const body = withoutByteOrderMark(upload)
  const lines: UploadedLine[] = []
  for (let from = 0, line = 1; from < body.length; line++) {
    const newline = body.indexOf(0x0a, from)
    let end = newline === -1 ? body.length : newline
    let start = from
    from = end + 1
    while (start < end && isSpace(body[start])) start++
    while (start < end && isSpace(body[end - 1])) end--
    if (start === end) continue
    if (end - start > limit.bytes)
      fail('validation_failed', { description: `Line ${line} must have at most ${limit.text}` })
    if (lines.length === most)
      fail('validation_failed', { description: `The body must have at most ${most} lines` })
    lines.push({ line, text: body.subarray(start, end) })
  }
  if (lines.length === 0) fail('validation_failed', { description: 'The body must have at least one line' })
  return lines
}
