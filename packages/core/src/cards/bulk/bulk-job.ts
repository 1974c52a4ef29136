import type { ErrorCode } from '@svc/contract/errors'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Tx, Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import {
  bytes,
  generated,
  instant,
  integer,
  nullable,
  type RowOf,
  secret,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'

/** One line of an upload, encrypted by the keyring for its place. */
export interface BulkLine {
  /** Number of the line in the upload, from 1. */
  readonly line: number
  readonly content: Buffer
}

/** What the rows of a job are: orders of cards, or loads. */
export type BulkKind = 'issue' | 'load'

/** What came of one row. `later`: nothing yet, for a reason that passes. */
export type BulkOutcome =
  | { readonly line: number; readonly status: 'ISSUED'; readonly svcCardId: string }
  | {
      readonly line: number
      readonly status: 'LOADED'
      readonly svcCardId: string
      readonly loadId: string
    }
  | {
      readonly line: number
      readonly status: 'FAILED'
      readonly error: ErrorCode
      readonly errorDescription: string
    }
  | { readonly line: number; readonly status: 'later' }
type Done = Exclude<BulkOutcome, { status: 'later' }>

const placeOf = (jobId: string, line: number): string => `bulk ${jobId} ${line}`

export const encryptLine = (keyring: Keyring, jobId: string, line: number, order: Uint8Array): Buffer =>
  keyring.encrypt('bulk_row', order, placeOf(jobId, line))

export const openLine = (keyring: Keyring, jobId: string, { line, content }: BulkLine): Buffer =>
  keyring.open('bulk_row', content, placeOf(jobId, line))

const ID = /^blk_[0-9a-z]{26}$/
/** Whether the id has the form of our ids; any other gets the response for a missing one (decision A12). */
export const looksLikeBulkJobId = (id: string): boolean => ID.test(id)

/** Uploads of many orders or loads, carried out in the background. */
export const bulkJobs = table('bulk_jobs', 'j', ['partnerId', 'jobId'], {
  jobId: text,
  partnerId: text,
  kind: textOf<BulkKind>(),
  rowCount: integer,
  /** Carried out: cards issued, or loaded. */
  issued: generated(integer),
  failed: generated(integer),
  createdAt: instant,
  modifiedAt: instant,
  startedAt: generated(nullable(instant)),
  finishedAt: generated(nullable(instant)),
})
export type BulkJob = RowOf<typeof bulkJobs>

/** Orders and loads of bulk jobs, but for their leases. */
export const bulkRows = table('bulk_rows', 'r', ['partnerId', 'jobId', 'line'], {
  jobId: text,
  partnerId: text,
  line: integer,
  status: generated(textOf<'PENDING' | 'ISSUED' | 'LOADED' | 'FAILED'>()),
  /** The line as it was sent, encrypted once more; gone when the row is done. */
  content: secret(nullable(bytes)),
  svcCardId: generated(nullable(text)),
  loadId: generated(nullable(text)),
  error: generated(nullable(textOf<ErrorCode>())),
  errorDescription: generated(nullable(text)),
})
export type BulkRow = RowOf<typeof bulkRows>

export interface NewBulkJob {
  readonly jobId: string
  readonly partnerId: string
  readonly kind: BulkKind
  readonly lines: readonly BulkLine[]
  readonly createdAt: Date
}

/** Rows written by one statement: a whole upload as one parameter would hold up the process while it is encoded. */
const SLICE = 1_000

/** Writes jobs with all their rows. */
export function insertBulkJobs(tx: Writes, jobs: readonly NewBulkJob[]): void {
  bulkJobs.insert(
    tx,
    jobs.map(({ lines, ...job }) => ({ ...job, rowCount: lines.length, modifiedAt: job.createdAt })),
  )
  for (const { jobId, partnerId, lines } of jobs)
    for (let from = 0; from < lines.length; from += SLICE)
      bulkRows.insert(
        tx,
        lines.slice(from, from + SLICE).map((line) => ({ ...line, jobId, partnerId })),
      )
}

/** A job that has rows to do, and whose it is. */
export type OpenJob = Pick<BulkJob, 'partnerId' | 'jobId'>

export interface DueJob extends OpenJob {
  readonly kind: BulkKind
  /** Its partner is closing: what is left of it fails (decision A14). */
  readonly isClosing: boolean
}

/** The oldest job of each kind with something to do of each partner, at most so many partners of each. */
export const OPEN_JOBS = statement<DueJob>(
  'bulk_jobs_open',
  `select partner_id as "partnerId", job_id as "jobId", 'issue' as kind, false as "isClosing"
   from directory_bulk_jobs($1)
   union all
   select partner_id, job_id, 'issue', true from directory_bulk_jobs_closing($1)
   union all
   select partner_id, job_id, 'load', is_closing from directory_bulk_loads($1)`,
)

const START = statement(
  'bulk_job_start',
  `update bulk_jobs set started_at = clock_timestamp() + $3 * interval '1 millisecond'
   where partner_id = $1 and job_id = $2 and started_at is null`,
)
const LEASE = statement<BulkLine & { readonly attempts: number }>(
  'bulk_rows_lease',
  `update bulk_rows r
   set leased_until = clock_timestamp() + $3 * interval '1 millisecond', attempts = least(r.attempts + 1, 1000)
   where r.partner_id = $1 and r.job_id = $2 and r.line = any (array(
     select line from bulk_rows
     where partner_id = $1 and job_id = $2 and status = 'PENDING' and leased_until <= clock_timestamp()
     order by line limit $4 for no key update skip locked))
   returning r.line, r.content, r.attempts`,
)

/** Leases the next rows of a job, so that no other process begins them. Leases are of the real time, whatever the job's. */
export async function leaseLines(
  tx: Tx,
  { partnerId, jobId }: OpenJob,
  leaseMs: number,
  most: number,
  clockOffsetMs: number,
) {
  await tx.query(START, [partnerId, jobId, clockOffsetMs])
  const leased = await tx.query(LEASE, [partnerId, jobId, leaseMs, most])
  return leased.toSorted((a, b) => a.line - b.line)
}

const LOCK_JOB = statement(
  'bulk_job_lock',
  'select from bulk_jobs where partner_id = $1 and job_id = $2 for no key update',
)
const RELEASE = statement(
  'bulk_rows_release',
  `update bulk_rows set leased_until = clock_timestamp() + interval '1 second'
   where partner_id = $1 and job_id = $2 and line = any ($3) and status = 'PENDING'`,
)
// Only rows that are still pending count: after a lease ran out, two processes may report the same row.
const FINISH = statement(
  'bulk_rows_finish',
  `with done as (
     update bulk_rows r
     set status = o.status, svc_card_id = o.svc_card_id, load_id = o.load_id, error = o.error,
       error_description = o.error_description, content = null
     from unnest($3::integer[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
       as o (line, status, svc_card_id, load_id, error, error_description)
     where r.partner_id = $1 and r.job_id = $2 and r.line = o.line and r.status = 'PENDING'
     returning r.status),
   counted as (
     select count(*) filter (where status <> 'FAILED') as issued, count(*) filter (where status = 'FAILED') as failed
     from done)
   update bulk_jobs j
   set issued = j.issued + counted.issued, failed = j.failed + counted.failed, modified_at = t.now,
     finished_at = case when j.issued + j.failed + counted.issued + counted.failed = j.row_count then t.now end
   from counted, (select clock_timestamp() + $9 * interval '1 millisecond' as now) as t
   where j.partner_id = $1 and j.job_id = $2 and counted.issued + counted.failed > 0`,
)

/** Records what came of rows, each once, and counts it in the job. The job is locked first, so that no two wait crosswise. */
export async function saveOutcomes(
  tx: Tx,
  { partnerId, jobId }: OpenJob,
  outcomes: readonly BulkOutcome[],
  clockOffsetMs: number,
): Promise<void> {
  const done = outcomes.filter((outcome): outcome is Done => outcome.status !== 'later')
  const later = outcomes.filter(({ status }) => status === 'later').map(({ line }) => line)
  await tx.query(LOCK_JOB, [partnerId, jobId])
  if (later.length > 0) await tx.query(RELEASE, [partnerId, jobId, later])
  if (done.length === 0) return
  await tx.query(FINISH, [
    partnerId,
    jobId,
    ...columns(
      done,
      ({ line }) => line,
      ({ status }) => status,
      (outcome) => ('svcCardId' in outcome ? outcome.svcCardId : null),
      (outcome) => ('loadId' in outcome ? outcome.loadId : null),
      (outcome) => (outcome.status === 'FAILED' ? outcome.error : null),
      (outcome) => (outcome.status === 'FAILED' ? outcome.errorDescription : null),
    ),
    clockOffsetMs,
  ])
}
