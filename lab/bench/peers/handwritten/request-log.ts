import type { FastifyReply, FastifyRequest } from 'fastify'
import type pg from 'pg'
import { statement } from './database.ts'

/** So often are entries written; as many as make 500 a second, the others are left out. */
const FLUSH_MS = 200
const ENTRIES_MAX = 100
/** Of so many successful reads one is entered. */
const READ_SAMPLE = 100

interface Entry {
  readonly requestId: string
  readonly tenantId: string
  readonly at: Date
  readonly kind: 'command' | 'read'
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly error: string | null
  readonly address: string
  readonly bodyBytes: number
}

const INSERT = statement(
  'request_log',
  `insert into request_log (request_id, tenant_id, at, operation, kind, method, path, status, duration_ms, error, address,
     body_bytes, objects)
   select r.*, '{}' from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
     $8::smallint[], $9::real[], $10::text[], $11::text[], $12::integer[]) as r`,
)

const columnsOf = (entries: readonly Entry[]): unknown[][] => [
  entries.map(({ requestId }) => requestId),
  entries.map(({ tenantId }) => tenantId),
  entries.map(({ at }) => at),
  entries.map(({ operation }) => operation),
  entries.map(({ kind }) => kind),
  entries.map(({ method }) => method),
  entries.map(({ path }) => path),
  entries.map(({ status }) => status),
  entries.map(({ durationMs }) => durationMs),
  entries.map(({ error }) => error),
  entries.map(({ address }) => address),
  entries.map(({ bodyBytes }) => bodyBytes),
]

/** The table of requests, written in the background, so that no request waits for it. */
export function openRequestLog(pool: pg.Pool, failed: (error: unknown) => void) {
  let waiting: Entry[] = []
  let reads = 0
  async function flush(): Promise<void> {
    const entries = waiting
    waiting = []
    if (entries.length > 0) await INSERT(pool, columnsOf(entries)).catch(failed)
  }
  const timer = setInterval(() => void flush(), FLUSH_MS)
  return {
    add(request: FastifyRequest, reply: FastifyReply): void {
      const { url = '' } = request.routeOptions
      const kind = request.method === 'GET' || /search|token/.test(url) ? 'read' : 'command'
      const { failureCode } = request
      if (kind === 'read' && failureCode === null && reads++ % READ_SAMPLE !== 0) return
      if (waiting.length >= ENTRIES_MAX) return
      waiting.push({
        requestId: request.id,
        tenantId: request.tenantId || 'house',
        at: new Date(Date.now() - reply.elapsedTime),
        kind,
        operation: `${request.method} ${url}`,
        method: request.method,
        path: request.url.split('?', 1)[0] ?? '',
        status: reply.statusCode,
        durationMs: reply.elapsedTime,
        error: failureCode,
        address: request.ip,
        bodyBytes: request.bytes.length,
      })
    },
    async close(): Promise<void> {
      clearInterval(timer)
      await flush()
    },
  }
}
