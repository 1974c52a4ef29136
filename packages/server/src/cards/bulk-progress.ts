import { fail } from '@svc/contract/errors'
import {
  type BulkJob,
  type BulkRow,
  bulkJobs,
  bulkRows,
  looksLikeBulkJobId,
} from '@svc/core/cards/bulk/bulk-job'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { findRow, idFilter, listOf, type Resource, showOf } from '../http/resource.ts'
import { ofCards } from './get-card.ts'

const OF_JOB = {
  ...ofCards('cards:read'),
  params: Type.Object({ jobId: Type.String({ description: 'The id that the upload returned' }) }),
  errors: ['bulk_job_not_found'],
} as const

const isOfLoads = ({ kind }: BulkJob): boolean => kind === 'load'
const carriedOut = (is: boolean, { issued }: BulkJob): number => (is ? issued : 0)

const bulkJob = {
  titles: { tenant: 'BulkJob', operator: 'BulkJob' },
  looksLikeId: looksLikeBulkJobId,
  from: { columns: bulkJobs.columns, table: 'bulk_jobs j', alias: 'j' },
  tenant: 'j.partner_id',
  keys: [{ sql: 'j.job_id', type: 'text' }],
  fields: {
    jobId: { schema: Type.String(), of: ({ jobId }) => jobId },
    kind: { schema: Type.Enum(['ORDERS', 'LOADS']), of: (job) => (isOfLoads(job) ? 'LOADS' : 'ORDERS') },
    status: {
      schema: Type.Enum(['QUEUED', 'RUNNING', 'DONE']),
      of: ({ finishedAt, startedAt }) => (finishedAt ? 'DONE' : startedAt ? 'RUNNING' : 'QUEUED'),
    },
    rows: {
      schema: Type.Integer({ description: 'Orders or loads in the upload' }),
      of: ({ rowCount }) => rowCount,
    },
    done: {
      schema: Type.Integer({ description: 'Those that were carried out or failed' }),
      of: ({ issued, failed }) => issued + failed,
    },
    issued: {
      schema: Type.Integer({ description: 'Orders that have their card; 0 of loads' }),
      of: (job) => carriedOut(!isOfLoads(job), job),
    },
    loaded: {
      schema: Type.Integer({ description: 'Loads that were made; 0 of orders' }),
      of: (job) => carriedOut(isOfLoads(job), job),
    },
    failed: { schema: Type.Integer(), of: ({ failed }) => failed },
    createdOn: {
      schema: Type.String({ format: 'date-time' }),
      of: ({ createdAt }, timeZone) => rfc3339(createdAt, timeZone),
    },
    modifiedOn: {
      schema: Type.String({ format: 'date-time' }),
      of: ({ modifiedAt }, timeZone) => rfc3339(modifiedAt, timeZone),
    },
  },
  filters: {},
} satisfies Resource<BulkJob>

/** Ours: how far a bulk job has come. */
export const getBulkJob = showOf<BulkJob>(bulkJob, {
  ...OF_JOB,
  id: 'getBulkJob',
  path: '/api/v0/partner/svcCard/bulk/:jobId',
  summary: 'Get the progress of a bulk job',
  notFound: () => fail('bulk_job_not_found'),
})

const bulkResult = {
  titles: { tenant: 'BulkResult', operator: 'BulkResult' },
  from: { columns: bulkRows.columns, table: 'bulk_rows r', alias: 'r' },
  tenant: 'r.partner_id',
  keys: [{ sql: 'r.line', type: 'bigint' }],
  usualSort: 'created',
  fields: {
    row: {
      schema: Type.Integer({ description: 'Number of the line in the upload, from 1' }),
      of: ({ line }) => line,
    },
    status: { schema: Type.Enum(['PENDING', 'ISSUED', 'LOADED', 'FAILED']), of: ({ status }) => status },
    svcCardId: {
      schema: Type.Optional(Type.String({ description: 'The card that was issued, or loaded' })),
      of: ({ svcCardId }) => svcCardId,
    },
    loadId: {
      schema: Type.Optional(Type.String({ description: 'Of a load' })),
      of: ({ loadId }) => loadId,
    },
    error: {
      schema: Type.Optional(
        Type.String({ description: 'The error code that a single request would have returned' }),
      ),
      of: ({ error }) => error,
    },
    errorDescription: {
      schema: Type.Optional(Type.String()),
      of: ({ errorDescription }) => errorDescription,
    },
  },
  filters: { jobId: { schema: idFilter('Of this job'), sql: 'r.job_id = ?' } },
} satisfies Resource<BulkRow>

/** Ours: what came of each row of a bulk job, in the order of its lines. */
export const listBulkResults = listOf<BulkRow>(bulkResult, {
  ...OF_JOB,
  id: 'listBulkResults',
  path: '/api/v0/partner/svcCard/bulk/:jobId/results',
  summary: 'List the results of a bulk job',
  description:
    'A failed row can be sent again in another upload: an order encrypted again, a load under the same reference. Pages can be read while the job runs.',
  async within(tx, scope, { jobId = '' }) {
    if (!(await findRow<BulkJob>(tx, bulkJob, scope, jobId))) fail('bulk_job_not_found')
  },
})
