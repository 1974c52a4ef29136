import { Type } from 'typebox'
import { query } from '../platform/http/operation.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  instant,
  maybeInstant,
  oneOf,
  record,
} from './console-schema.ts'
import { later } from './later.ts'

const count = (description: string) => Type.Integer({ description })

const Bucket = record('OverviewBucket', {
  at: instant,
  requests: count('Requests answered, of all operations of the API'),
  failures: count('Of these, failures'),
  payments: count('Payments accepted'),
  paymentsAmount: Type.Number({ description: 'Rupees' }),
  cardsIssued: count('Cards issued, in bulk too'),
})

const Overview = record('Overview', {
  range: Type.Enum(['hour', 'day', 'week']),
  bucketSeconds: Type.Integer(),
  buckets: Type.Array(Bucket, { description: 'Without gaps, oldest first; the last one is still filling' }),
  failures: Type.Array(record('FailureCount', { error: Type.String(), count: Type.Integer() }), {
    description: 'Failures of the range by word, most frequent first',
  }),
  ledger: record('LedgerHealth', {
    state: Type.Enum(['balanced', 'differences', 'unknown'], { description: '`unknown`: not checked yet' }),
    checkedOn: maybeInstant,
    running: Type.Boolean(),
    differences: Type.Integer({ description: 'Rows that do not add up' }),
    accounts: Type.Integer(),
    transfers: Type.Integer(),
  }),
  queues: record('QueueHealth', {
    eventsWaiting: count('Events not numbered yet (outbox lag); counted up to 10,000'),
    oldestEventOn: maybeInstant,
    deliveriesWaiting: count('Webhooks to be delivered; counted up to 10,000'),
    oldestDeliveryOn: maybeInstant,
    commandsWaiting: count('Commands of this process that wait for a batch'),
    requestLogDropped: count('Entries of the request log that this process dropped when overloaded'),
  }),
})

/** Made from per-minute sums, so that it costs the same whatever the traffic. */
export const showOverview = query({
  ...consoleOperation,
  id: 'showOverview',
  method: 'GET',
  path: `${CONSOLE_API}/overview`,
  tag: 'Overview',
  summary: 'Overview',
  description: 'Ask every few seconds with `If-None-Match`: 304 while nothing has changed.',
  role: 'viewer',
  headers: { 'If-None-Match': 'The `ETag` of a former answer' },
  query: closed({
    range: oneOf(['hour', 'day', 'week'], '`hour` by default: buckets of 1 minute, 15 minutes, 2 hours'),
  }),
  result: Overview,
  errors: [],
  alsoAnswers: { 304: 'Nothing has changed; no body' },
  mount: later,
})
