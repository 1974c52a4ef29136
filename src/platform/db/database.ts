import pg from 'pg'
import type { Log } from '../log.ts'
import type { Statement } from './statement.ts'

/** Who acts, for the audit (decision O3): `operator asha`, `cli root@host`; and by which request. */
export interface AuditedBy {
  readonly actor: string
  readonly requestId?: string
}

/** How to reach a database: a URL, or the socket of the embedded server. */
export type DatabaseAddress =
  | { readonly url: string; readonly ownerUrl?: string }
  | { readonly host: string; readonly port: number; readonly database: string }

/** Makes connections, as `pg.Client` does. */
export type ConnectionClass = new (config: pg.ClientConfig) => pg.ClientBase

type Role = 'svc_owner' | 'svc_service' | 'svc_operator'

/** Takes statements whose rows nobody reads. */
export interface Writes {
  /** Not waited for: it travels with what follows, in this order. When it fails the transaction fails at its end. */
  write(statement: Statement, values?: readonly unknown[]): void
}

/** A transaction of the service or the operator. Rows come back typed as the statement says. */
export interface Tx extends Writes {
  query<Row>(statement: Statement<Row>, values?: readonly unknown[]): Promise<Row[]>
}

const INT8 = 20
const INT8_ARRAY = 1016
const types = new pg.TypeOverrides()
types.setTypeParser(INT8, BigInt)
types.setTypeParser(INT8_ARRAY, (text: string) =>
  text === '{}' ? [] : text.slice(1, -1).split(',').map(BigInt),
)

/** Design: at most 2 s for a lock, 5 s idle in a transaction; never a transaction left open by a lost process. */
const SESSION =
  '-c search_path=svc -c lock_timeout=2000 -c idle_in_transaction_session_timeout=5000 -c statement_timeout=30000 -c timezone=UTC'

/**
 * Plans that were made while a table was small stay with a connection: without this, a service that began on an empty
 * database reads its tables from end to end until their statistics are made, each statement slower than the one before.
 * Everything that the service asks, and every foreign key, has an index; pages are in memory or on what has no moving
 * head. Before PostgreSQL 18 a scan that cannot be helped looks dear enough to be compiled, which takes longer than it.
 */
const SERVICE =
  '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c random_page_cost=1.1 -c jit=off'

const sessionOf = (role: Role): string => (role === 'svc_service' ? `${SESSION} ${SERVICE}` : SESSION)

/** Connection settings for one role. With a URL, its own login takes the role on (it must be a member of it). */
export function connectionOptions(address: DatabaseAddress, role: Role | undefined): pg.ClientConfig {
  const common = {
    application_name: `svc ${role ?? 'setup'}`,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    types,
  }
  if ('url' in address) {
    const url = new URL(role === 'svc_service' ? address.url : (address.ownerUrl ?? address.url))
    // pg lets a URL's own `options` replace ours, and the role of the session, hence row-level security, is in ours.
    const own = url.searchParams.get('options') ?? ''
    if (own) url.searchParams.delete('options')
    return {
      ...common,
      connectionString: url.href,
      options: role ? `${own} -c role=${role} ${sessionOf(role)}` : own,
    }
  }
  return {
    ...common,
    host: address.host,
    port: address.port,
    database: address.database,
    user: role ?? 'postgres',
    options: role ? sessionOf(role) : '',
  }
}

/** SQLSTATE of a wait for a row that took too long. */
export const LOCK_TIMEOUT = '55P03'

/** SQLSTATE of an error that the server sent; `undefined` for lost connections and all else. */
export const sqlState = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError ? error.code : undefined

const GONE = new Set([
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '53300',
  '53100',
  '58030',
  '25006',
  '25P03',
  '08006',
  '08003',
  '08001',
  '08004',
])
const GONE_BY_CODE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** Whether the database, rather than the statement, is the trouble: gone, starting, full, out of connections. */
export function isUnavailable(error: unknown): boolean {
  const state = sqlState(error)
  if (state !== undefined) return GONE.has(state)
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError) return error.errors.some(isUnavailable)
  const code = (error as NodeJS.ErrnoException).code
  return (
    (code !== undefined && GONE_BY_CODE.has(code)) ||
    /^(?:Connection terminated|Client has encountered a connection error|timeout expired|timeout exceeded|Client was closed)/.test(
      error.message,
    )
  )
}

const TENANT = /^[a-z0-9_]{1,64}$/

/** The literal for `svc.tenants`. Tenant ids are ours, so any other form is our own mistake. */
export function tenantSet(tenants: Iterable<string>): string {
  const ids = [...new Set(tenants)]
  for (const id of ids) if (!TENANT.test(id)) throw new Error('malformed tenant id')
  return ids.join(',')
}

const READ = 'begin read only'

const DISK_FULL = '53100'
// New pages are what a full disk refuses: a row that fits into an old one, or into old log, proves nothing.
const TAKE_ROOM = 'create temp table svc_room on commit drop as select n from generate_series(1, 20000) as n'

/** Statements of one transaction, which may travel together; remembers the failure that the others are echoes of. */
export class ClientTx implements Tx {
  readonly #client: pg.PoolClient
  readonly #writing: Promise<unknown>[] = []
  #firstFailure: unknown

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  /** The first failure of a statement: those that travelled with it only say that the transaction is aborted. */
  get firstFailure(): unknown {
    return this.#firstFailure
  }

