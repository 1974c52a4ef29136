import { groupBy } from '@svc/kernel/group-by'
import type { Secret } from '@svc/kernel/secret'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Database, Tx } from '@svc/platform/db/database'
import { timeAhead } from '@svc/platform/db/database-time'
import { columns, statement } from '@svc/platform/db/statement'
import { type NumberedEvent, withEvents } from '@svc/platform/outbox'
import type { Attempt } from './attempt.ts'
import { type Endpoint, type Headers, openHeaders, webhookEndpoints } from './endpoint.ts'
import { openSecret, type SigningSecret, type WebhookSecret, webhookSecrets } from './endpoint-secrets.ts'

/** An endpoint that this process delivers to. */
export interface Lease {
  readonly endpointId: string
  readonly tenantId: string
  readonly modifiedAtMs: number
}

/** What it takes to send to an endpoint. */
export interface Target {
  readonly url: string
  readonly headers: Headers
  readonly secrets: readonly SigningSecret[]
}

export const liveSecrets = ({ secrets }: Target, nowMs: number): Secret[] =>
  secrets.filter(({ expiresAtMs }) => expiresAtMs > nowMs).map(({ secret }) => secret)

/** A row of the queue. */
interface Queued extends Pick<NumberedEvent, 'tenantId' | 'eventId' | 'sequence'> {
  readonly endpointId: string
  readonly first: boolean
  /** Made before. */
  readonly attempts: number
  readonly startedAt: Date | null
  /** How often it was requested again. */
  readonly turn: number
}

/** One event on its way to one endpoint. */
export interface Delivery extends NumberedEvent, Queued {}

/** Leases, and the database's time. */
export interface Leased {
  readonly leases: readonly Lease[]
  readonly now: Date
}

interface NoLease {
  now: Date
  endpoint_id: null
}
interface LeaseRow {
  now: Date
  endpoint_id: string
  tenant_id: string
  modified_at: Date
}

// One row at least, for the time.
const LEASE = statement<LeaseRow | NoLease>(
  'webhook_endpoints_lease',
  `select t.now, l.* from (select clock_timestamp() as now) t
     left join lateral lease_webhook_endpoints($1, $2, $3, t.now + $4 * interval '1 millisecond', $5) l on true`,
)
const TARGETS = statement<Endpoint>(
  'webhook_targets',
  `select ${webhookEndpoints.columns} from webhook_endpoints e where e.tenant_id = any ($1) and e.endpoint_id = any ($2)`,
)
const SECRETS = statement<WebhookSecret>(
  'webhook_target_secrets',
  `select ${webhookSecrets.columns} from webhook_secrets s
   where s.tenant_id = any ($1) and s.endpoint_id = any ($2) order by s.created_at desc, s.secret_id desc`,
)

// First attempts after the last one that was loaded, in order; then what is to be repeated and due.
const DUE = statement<Queued>(
  'webhook_deliveries_due',
  `select d.endpoint_id as "endpointId", d.first, d.attempts, d.started_at as "startedAt", d.turn, d.sequence,
     d.tenant_id as "tenantId", d.event_id as "eventId"
   from unnest($1::text[], $2::text[], $3::bigint[], $4::integer[], $5::integer[])
       as w (tenant_id, endpoint_id, loaded, most_first, most_again)
     cross join lateral (
       (select f.* from webhook_deliveries f
        where f.tenant_id = w.tenant_id and f.endpoint_id = w.endpoint_id and f.first and f.sequence > w.loaded
        order by f.sequence limit w.most_first)
       union all
       (select a.* from webhook_deliveries a
        where a.tenant_id = w.tenant_id and a.endpoint_id = w.endpoint_id and not a.first and a.due_at <= (select ${timeAhead(6)})
        order by a.due_at limit w.most_again)) d
   order by d.endpoint_id, d.first desc, d.sequence`,
)

/** Deliveries `d` that are to be made. Those of disabled endpoints wait to be enabled, and hold up nothing. */
export const DELIVERIES_UNDER_WAY = `webhook_deliveries d
  join webhook_endpoints e on e.tenant_id = d.tenant_id and e.endpoint_id = d.endpoint_id and e.enabled`

