import { createHash } from 'node:crypto'
import pg from 'pg'
import { fail } from './failures.ts'
import { type DataKey, decryptFor, encryptFor } from './secrets.ts'

const INT8 = 20
const types = new pg.TypeOverrides()
types.setTypeParser(INT8, BigInt)

/** One plan for each statement and connection, made once; every statement here is served by an index. */
const SESSION = [
  'search_path=svc',
  'timezone=UTC',
  'lock_timeout=2000',
  'statement_timeout=30000',
  'idle_in_transaction_session_timeout=5000',
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'jit=off',
]

export function openPool(databaseUrl: string, size: number): pg.Pool {
  const options = SESSION.map((setting) => `-c ${setting}`).join(' ')
  return new pg.Pool({
    connectionString: databaseUrl,
    max: size,
    min: size,
    idleTimeoutMillis: 0,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    options,
    types,
  })
}

/** A prepared statement: parsed and planned once on each connection. */
export const statement =
  <Row extends pg.QueryResultRow>(name: string, text: string) =>
  async (db: pg.Pool | pg.PoolClient, values: readonly unknown[]): Promise<Row[]> =>
    (await db.query<Row>({ name, text, values: [...values] })).rows

/** Queues the events that a statement wrote, for whatever publishes them. Ends with their source. */
export const QUEUE_EVENTS = `insert into unnumbered_events (created_at, tenant_id, event_id, type, object_id, amount)
   select created_at, tenant_id, event_id, type, object_id, payload -> 'amount'`

const UNIQUE_VIOLATION = '23505'
const AGAIN = new Set([UNIQUE_VIOLATION, '40001', '40P01'])
const ATTEMPTS_MAX = 4

const codeOf = (error: unknown): string => (error instanceof pg.DatabaseError ? (error.code ?? '') : '')

/**
 * One transaction. What loses a race — a unique key, a deadlock — runs again, and then finds what the winner wrote.
 */
export async function transaction<T>(pool: pg.Pool, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const client = await pool.connect()
    let broken: Error | undefined
    try {
      await client.query('begin')
      const result = await work(client)
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch((lost: Error) => (broken = lost))
      if (broken || attempt === ATTEMPTS_MAX || !AGAIN.has(codeOf(error))) throw error
    } finally {
      client.release(broken)
    }
  }
}

/** What a repeat of a request is known by. */
export interface RetryKey {
  readonly tenantId: string
  readonly route: string
  readonly key: string
  readonly requestHash: Buffer
  readonly ciphertextHash: Buffer | null
}

export const retryKeyOf = (
  tenantId: string,
  route: string,
  given: string | string[] | undefined,
  request: unknown,
): RetryKey | undefined =>
  typeof given === 'string'
    ? {
        tenantId,
        route,
        key: given,
        requestHash: createHash('sha256').update(JSON.stringify(request)).digest(),
        ciphertextHash: null,
      }
    : undefined

const FIND = statement<{ request_hash: Buffer; response: Buffer }>(
  'idempotency_find',
  'select request_hash, response from idempotency_keys where tenant_id = $1 and route = $2 and key = $3',
)
const KEEP = statement(
  'idempotency_keep',
  `insert into idempotency_keys (tenant_id, route, key, request_hash, ciphertext_hash, status, response, created_at)
   values ($1, $2, $3, $4, $5, 200, $6, now())`,
)

/**
 * A command in one transaction, its response stored in it under the key: a repeat gets the same bytes. Of two concurrent
 * repeats one violates the unique key, runs again and finds the response of the other.
 */
export function command(
  pool: pg.Pool,
  responseKey: DataKey,
  key: RetryKey | undefined,
  work: (tx: pg.PoolClient) => Promise<string>,
): Promise<string> {
  return transaction(pool, async (tx) => {
    if (!key) return work(tx)
    const { tenantId, route, requestHash, ciphertextHash } = key
    const context = `${tenantId} ${route} ${key.key}`
    const [known] = await FIND(tx, [tenantId, route, key.key])
    if (known && !known.request_hash.equals(requestHash)) fail('idempotency_key_reused')
    if (known) return decryptFor(responseKey, known.response, context).toString()
    const response = await work(tx)
    const encrypted = encryptFor(responseKey, response, context)
    await KEEP(tx, [tenantId, route, key.key, requestHash, ciphertextHash, encrypted])
    return response
  })
}