  async query<Row>({ name, text }: Statement<Row>, values: readonly unknown[] = []): Promise<Row[]> {
    try {
      return (await this.#client.query({ name, text, values: values as unknown[] })).rows as Row[]
    } catch (error) {
      this.#firstFailure ??= error
      throw error
    }
  }

  write(statement: Statement, values: readonly unknown[] = []): void {
    const writing = this.query(statement, values)
    writing.catch(() => undefined)
    this.#writing.push(writing)
  }

  /** Resolves once every write is done; rejects when one has failed. */
  async written(): Promise<void> {
    await Promise.all(this.#writing.splice(0))
  }
}

export interface DatabaseOptions {
  /** Whom the audit names for transactions of the operator that do not say whose they are. */
  readonly actor?: string
  /** The simulation gives one of its own. */
  readonly Client?: ConnectionClass | undefined
}

/**
 * One database under two roles: `svc_service`, which sees the tenants that its transaction names, and
 * `svc_operator`, which sees all. Connections are pipelined: statements that are not awaited in between travel together.
 */
export class Database {
  readonly address: DatabaseAddress
  readonly #log: Log
  readonly #poolSize: number
  readonly #Client: ConnectionClass
  readonly #actor: string
  readonly #service: pg.Pool
  #operator: pg.Pool | undefined
  #background: pg.Pool | undefined
  /** A write found no room, and none has been seen since. */
  #full = false

  constructor(
    address: DatabaseAddress,
    poolSize: number,
    log: Log,
    { actor = 'service', Client = pg.Client }: DatabaseOptions = {},
  ) {
    this.address = address
    this.#log = log
    this.#poolSize = poolSize
    this.#Client = Client
    this.#actor = actor
    this.#service = this.#pool('svc_service', poolSize)
  }

  #pool(role: Role, max: number): pg.Pool {
    const pool = new pg.Pool({
      ...connectionOptions(this.address, role),
      max,
      idleTimeoutMillis: 60_000,
      pipeline: true,
      Client: this.#Client,
    } as pg.PoolConfig)
    // A connection that breaks while idle is replaced on next use; whoever needs the database then is told.
    pool.on('error', (error) => this.#log.warn({ err: error }, 'an idle database connection was lost'))
    // One that breaks while it is in use fails the statements under way, which tell; without a listener its `error`
    // event would end the process besides.
    pool.on('connect', (client) => client.on('error', () => undefined))
    return pool
  }

  /** A connection of the service for a batch; the caller releases it, with the error when it is broken. */
  connect(): Promise<pg.PoolClient> {
    return this.#service.connect()
  }

  /** Statements of the service on behalf of these tenants, read-only, in one transaction. */
  async read<T>(tenants: Iterable<string>, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#transaction(this.#service, `${READ}; set local svc.tenants = '${tenantSet(tenants)}'`, work)
  }

  /** Statements of the service that need no tenant: the directory, the keyring. */
  async directory<Row>(statement: Statement<Row>, values: readonly unknown[] = []): Promise<Row[]> {
    const { name, text } = statement
    return (await this.#service.query({ name, text, values: values as unknown[] })).rows as Row[]
  }

  /** A transaction of the service on behalf of these tenants, outside of any batch. */
  async write<T>(tenants: Iterable<string>, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#transaction(this.#service, `begin; set local svc.tenants = '${tenantSet(tenants)}'`, work)
  }

  /**
   * A transaction of the operator, who sees every tenant: command line, reconciliation, console. What it changes is
   * audited under the name that is given.
   */
  async operate<T>(
    work: (tx: Tx) => Promise<T>,
    mode: 'read committed' | 'repeatable read' = 'read committed',
    { actor, requestId = '' }: AuditedBy = { actor: this.#actor },
  ): Promise<T> {
    this.#operator ??= this.#pool('svc_operator', Math.max(2, Math.floor(this.#poolSize / 4)))
    const [who, request] = [pg.escapeLiteral(actor), pg.escapeLiteral(requestId)]
    const begin = `begin isolation level ${mode}; set local svc.actor = ${who}; set local svc.request_id = ${request}`
    return this.#transaction(this.#operator, begin, work)
  }

  /** As `write`, on a connection of its own, not waiting for the disk: for what is nice to have, beside the traffic. */
  async writeAside<T>(tenants: Iterable<string>, work: (tx: Tx) => Promise<T>): Promise<T> {
    this.#background ??= this.#pool('svc_service', 1)
    const begin = `begin; set local synchronous_commit = off; set local svc.tenants = '${tenantSet(tenants)}'`
    return this.#transaction(this.#background, begin, work)
  }

  async #transaction<T>(pool: pg.Pool, begin: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    const tx = new ClientTx(client)
    let broken: Error | undefined
    try {
      // Not awaited: it travels in the same packet as the first statement, whose failure would show it too.
      const begun = client.query(begin)
      begun.catch(() => undefined)
      const result = await work(tx)
      await tx.written()
      await begun
      // A reader need not wait for the end of its transaction: whoever has the connection next queues behind it.
      if (begin.startsWith(READ)) client.query('commit').catch(() => undefined)
      else await client.query('commit')
      return result
    } catch (error) {
      this.noteFailure(tx.firstFailure ?? error)
      await client.query('rollback').catch((failed: Error) => (broken = failed))
      throw tx.firstFailure ?? error
    } finally {
      client.release(broken)
    }
  }

  /** To be told of every write that failed. */
  noteFailure(error: unknown): void {
    if (sqlState(error) === DISK_FULL) this.#full = true
  }

  /** After a write that found no room: throws until there is some again. */
  async expectRoom(): Promise<void> {
    if (!this.#full) return
    const client = await this.#service.connect()
    let broken: Error | undefined
    try {
      await client.query(`begin; ${TAKE_ROOM}`)
      this.#full = false
    } finally {
      await client.query('rollback').catch((failed: Error) => (broken = failed))
      client.release(broken)
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#service.end(), this.#operator?.end(), this.#background?.end()])
  }
}