/** What an endpoint has room for. */
export interface Wanted {
  readonly lease: Lease
  /** First attempts up to this number were loaded before. */
  readonly loaded: bigint
  readonly first: number
  readonly again: number
}

export class DeliveryStore {
  readonly #database: Database
  readonly #keyring: Keyring

  constructor(database: Database, keyring: Keyring) {
    this.#database = database
    this.#keyring = keyring
  }

  /** Prolongs the leases on `keep`, gives back the others, takes up to `most` endpoints that have work. */
  async lease(
    holder: string,
    keep: readonly string[],
    leaseMs: number,
    clockOffsetMs: number,
    most: number,
  ): Promise<Leased> {
    const rows = await this.#database.directory(LEASE, [holder, keep, leaseMs, clockOffsetMs, most])
    const leases = rows.flatMap((row) =>
      row.endpoint_id === null
        ? []
        : [
            {
              endpointId: row.endpoint_id,
              tenantId: row.tenant_id,
              modifiedAtMs: row.modified_at.getTime(),
            },
          ],
    )
    return { leases, now: rows[0]!.now }
  }

  async targets(leases: readonly Lease[]): Promise<Map<string, Target>> {
    if (leases.length === 0) return new Map()
    const tenants = leases.map(({ tenantId }) => tenantId)
    const keys = [tenants, leases.map(({ endpointId }) => endpointId)]
    return this.#database.read(tenants, async (tx) => {
      const rows = await tx.query(TARGETS, keys)
      const secrets = groupBy(await tx.query(SECRETS, keys), ({ endpointId }) => endpointId)
      return new Map(
        rows.map((endpoint) => {
          const own = secrets.get(endpoint.endpointId) ?? []
          const target: Target = {
            url: endpoint.url,
            headers: openHeaders(this.#keyring, endpoint),
            secrets: own.map((secret) => openSecret(this.#keyring, secret)),
          }
          return [endpoint.endpointId, target]
        }),
      )
    })
  }

  /** What is due, for all endpoints at once: first attempts in order of their number. */
  async due(wanted: readonly Wanted[], clockOffsetMs: number): Promise<Map<string, Delivery[]>> {
    if (wanted.length === 0) return new Map()
    const keys = columns(
      wanted,
      ({ lease }) => lease.tenantId,
      ({ lease }) => lease.endpointId,
      ({ loaded }) => loaded,
      ({ first }) => first,
      ({ again }) => again,
    )
    const tenants = wanted.map(({ lease }) => lease.tenantId)
    const rows = await this.#database.read(tenants, async (tx) =>
      withEvents(tx, await tx.query(DUE, [...keys, clockOffsetMs])),
    )
    return groupBy(rows, ({ endpointId }) => endpointId)
  }

  /** Writes what came of attempts. */
  record(outcomes: readonly Outcome[]): Promise<void> {
    return this.#database.write(
      outcomes.map(({ attempt }) => attempt.tenantId),
      (tx) => saveOutcomes(tx, outcomes),
    )
  }
}

/** What came of one attempt. */
export interface Outcome {
  readonly attempt: Attempt
  /** Of the delivery when the attempt began. */
  readonly turn: number
  /** Of the first attempt. */
  readonly startedAt: Date
  /** Whether the endpoint has the event, or wants no more of them. */
  readonly settled: boolean
  /** Status 410: the endpoint wants no more. */
  readonly gone: boolean
  /** Of the endpoint when the attempt began. */
  readonly modifiedAtMs: number
}

