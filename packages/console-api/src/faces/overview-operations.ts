import { createHash } from 'node:crypto'
import { DELIVERIES_UNDER_WAY } from '@svc/core/webhooks/delivery-store'
import { rfc3339 } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  instant,
  maybeInstant,
  oneOf,
  record,
} from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { latestReconciliation } from './reconciliations.ts'

const count = (description: string) => Type.Integer({ description })

const Bucket = record('OverviewBucket', {
  at: instant,
  requests: count('Requests served, of all operations of the API'),
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

const RANGES = {
  hour: { seconds: 3_600, bucketSeconds: 60 },
  day: { seconds: 86_400, bucketSeconds: 900 },
  week: { seconds: 604_800, bucketSeconds: 7_200 },
} as const
type Range = keyof typeof RANGES

/** The same figures serve all requests within this time. */
const KEPT_MS = 2_000
/** While the page is open, the books are checked this often. */
export const RECONCILED_EVERY_MS = 900_000
const COUNTED_MAX = 10_000

interface SumRow {
  bucket: bigint
  what: string
  count: bigint
  amount: bigint
}

const SUMS = statement<SumRow>(
  'overview_sums',
  `select (extract(epoch from minute)::bigint / $2::bigint) * $2::bigint as bucket, what, sum(count)::bigint as count,
     sum(amount)::bigint as amount
   from minute_sums where minute >= $1 group by 1, 2`,
)
const QUEUES = statement<{
  events: bigint
  oldest_event: Date | null
  deliveries: bigint
  oldest_delivery: Date | null
}>(
  'overview_queues',
  `select (select count(*) from (select from unnumbered_events limit ${COUNTED_MAX}) e) as events,
     (select created_at from unnumbered_events order by position limit 1) as oldest_event,
     (select count(*) from (select from ${DELIVERIES_UNDER_WAY} limit ${COUNTED_MAX}) w) as deliveries,
     (select min(w.due_at) from (select d.due_at from ${DELIVERIES_UNDER_WAY} limit ${COUNTED_MAX}) w) as oldest_delivery`,
)

interface Figures {
  requests: number
  failures: number
  payments: number
  paymentsAmount: number
  cardsIssued: number
}

/** Buckets without gaps, oldest first; they begin at whole multiples of their length. */
function bucketsOf(rows: readonly SumRow[], range: Range, nowMs: number, timeZone: string) {
  const { seconds, bucketSeconds } = RANGES[range]
  const last = Math.floor(nowMs / 1_000 / bucketSeconds) * bucketSeconds
  const byStart = new Map<number, Figures>()
  for (let at = last - seconds + bucketSeconds; at <= last; at += bucketSeconds)
    byStart.set(at, { requests: 0, failures: 0, payments: 0, paymentsAmount: 0, cardsIssued: 0 })
  const failures = new Map<string, number>()
  for (const { bucket, what, count, amount } of rows) {
    const figures = byStart.get(Number(bucket))
    if (!figures) continue
    if (what === 'request') figures.requests += Number(count)
    else if (what === 'event qr_code.credited') {
      figures.payments += Number(count)
      figures.paymentsAmount += Number(amount) / 100
    } else if (what === 'event card.created') figures.cardsIssued += Number(count)
    else if (what.startsWith('failure ')) {
      figures.failures += Number(count)
      const code = what.slice('failure '.length)
      failures.set(code, (failures.get(code) ?? 0) + Number(count))
    }
  }
  return {
    buckets: [...byStart].map(([at, figures]) => ({
      at: rfc3339(new Date(at * 1_000), timeZone),
      ...figures,
    })),
    failures: [...failures].map(([error, count]) => ({ error, count })).sort((a, b) => b.count - a.count),
  }
}

/** The latest check of the books; begins another one when it is older than its schedule. */
export async function ledgerHealth(services: ConsoleServices) {
  const { accounts, checks, running, startedOn, state, transfers } = await latestReconciliation(services)
  const ageMs = startedOn === undefined ? Number.POSITIVE_INFINITY : Date.now() - Date.parse(startedOn)
  if (!running && ageMs > RECONCILED_EVERY_MS) await services.ledgerChecks.start('service')
  return {
    state: state === 'failed' ? 'unknown' : state,
    checkedOn: startedOn,
    running,
    differences: checks.reduce((sum, { differences }) => sum + differences.length, 0),
    accounts,
    transfers,
  }
}

async function measure(services: ConsoleServices, range: Range) {
  const { clock, config, database, metrics } = services
  const timeZone = config.BUSINESS_TIME_ZONE
  const { seconds, bucketSeconds } = RANGES[range]
  const nowMs = clock.now()
  const since = new Date((Math.floor(nowMs / 1_000 / bucketSeconds) * bucketSeconds - seconds) * 1_000)
  const { queues, sums } = await database.report(async (tx) => ({
    sums: await tx.query(SUMS, [since, bucketSeconds]),
    queues: (await tx.query(QUEUES))[0]!,
  }))
  const on = (at: Date | null) => (at ? rfc3339(at, timeZone) : undefined)
  const waiting = (await metrics.queued.get()).values.reduce((sum, { value }) => sum + value, 0)
  const dropped = (await metrics.requestLogDropped.get()).values[0]?.value ?? 0
  const text = JSON.stringify({
    range,
    bucketSeconds,
    ...bucketsOf(sums, range, nowMs, timeZone),
    ledger: await ledgerHealth(services),
    queues: {
      eventsWaiting: Number(queues.events),
      oldestEventOn: on(queues.oldest_event),
      deliveriesWaiting: Number(queues.deliveries),
      oldestDeliveryOn: on(queues.oldest_delivery),
      commandsWaiting: waiting,
      requestLogDropped: dropped,
    },
  })
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` }
}

/** Made from per-minute sums, so that it costs the same whatever the traffic. */
export const showOverview = query({
  ...consoleOperation,
  id: 'console.showOverview',
  method: 'GET',
  path: `${CONSOLE_API}/overview`,
  tag: 'Overview',
  summary: 'Overview',
  description: 'Ask every few seconds with `If-None-Match`: 304 while nothing has changed.',
  permission: 'view',
  headers: { 'If-None-Match': 'The `ETag` of a previous response' },
  query: closed({
    range: oneOf(['hour', 'day', 'week'], '`hour` by default: buckets of 1 minute, 15 minutes, 2 hours'),
  }),
  result: Overview,
  errors: [],
  alsoReturns: { 304: 'Nothing has changed; no body' },
  mount(services: ConsoleServices) {
    const kept = new Map<Range, { readonly atMs: number; readonly made: ReturnType<typeof measure> }>()
    return async ({ headers, query }) => {
      const range = (query.range ?? 'hour') as Range
      let known = kept.get(range)
      if (!known || performance.now() - known.atMs > KEPT_MS) {
        known = { atMs: performance.now(), made: measure(services, range) }
        kept.set(range, known)
        known.made.catch(() => kept.delete(range))
      }
      const { etag, text } = await known.made
      const responded = { etag, 'cache-control': 'private, no-cache' }
      return headers['if-none-match'] === etag
        ? { status: 304, headers: responded, body: '' }
        : { headers: responded, body: text }
    }
  },
})
