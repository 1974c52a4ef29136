import type { ErrorWord } from '../errors.ts'
import type { Keyring } from '../platform/crypto/keyring.ts'
import type { Tx, Writes } from '../platform/db/database.ts'
import { columns, statement } from '../platform/db/statement.ts'

/** One line of an upload, sealed under the keyring for its place. */
export interface BulkLine {
  /** Number of the line in the upload, from 1. */
  readonly line: number
  readonly content: Buffer
}

/** What came of one order. `later`: nothing yet, for a reason that passes. */
export type BulkOutcome =
  | { readonly line: number; readonly status: 'ISSUED'; readonly svcCardId: string }
  | {
      readonly line: number
      readonly status: 'FAILED'
      readonly error: ErrorWord
      readonly errorDescription: string
    }
  | { readonly line: number; readonly status: 'later' }
type Done = Exclude<BulkOutcome, { status: 'later' }>

const placeOf = (jobId: string, line: number): string => `bulk ${jobId} ${line}`

export const sealLine = (keyring: Keyring, jobId: string, line: number, text: Uint8Array): Buffer =>
  keyring.seal('bulk_row', text, placeOf(jobId, line))

export const openLine = (keyring: Keyring, jobId: string, { line, content }: BulkLine): Buffer =>
  keyring.open('bulk_row', content, placeOf(jobId, line))

const ID = /^blk_[0-9a-z]{26}$/
/** Whether the id can be one of ours; any other is answered like a missing one (decision A12). */
export const looksLikeBulkJobId = (text: string): boolean => ID.test(text)

const INSERT_JOB = statement(
  'bulk_jobs_insert',
  `insert into bulk_jobs (job_id, partner_id, row_count, created_at, modified_at)
   select *, $4, $4 from unnest($1::text[], $2::text[], $3::integer[]) order by 1`,
)
const INSERT_ROWS = statement(
  'bulk_rows_insert',
  `insert into bulk_rows (job_id, partner_id, line, content)
   select $1, $2, * from unnest($3::integer[], $4::bytea[])`,
)

export interface NewBulkJob {
  readonly jobId: string
  readonly partnerId: string
  readonly lines: readonly BulkLine[]
  readonly createdAt: Date
}

/** Rows written by one statement: a whole upload as one parameter would hold up the process while it is encoded. */
const SLICE = 1_000

/** Writes jobs with all their rows. */
export function insertBulkJobs(tx: Writes, jobs: readonly NewBulkJob[]): void {
  for (const { jobId, partnerId, lines, createdAt } of jobs) {
    tx.write(INSERT_JOB, [[jobId], [partnerId], [lines.length], createdAt])
    for (let from = 0; from < lines.length; from += SLICE)
      tx.write(INSERT_ROWS, [
        jobId,
        partnerId,
        ...columns(
          lines.slice(from, from + SLICE),
          (row) => row.line,
          (row) => row.content,
        ),
      ])
  }
}

/** A job that has rows to take, and whose it is. */
export interface OpenJob {
  readonly partner_id: string
  readonly job_id: string
}

/** The oldest job with something to do of each partner, at most so many partners. */
export const OPEN_JOBS = statement<OpenJob>(
  'bulk_jobs_open',
  'select partner_id, job_id from directory_bulk_jobs($1)',
)

const START = statement(
  'bulk_job_start',
  `update bulk_jobs set started_at = clock_timestamp() where partner_id = $1 and job_id = $2 and started_at is null`,
)
const LEASE = statement<BulkLine & { readonly attempts: number }>(
  'bulk_rows_lease',
  `update bulk_rows r
   set leased_until = clock_timestamp() + $3 * interval '1 millisecond', attempts = least(r.attempts + 1, 1000)
   where r.partner_id = $1 and r.job_id = $2 and r.line in (
     select line from bulk_rows
     where partner_id = $1 and job_id = $2 and status = 'PENDING' and leased_until <= clock_timestamp()
     order by line limit $4 for no key update skip locked)
   returning r.line, r.content, r.attempts`,
)

/** Takes the next rows of a job for a while, so that no other process begins them. */
export async function leaseLines(tx: Tx, { partner_id, job_id }: OpenJob, leaseMs: number, most: number) {
  await tx.query(START, [partner_id, job_id])
  return tx.query(LEASE, [partner_id, job_id, leaseMs, most])
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
// Only rows that are still pending count: after a lease ran out, two processes may tell of the same row.
const FINISH = statement(
  'bulk_rows_finish',
  `with done as (
     update bulk_rows r
     set status = o.status, svc_card_id = o.svc_card_id, error = o.error, error_description = o.error_description,
       content = null
     from unnest($3::integer[], $4::text[], $5::text[], $6::text[], $7::text[])
       as o (line, status, svc_card_id, error, error_description)
     where r.partner_id = $1 and r.job_id = $2 and r.line = o.line and r.status = 'PENDING'
     returning r.status),
   told as (
     select count(*) filter (where status = 'ISSUED') as issued, count(*) filter (where status = 'FAILED') as failed
     from done)
   update bulk_jobs j
   set issued = j.issued + told.issued, failed = j.failed + told.failed, modified_at = t.now,
     finished_at = case when j.issued + j.failed + told.issued + told.failed = j.row_count then t.now end
   from told, (select clock_timestamp() + $8 * interval '1 millisecond' as now) as t
   where j.partner_id = $1 and j.job_id = $2 and told.issued + told.failed > 0`,
)

/** Records what came of rows, each once, and counts it in the job. The job is locked first, so that no two wait crosswise. */
export async function saveOutcomes(
  tx: Tx,
  { partner_id, job_id }: OpenJob,
  outcomes: readonly BulkOutcome[],
  clockOffsetMs: number,
): Promise<void> {
  const done = outcomes.filter((outcome): outcome is Done => outcome.status !== 'later')
  const later = outcomes.filter(({ status }) => status === 'later').map(({ line }) => line)
  await tx.query(LOCK_JOB, [partner_id, job_id])
  if (later.length > 0) await tx.query(RELEASE, [partner_id, job_id, later])
  if (done.length === 0) return
  await tx.query(FINISH, [
    partner_id,
    job_id,
    ...columns(
      done,
      ({ line }) => line,
      ({ status }) => status,
      (outcome) => (outcome.status === 'ISSUED' ? outcome.svcCardId : null),
      (outcome) => (outcome.status === 'FAILED' ? outcome.error : null),
      (outcome) => (outcome.status === 'FAILED' ? outcome.errorDescription : null),
    ),
    clockOffsetMs,
  ])
}