const SAVE = statement(
  'webhook_attempts_save',
  `insert into webhook_attempts (attempt_id, tenant_id, endpoint_id, event_id, sequence, attempt, url, started_at,
     duration_ms, status, failure, response_excerpt, next_at)
   select a.* from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::integer[], $7::text[],
     $8::timestamptz[], $9::integer[], $10::smallint[], $11::text[], $12::text[], $13::timestamptz[])
     as a (attempt_id, tenant_id, endpoint_id, event_id, sequence, attempt, url, started_at, duration_ms, status, failure,
       response_excerpt, next_at)
   join webhook_endpoints e on e.tenant_id = a.tenant_id and e.endpoint_id = a.endpoint_id`,
)
// A process that stood still may report an attempt of before those that others have made since: it changes nothing,
// unless the endpoint has the event.
const DONE = statement(
  'webhook_deliveries_done',
  `delete from webhook_deliveries d
   using unnest($1::text[], $2::text[], $3::bigint[], $4::integer[], $5::integer[], $6::boolean[])
     as a (tenant_id, endpoint_id, sequence, turn, attempts, settled)
   where d.tenant_id = a.tenant_id and d.endpoint_id = a.endpoint_id and d.sequence = a.sequence and d.turn = a.turn
     and (a.settled or d.attempts = a.attempts - 1)`,
)
const AGAIN = statement(
  'webhook_deliveries_again',
  `update webhook_deliveries d set first = false, attempts = a.attempts, started_at = a.started_at, due_at = a.due_at
   from unnest($1::text[], $2::text[], $3::bigint[], $4::integer[], $5::integer[], $6::timestamptz[], $7::timestamptz[])
     as a (tenant_id, endpoint_id, sequence, turn, attempts, started_at, due_at)
   where d.tenant_id = a.tenant_id and d.endpoint_id = a.endpoint_id and d.sequence = a.sequence and d.turn = a.turn
     and d.attempts = a.attempts - 1`,
)
// An endpoint that was changed since, such as enabled again, did not respond so.
const GONE = statement(
  'webhook_endpoints_gone',
  `update webhook_endpoints e set enabled = false, disabled_reason = 'gone',
     modified_at = greatest(a.at, e.modified_at + interval '1 millisecond')
   from unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[])
     as a (tenant_id, endpoint_id, at, modified_at)
   where e.tenant_id = a.tenant_id and e.endpoint_id = a.endpoint_id and e.enabled
     and date_trunc('milliseconds', e.modified_at) = a.modified_at`,
)

async function saveOutcomes(tx: Tx, outcomes: readonly Outcome[]): Promise<void> {
  const attempts = outcomes.map(({ attempt }) => attempt)
  await tx.query(
    SAVE,
    columns(
      attempts,
      (a) => a.attemptId,
      (a) => a.tenantId,
      (a) => a.endpointId,
      (a) => a.eventId,
      (a) => a.sequence,
      (a) => a.attempt,
      (a) => a.url,
      (a) => a.startedAt,
      (a) => a.durationMs,
      (a) => a.status,
      (a) => a.failure,
      (a) => a.responseExcerpt,
      (a) => a.nextAt,
    ),
  )
  const keys = [
    ({ attempt }: Outcome) => attempt.tenantId,
    ({ attempt }: Outcome) => attempt.endpointId,
    ({ attempt }: Outcome) => attempt.sequence,
    ({ turn }: Outcome) => turn,
    ({ attempt }: Outcome) => attempt.attempt,
  ] as const
  const done = outcomes.filter(({ attempt }) => attempt.nextAt === null)
  if (done.length > 0)
    await tx.query(
      DONE,
      columns(done, ...keys, ({ settled }) => settled),
    )
  const again = outcomes.filter(({ attempt }) => attempt.nextAt !== null)
  if (again.length > 0)
    await tx.query(
      AGAIN,
      columns(
        again,
        ...keys,
        ({ startedAt }) => startedAt,
        ({ attempt }) => attempt.nextAt,
      ),
    )
  const gone = outcomes.filter((outcome) => outcome.gone)
  if (gone.length > 0)
    await tx.query(
      GONE,
      columns(
        gone,
        ({ attempt }) => attempt.tenantId,
        ({ attempt }) => attempt.endpointId,
        ({ attempt }) => new Date(attempt.startedAt.getTime() + attempt.durationMs),
        ({ modifiedAtMs }) => new Date(modifiedAtMs),
      ),
    )
}
