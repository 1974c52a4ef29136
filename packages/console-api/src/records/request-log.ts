import type { Failure } from '@svc/contract/errors'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { DecryptionFailed, type JweErrorReason } from '@svc/jwe/jwe-error'
import { isUnavailable } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import { tookMs } from '@svc/server/http/observe'
import type { Operation, Services } from '@svc/server/http/operation'
import { HEALTH } from '@svc/server/http/probes'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ADD_SUMS } from '../identity/minute-sums.ts'
import { redact, redactDescription, redactPath } from './redact.ts'
import { RequestLogRetention } from './request-log-retention.ts'
import { idsIn } from './touched-objects.ts'

/** Entries are written this often, a few at a time: many at once would hold up the requests of that moment. */
const FLUSH_MS = 200
const ROWS_A_WRITE = 64
const SUMS_EVERY_MS = 1_000
/** Bodies that wait to be written, in memory. */
const WAITING_BYTES_MAX = 8 * 1_048_576
/** Share of what may be logged in a second that is kept free for failures. */
const FOR_FAILURES = 0.2

interface Entry {
  readonly requestId: string
  readonly tenantId: string
  readonly at: Date
  readonly operation: Operation | undefined
  readonly name: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly failure: Failure | undefined
  readonly address: string
  readonly bodyBytes: number
  readonly body: unknown
  readonly jwe: JweSummary | undefined
  readonly made: readonly string[]
  readonly traceId: string | undefined
}

interface JweSummary {
  readonly kid?: string
  readonly alg?: string
  readonly enc?: string
  readonly opened: boolean
  readonly failedCheck?: JweErrorReason
  readonly explanation?: string
}

const INSERT = statement(
  'request_log_insert',
  `insert into request_log (request_id, tenant_id, at, operation, kind, method, path, status, duration_ms, error,
     description, address, body_bytes, body, jwe, objects, trace_id)
   select request_id, tenant_id, at, operation, kind, method, path, status, duration_ms, error, description, address,
     body_bytes, body, jwe, string_to_array(objects, ' '), trace_id
   from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
     $8::smallint[], $9::real[], $10::text[], $11::text[], $12::text[], $13::integer[], $14::jsonb[], $15::jsonb[],
     $16::text[], $17::text[]) as r (request_id, tenant_id, at, operation, kind, method, path, status, duration_ms, error,
     description, address, body_bytes, body, jwe, objects, trace_id)
   order by request_id on conflict do nothing`,
)
/**
 * Remembers requests and their responses, for the console (decision O4). A request costs a few values pushed to a list;
 * everything else happens in the background, on a connection of its own, and is dropped when there is too much of it.
 */
export class RequestLog {
  readonly #services: Services
  readonly #operations: ReadonlyMap<string, Operation>
  readonly #retention: RequestLogRetention
  #waiting: Entry[] = []
  #waitingBytes = 0
  #second = { startedAtMs: 0, taken: 0 }
  #reads = 0
  #sums = new Map<string, number>()
  #summedAtMs = 0
  /** Writes what waits. */
  readonly loop: Loop
  /** Entries that were not kept. */
  dropped = 0

  constructor(services: Services, operations: readonly Operation[]) {
    this.#services = services
    this.#retention = new RequestLogRetention(services)
    this.#operations = new Map(operations.map((operation) => [operation.id, operation]))
    const work = () => this.#flush()
    this.loop = new Loop({ name: 'request_log', everyMs: FLUSH_MS, work, atStop: true }, services)
  }

  /** For `answered` of the server. */
  readonly take = (request: FastifyRequest, reply: FastifyReply): void => {
    const name = request.routeOptions.config?.operation ?? 'none'
    const operation = this.#operations.get(name)
    const { failure } = request
    // Probes and pages of the reference are left out.
    if ((!operation && name !== 'none') || operation?.tag === HEALTH) return
    this.#count(failure)
    if (this.#services.config.REQUEST_LOG_PER_SECOND === 0 || !this.#wanted(operation, failure)) return
    const bodyBytes = request.rawBody?.length ?? 0
    if (!this.#room(failure, bodyBytes)) {
      this.dropped++
      this.#services.metrics.requestLogDropped.inc()
      return
    }
    this.#waitingBytes += bodyBytes
    this.#waiting.push(
      entryOf(request, reply, { name, operation, bodyBytes, nowMs: this.#services.clock.now() }),
    )
  }

  #wanted(operation: Operation | undefined, failure: Failure | undefined): boolean {
    if (failure || operation?.acceptsIdempotencyKey) return true
    return this.#reads++ % this.#services.config.REQUEST_LOG_READ_SAMPLE === 0
  }

  #room(failure: Failure | undefined, bodyBytes: number): boolean {
    const { REQUEST_LOG_PER_SECOND: perSecond } = this.#services.config
    const nowMs = performance.now()
    if (nowMs - this.#second.startedAtMs >= 1_000) this.#second = { startedAtMs: nowMs, taken: 0 }
    const most = failure ? perSecond : Math.ceil(perSecond * (1 - FOR_FAILURES))
    if (this.#second.taken >= most || this.#waiting.length >= perSecond * 10) return false
    if (this.#waitingBytes + bodyBytes > WAITING_BYTES_MAX) return false
    this.#second.taken++
    return true
  }

  #count(failure: Failure | undefined): void {
    const minute = Math.floor(this.#services.clock.now() / 60_000)
    this.#add(`${minute} request`)
    if (failure) this.#add(`${minute} failure ${failure.code}`)
  }

  #add(key: string, count = 1): void {
    this.#sums.set(key, (this.#sums.get(key) ?? 0) + count)
  }

  async #flush(): Promise<void> {
    try {
      await this.#writeSums()
    } finally {
      await this.#writeEntries()
    }
    // What is too old can wait for another process.
    if (!this.loop.stopping.aborted) await this.#retention.purge()
  }

  async #writeSums(): Promise<void> {
    const isDue = performance.now() - this.#summedAtMs >= SUMS_EVERY_MS || this.loop.stopping.aborted
    if (this.#sums.size === 0 || !isDue) return
    this.#summedAtMs = performance.now()
    const sums = [...this.#sums].map(([key, count]) => {
      const [minute = '', ...what] = key.split(' ')
      return { key, minute: new Date(Number(minute) * 60_000), what: what.join(' '), count }
    })
    this.#sums = new Map()
    const values = columns(
      sums,
      (sum) => sum.minute,
      (sum) => sum.what,
      (sum) => sum.count,
    )
    try {
      const { clock, database } = this.#services
      await database.writeAside([], (tx) => tx.query(ADD_SUMS, [...values, clock.offsetMs()]))
    } catch (error) {
      // Figures are kept for an hour without a database: there are few of them.
      const oldest = this.#services.clock.now() - 3_600_000
      for (const { key, minute, count } of sums) if (minute.getTime() > oldest) this.#add(key, count)
      throw error
    }
  }

