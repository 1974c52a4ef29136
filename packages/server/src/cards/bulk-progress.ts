import { fail } from '@svc/contract/errors'
import {
  type BulkJob,
  type BulkRow,
  bulkJobs,
  bulkRows,
  looksLikeBulkJobId,
} from '@svc/core/cards/bulk/bulk-job'
import { rfc3339 } from '@svc/kernel/time'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { PARTNER_ID, query, succeedWithCode } from '../http/operation.ts'
import { PageOf, PageQuery, page, readLimit, readNumberedCursor } from '../http/page.ts'

async function findJob(database: Database, partnerId: string, jobId: string): Promise<BulkJob> {
  const [job] = looksLikeBulkJobId(jobId)
    ? await database.read([partnerId], (tx) => tx.query(bulkJobs.find, bulkJobs.keys([{ partnerId, jobId }])))
    : []
  return job ?? fail('bulk_job_not_found')
}

const params = Type.Object({ jobId: Type.String({ description: 'The id that the upload returned' }) })
const headers = { partnerId: PARTNER_ID }

/** Ours: how far a bulk job has come. */
export const getBulkJob = query({
  id: 'getBulkJob',
  method: 'GET',
  path: '/api/v0/partner/svcCard/bulk/:jobId',
  tag: 'Cards',
  summary: 'Get the progress of a bulk job',
  auth: 'partnerWithId',
  scope: 'cards:read',
  envelope: 'code',
  headers,
  params,
  result: Type.Object(
    {
      jobId: Type.String(),
      kind: Type.Enum(['ORDERS', 'LOADS']),
      status: Type.Enum(['QUEUED', 'RUNNING', 'DONE']),
      rows: Type.Integer({ description: 'Orders or loads in the upload' }),
      done: Type.Integer({ description: 'Those that were carried out or failed' }),
      issued: Type.Integer({ description: 'Orders that have their card; 0 of loads' }),
      loaded: Type.Integer({ description: 'Loads that were made; 0 of orders' }),
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
      const { rowCount: rows, issued: carriedOut, failed } = job
      const isOfLoads = job.kind === 'load'
      const status = job.finishedAt ? 'DONE' : job.startedAt ? 'RUNNING' : 'QUEUED'
      const [createdOn, modifiedOn] = [job.createdAt, job.modifiedAt].map((at) =>
        rfc3339(at, config.BUSINESS_TIME_ZONE),
      )
      return {
        body: succeedWithCode({
          jobId,
          kind: isOfLoads ? 'LOADS' : 'ORDERS',
          status,
          rows,
          done: carriedOut + failed,
          issued: isOfLoads ? 0 : carriedOut,
          loaded: isOfLoads ? carriedOut : 0,
          failed,
          createdOn,
          modifiedOn,
        }),
      }
    }
  },
})

const RESULTS = statement<BulkRow>(
  'bulk_rows_results',
  `select ${bulkRows.columns} from bulk_rows r
   where r.partner_id = $1 and r.job_id = $2 and r.line > $3::bigint order by r.line limit $4`,
)

/** Ours: what came of each row of a bulk job, in the order of its lines. */
export const listBulkResults = query({
  id: 'listBulkResults',
  method: 'GET',
  path: '/api/v0/partner/svcCard/bulk/:jobId/results',
  tag: 'Cards',
  summary: 'List the results of a bulk job',
  description:
    'A failed row can be sent again in another upload: an order encrypted again, a load under the same reference. Pages can be read while the job runs.',
  auth: 'partnerWithId',
  scope: 'cards:read',
  envelope: 'code',
  headers,
  params,
  query: PageQuery,
  result: PageOf(
    Type.Object(
      {
        row: Type.Integer({ description: 'Number of the line in the upload, from 1' }),
        status: Type.Enum(['PENDING', 'ISSUED', 'LOADED', 'FAILED']),
        svcCardId: Type.Optional(Type.String({ description: 'The card that was issued, or loaded' })),
        loadId: Type.Optional(Type.String({ description: 'Of a load' })),
        error: Type.Optional(
          Type.String({ description: 'The error code that a single request would have returned' }),
        ),
        errorDescription: Type.Optional(Type.String()),
      },
      { title: 'BulkResult', additionalProperties: false },
    ),
  ),
  errors: ['bulk_job_not_found'],

  mount({ database }) {
    return async ({ caller: { tenantId }, params: { jobId }, query }) => {
      const limit = readLimit(query.limit)
      const last = readNumberedCursor(query.after) ?? 0
      const job = await findJob(database, tenantId, jobId)
      const rows = await database.read([tenantId], (tx) =>
        tx.query(RESULTS, [tenantId, jobId, last, limit + 1]),
      )
      return {
        body: succeedWithCode(
          page(rows, limit, (row) => ({ at: job.createdAt, id: String(row.line) }), toBulkResult),
        ),
      }
    }
  },
})

const toBulkResult = ({ line, status, svcCardId, loadId, error, errorDescription }: BulkRow) => ({
  row: line,
  status,
  ...(svcCardId !== null && { svcCardId }),
  ...(loadId !== null && { loadId }),
  ...(error !== null && { error, errorDescription }),
})
