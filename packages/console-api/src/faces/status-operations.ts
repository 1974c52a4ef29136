import { idFloor } from '@svc/contract/id-kinds'
import { parseRfc3339, rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import {
  CONSOLE_API,
  consoleOperation,
  instant,
  maybeInstant,
  record,
  rupeesText,
  text,
} from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { ledgerHealth, RECONCILED_EVERY_MS } from './overview-operations.ts'
import {
  errorTrends,
  figuresOf,
  PERIODS,
  type Period,
  type PeriodName,
  periodsUntil,
  type Sum,
} from './status-periods.ts'
import { QUEUE_MAX, QUEUE_NAMES, readQueues } from './status-queues.ts'

const count = (description: string) => Type.Integer({ description })

const PeriodRecord = record('StatusPeriod', {
  name: Type.Enum([...PERIODS], { description: '`lastWeek`: the same day of last week' }),
  from: instant,
  to: text('Excluded; the same time of day in all periods'),
  isComplete: Type.Boolean({ description: 'False: the service keeps no figures from its begin on' }),
  requests: count('Requests served, of all operations of the API'),
  clientErrors: count('Of these, failures with a status from 400 to 499'),
  serverErrors: count('Of these, failures with a status of 500 and above'),
  payments: count('Payments accepted'),
  paymentsAmount: rupeesText,
  cardsIssued: count('Cards issued, in bulk too'),
})

const Latency = record('StatusLatency', {
  kind: Type.Enum(['command', 'read'], { description: 'Of `read` the request log has a sample' }),
  count: count('Entries of the request log that were measured'),
  p50: Type.Number({ description: 'Milliseconds' }),
  p95: Type.Number({ description: 'Milliseconds' }),
  p99: Type.Number({ description: 'Milliseconds' }),
})

const LATENCY_MINUTES = 60
/** Entries of the request log that latencies are measured of, the newest first. */
const MEASURED_MAX = 20_000

const StatusRecord = record('Status', {
  measuredOn: instant,
  periods: Type.Array(PeriodRecord),
  errors: Type.Array(
    record('ErrorTrend', {
      error: text('Error code'),
      status: Type.Integer(),
      today: Type.Integer(),
      yesterday: Type.Integer(),
      lastWeek: Type.Integer(),
    }),
    { description: 'Most frequent today first' },
  ),
  latencies: Type.Array(Latency, {
    description: `Of the last ${LATENCY_MINUTES} minutes, by the newest ${MEASURED_MAX} entries of the request log`,
  }),
  queues: Type.Array(
    record('StatusQueue', {
      name: Type.Enum(QUEUE_NAMES),
      waiting: count(`Counted up to ${QUEUE_MAX}`),
      oldestOn: Type.Optional(text('Of those that were counted')),
    }),
  ),
  commandsWaiting: count('Commands of this process that wait for a batch'),
  requestLogDropped: count('Entries of the request log that this process dropped when overloaded'),
  database: record('StatusDatabase', {
    role: Type.Enum(['primary', 'standby']),
    version: text('Of PostgreSQL'),
    isArchiving: Type.Boolean({ description: 'Whether PostgreSQL archives its write-ahead log' }),
    archivedOn: Type.Optional(text('When a segment was archived last')),
    archiveFailedOn: Type.Optional(text('When archiving failed last')),
  }),
  books: record('StatusBooks', {
    state: Type.Enum(['balanced', 'differences', 'unknown'], { description: '`unknown`: not checked yet' }),
    checkedOn: maybeInstant,
    isOverdue: Type.Boolean({ description: 'The last check is older than its schedule' }),
    everySeconds: Type.Integer({ description: 'The schedule, while an overview is open' }),
  }),
})

const SUMS = statement<Sum>(
  'console_status_sums',
  `select what, sum(count)::bigint as count, sum(amount)::bigint as amount
   from minute_sums where minute >= $1 and minute < $2 group by 1`,
)
const SINCE = statement<{ minute: Date | null }>(
  'console_status_since',
  'select min(minute) as minute from minute_sums',
)
const LATENCIES = statement<{ kind: 'command' | 'read'; count: bigint; p: number[] }>(
  'console_status_latencies',
  `select kind, count(*) as count,
     percentile_cont(array[0.5, 0.95, 0.99]) within group (order by duration_ms::float8) as p
   from (select kind, duration_ms from request_log where request_id >= $1
     order by request_id desc limit ${MEASURED_MAX}) newest
   group by kind order by kind`,
)
const DATABASE = statement<{
  standby: boolean
  version: string
  archiving: boolean
  archived: Date | null
  failed: Date | null
}>(
  'console_status_database',
  `select pg_is_in_recovery() as standby, current_setting('server_version') as version,
     current_setting('archive_mode') <> 'off' as archiving, a.last_archived_time as archived,
     a.last_failed_time as failed
   from pg_stat_archiver a`,
)

async function comparePeriods(tx: Tx, periods: readonly Period[], timeZone: string) {
  const sums: Record<PeriodName, readonly Sum[]> = { today: [], yesterday: [], lastWeek: [] }
  for (const { name, from, to } of periods) sums[name] = await tx.query(SUMS, [from, to])
  const [since] = await tx.query(SINCE)
  return {
    periods: periods.map(({ name, from, to }) => ({
      name,
      from: rfc3339(from, timeZone),
      to: rfc3339(to, timeZone),
      isComplete: since?.minute != null && since.minute <= from,
      ...figuresOf(sums[name]),
    })),
    errors: errorTrends(sums),
  }
}

async function readLatencies(tx: Tx, now: Date) {
  const from = new Date(now.getTime() - LATENCY_MINUTES * 60_000)
  const rows = await tx.query(LATENCIES, [idFloor('req', from)])
  const rounded = (ms: number | undefined) => Math.round((ms ?? 0) * 10) / 10
  return rows.map(({ kind, count: measured, p }) => ({
    kind,
    count: Number(measured),
    p50: rounded(p[0]),
    p95: rounded(p[1]),
    p99: rounded(p[2]),
  }))
}

async function readDatabase(tx: Tx, timeZone: string) {
  const [row] = await tx.query(DATABASE)
  const on = (at: Date | null | undefined) => (at ? rfc3339(at, timeZone) : undefined)
  return {
    role: row?.standby ? 'standby' : 'primary',
    version: row?.version ?? '',
    isArchiving: row?.archiving ?? false,
    archivedOn: on(row?.archived),
    archiveFailedOn: on(row?.failed),
  }
}

async function measure(services: ConsoleServices): Promise<string> {
  const { clock, config, database, metrics } = services
  const timeZone = config.BUSINESS_TIME_ZONE
  const now = new Date(clock.now())
  const measured = await database.report(async (tx) => ({
    ...(await comparePeriods(tx, periodsUntil(now, timeZone), timeZone)),
    latencies: await readLatencies(tx, now),
    queues: await readQueues(tx, timeZone),
    database: await readDatabase(tx, timeZone),
  }))
  const { checkedOn, state } = await ledgerHealth(services)
  const checkedAt = checkedOn === undefined ? undefined : parseRfc3339(checkedOn)
  return JSON.stringify({
    measuredOn: rfc3339(now, timeZone),
    ...measured,
    commandsWaiting: (await metrics.queued.get()).values.reduce((sum, { value }) => sum + value, 0),
    requestLogDropped: (await metrics.requestLogDropped.get()).values[0]?.value ?? 0,
    books: {
      state,
      checkedOn,
      isOverdue: !checkedAt || now.getTime() - checkedAt.getTime() > RECONCILED_EVERY_MS,
      everySeconds: RECONCILED_EVERY_MS / 1_000,
    },
  })
}

/** The same figures serve all requests within this time. */
const KEPT_MS = 2_000

/** Figures that the service stores, compared with the day before and the same day of last week. */
export const showStatus = query({
  ...consoleOperation,
  id: 'console.showStatus',
  method: 'GET',
  path: `${CONSOLE_API}/status`,
  tag: 'Overview',
  summary: 'Show the state of the service, compared with yesterday and last week',
  permission: 'view',
  result: StatusRecord,
  errors: [],
  mount(services: ConsoleServices) {
    let known: { readonly atMs: number; readonly made: Promise<string> } | undefined
    return async () => {
      if (!known || performance.now() - known.atMs > KEPT_MS) {
        const latest = { atMs: performance.now(), made: measure(services) }
        known = latest
        latest.made.catch(() => {
          if (known === latest) known = undefined
        })
      }
      return { body: await known.made }
    }
  },
})