  async #writeEntries(): Promise<void> {
    const entries = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    let failure: unknown
    for (let i = 0; i < entries.length; i += ROWS_A_WRITE)
      failure = (await this.#write(entries.slice(i, i + ROWS_A_WRITE))) ?? failure
    if (failure) throw failure
  }

  /**
   * Returns what failed. Entries that the database refuses are parted until the culprits fail alone: no request hides
   * others.
   */
  async #write(entries: readonly Entry[]): Promise<unknown> {
    try {
      await this.#services.database.writeAside(
        entries.map(({ tenantId }) => tenantId),
        (tx) => tx.query(INSERT, rowsOf(entries)),
      )
      return undefined
    } catch (error) {
      if (entries.length > 1 && !isUnavailable(error)) {
        const half = Math.ceil(entries.length / 2)
        const first = await this.#write(entries.slice(0, half))
        return (await this.#write(entries.slice(half))) ?? first
      }
      this.dropped += entries.length
      this.#services.metrics.requestLogDropped.inc(entries.length)
      return error
    }
  }
}

interface Found {
  readonly name: string
  readonly operation: Operation | undefined
  readonly bodyBytes: number
  readonly nowMs: number
}

function entryOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, operation, bodyBytes, nowMs }: Found,
): Entry {
  const { body, failure, response, rawBody } = request
  const encrypted = operation?.encrypted === 'request' || operation?.encrypted === 'both'
  return {
    requestId: request.id,
    tenantId: request.caller?.tenantId ?? PLATFORM_TENANT,
    at: new Date(nowMs - reply.elapsedTime),
    operation,
    name,
    method: request.method,
    path: request.url.split('?', 1)[0]!,
    status: reply.statusCode,
    durationMs: tookMs(request, reply),
    failure,
    address: request.ip,
    bodyBytes,
    // A body that was not decrypted, or not parsed, is never kept.
    body: body !== null && typeof body === 'object' && !Buffer.isBuffer(body) ? body : undefined,
    jwe: encrypted && rawBody ? jweOf(rawBody, failure, request.ciphertextHash !== undefined) : undefined,
    made: response === undefined ? [] : idsIn(response.slice(0, 600)),
    traceId: request.span?.traceId,
  }
}

const CLAIM = /^[\w.+:-]{1,80}$/

/** What an encrypted body says of itself, and how it fared: never a part of what is encrypted. */
function jweOf(rawBody: Buffer, failure: Failure | undefined, opened: boolean): JweSummary | undefined {
  const cause = failure?.cause instanceof DecryptionFailed ? failure.cause : undefined
  const [, header] = /^\s*"?([A-Za-z0-9_-]{8,1024})\./.exec(rawBody.toString('latin1', 0, 1_100)) ?? []
  if (!header && !cause) return undefined
  const claims: { kid?: string; alg?: string; enc?: string } = {}
  try {
    const claimed = JSON.parse(Buffer.from(header ?? '', 'base64url').toString()) as Record<string, unknown>
    for (const name of ['kid', 'alg', 'enc'] as const) {
      const claim = claimed[name]
      if (typeof claim === 'string' && CLAIM.test(claim) && !/\d{9}/.test(claim)) claims[name] = claim
    }
  } catch {
    // It has nothing that could be read, which is what the failed check reports.
  }
  return { ...claims, opened, ...(cause && { failedCheck: cause.reason, explanation: cause.message }) }
}

function rowsOf(entries: readonly Entry[]): unknown[][] {
  const rows = entries.map((entry) => {
    const { body, operation, path } = entry
    const shown = body !== undefined && operation?.body ? JSON.stringify(redact(operation.body, body)) : null
    const shownPath = redactPath(path)
    return {
      ...entry,
      shown,
      shownPath,
      objects: [...new Set([...idsIn(shownPath, shown ?? ''), ...entry.made])],
    }
  })
  return columns(
    rows,
    (row) => row.requestId,
    (row) => row.tenantId,
    (row) => row.at,
    (row) => row.name,
    (row) => (row.operation?.acceptsIdempotencyKey ? 'command' : 'read'),
    (row) => row.method,
    (row) => row.shownPath,
    (row) => row.status,
    (row) => row.durationMs,
    (row) => row.failure?.code ?? null,
    (row) => row.failure && redactDescription(row.failure.description),
    (row) => row.address,
    (row) => row.bodyBytes,
    (row) => row.shown,
    (row) => row.jwe && JSON.stringify(row.jwe),
    (row) => row.objects.join(' '),
    (row) => row.traceId ?? null,
  )
}
