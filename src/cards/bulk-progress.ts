import { Type } from 'typebox'
import { type ErrorWord, fail } from '../errors.ts'
import { rfc3339 } from '../kernel/time.ts'
import type { Database } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import { query, succeedWithCode } from '../platform/http/operation.ts'
import { Cursor, LIMIT_DEFAULT, LIMIT_MAX, PageOf, page, readCursor } from '../platform/http/page.ts'
import { looksLikeBulkJobId } from './bulk-job.ts'

interface JobRow {
  job_id: string
  row_count: number
  issued: number
  failed: number
  created_at: Date
  modified_at: Date
  started_at: Date | null
  finished_at: Date | null
}

const FIND = statement<JobRow>(
  'bulk_job_find',
  `select job_id, row_count, issued, failed, created_at, modified_at, started_at, finished_at
   from bulk_jobs where partner_id = $1 and job_id = $2`,
)

async function findJob(database: Database, partnerId: string, jobId: string): Promise<JobRow> {
  const [job] = looksLikeBulkJobId(jobId)
    ? await database.read([partnerId], (tx) => tx.query(FIND, [partnerId, jobId]))
    : []
  return job ?? fail('bulk_job_not_found')
}

const params = Type.Object({ jobId: Type.String({ description: 'The id that the upload answered' }) })
const headers = { partnerId: 'The partner’s id, shared at sign-up (required)' }

/** Ours: how far a bulk job has come. */
export const getBulkJob = query({
  id: 'getBulkJob',
  method: 'GET',
  path: '/api/v0/partner/svcCard/bulk/:jobId',
  tag: 'Cards',
  summary: 'Get the progress of a bulk job',
  auth: 'partnerWithId',
  family: 'code',
  headers,
  params,
  result: Type.Object(
    {
      jobId: Type.String(),
      status: Type.Enum(['QUEUED', 'RUNNING', 'DONE']),
      rows: Type.Integer({ description: 'Orders in the upload' }),
      done: Type.Integer({ description: 'Orders that were issued or failed' }),
      issued: Type.Integer(),
      failed: Type.Integer(),
      createdOn: Type.String({ format: 'date-time' }),
      modifiedOn: Type.String({ format: 'date-time' }),
    },
    { title: 'BulkJob', additionalProperties: false },
  ),
  errors: ['bulk_job_not_found'],

  mount({ config, database }) {
    return async ({ caller, params: { jobId } }) => {
      const job = await findJob(database, caller.tenantId, jobId)
      const { row_count: rows, issued, failed } = job
      const status = job.finished_at ? 'DONE' : job.started_at ? 'RUNNING' : 'QUEUED'
      const [createdOn, modifiedOn] = [job.created_at, job.modified_at].map((at) =>
        rfc3339(at, config.BUSINESS_TIME_ZONE),
      )
      const done = issued + failed
      return { body: succeedWithCode({ jobId, status, rows, done, issued, failed, createdOn, modifiedOn }) }
    }
  },
})

interface ResultRow {
  line: number
  status: 'PENDING' | 'ISSUED' | 'FAILED'
  svc_card_id: string | null
  error: ErrorWord | null
  error_description: string | null
}

const RESULTS = statement<ResultRow>(
  'bulk_rows_results',
  `select line, status, svc_card_id, error, error_description from bulk_rows
   where partner_id = $1 and job_id = $2 and line > $3 order by line limit $4`,
)

/** Ours: what came of each order of a bulk job, in the order of its lines. */
export const listBulkResults = query({
  id: 'listBulkResults',
  method: 'GET',
  path: '/api/v0/partner/svcCard/bulk/:jobId/results',
  tag: 'Cards',
  summary: 'List the results of a bulk job',
  description:
    'A row that failed may be sent again in another upload, sealed anew. Pages may be read while the job runs.',
  auth: 'partnerWithId',
  family: 'code',
  headers,
  params,
  query: Type.Object(
    {
      // Query parameters are text: nothing is coerced (design, rule 7).
      limit: Type.Optional(
        Type.String({
          pattern: '^[1-9][0-9]{0,2}$',
          'x-rule': `must be a whole number from 1 to ${LIMIT_MAX}`,
          description: `${LIMIT_DEFAULT} by default, ${LIMIT_MAX} at most`,
        }),
      ),
      after: Type.Optional(Cursor),
    },
    { additionalProperties: false },
  ),
  result: PageOf(
    Type.Object(
      {
        row: Type.Integer({ description: 'Number of the line in the upload, from 1' }),
        status: Type.Enum(['PENDING', 'ISSUED', 'FAILED']),
        svcCardId: Type.Optional(Type.String()),
        error: Type.Optional(
          Type.String({ description: 'The word that a single order would have been answered with' }),
        ),
        errorDescription: Type.Optional(Type.String()),
      },
      { title: 'BulkResult', additionalProperties: false },
    ),
  ),
  errors: ['bulk_job_not_found'],

  mount({ database }) {
    return async ({ caller: { tenantId }, params: { jobId }, query: { limit, after } }) => {
      const most = limit === undefined ? LIMIT_DEFAULT : Number(limit)
      if (most > LIMIT_MAX)
        fail('validation_failed', { description: `limit: must be a whole number from 1 to ${LIMIT_MAX}` })
      const position = readCursor(after)
      const job = await findJob(database, tenantId, jobId)
      const last = /^\d{1,9}$/.test(position?.id ?? '') ? Number(position!.id) : 0
      const rows = await database.read([tenantId], (tx) =>
        tx.query(RESULTS, [tenantId, jobId, last, most + 1]),
      )
      return {
        body: succeedWithCode(
          page(rows, most, (row) => ({ at: job.created_at, id: String(row.line) }), toBulkResult),
        ),
      }
    }
  },
})

const toBulkResult = ({ line, status, svc_card_id, error, error_description }: ResultRow) => ({
  row: line,
  status,
  ...(svc_card_id !== null && { svcCardId: svc_card_id }),
  ...(error !== null && { error, errorDescription: error_description }),
})
