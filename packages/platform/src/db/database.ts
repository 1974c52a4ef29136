import pg from 'pg'
import type { Log } from '../log.ts'
import type { Tracing } from '../tracing.ts'
import { ClientTx, type Tx, tracedStatement } from './client-tx.ts'
import { CLUSTER } from './cluster.ts'
import { CommitWatch } from './commit-watch.ts'
import { operatorConnections, railConnections, WATCH_CONNECTIONS } from './connection-counts.ts'
import { connectionOptions, type DatabaseAddress, type Login, type Role } from './connection-options.ts'
import { type ConnectionCount, ConnectionPool, type Lease, type Limit, timeOf } from './connection-pool.ts'
import { type Replication, requireDurable } from './durable.ts'
import { parametersOf } from './parameters.ts'
import { POSITION, Replica } from './replica.ts'
import { ReplicaPools } from './replica-pools.ts'
import { DatabaseClient } from './server-locator.ts'
import { setSession } from './session.ts'
import type { Statement } from './statement.ts'
import { isUnavailable, READ_ONLY, sqlState } from './unavailable.ts'

export { ClientTx, type Tx, type Writes } from './client-tx.ts'
export { isUnavailable, sqlConstraint, sqlState } from './unavailable.ts'

/** Who acts, for the audit (decision O3): `operator asha`, `cli root@host`; and by which request. */
export interface AuditedBy {
  readonly actor: string
  readonly requestId?: string
}

/** The same of a member of a tenant, by name. */
export interface ByMember {
  readonly member: string
  readonly requestId: string
}
const ofMember = ({ member, requestId }: ByMember): string =>
  `; set local svc.member = ${pg.escapeLiteral(member)}; set local svc.request_id = ${pg.escapeLiteral(requestId)}`

/** Makes connections, as `pg.Client` does. */
export type ConnectionClass = new (config: pg.ClientConfig) => pg.ClientBase

/** SQLSTATE of a wait for a row that took too long. */
export const LOCK_TIMEOUT = '55P03'

/** SQLSTATE of a query that a standby cancels because it holds up the replay; on a primary of a serialization failure. */
const RECOVERY_CONFLICT = '40001'

/** Whether the connection should not be used again, although it works: its server takes no writes. */
export const isReadOnly = (error: unknown): boolean => sqlState(error) === READ_ONLY

export const TENANT_ID = /^[a-z0-9_]{1,64}$/

/** The literal for `svc.tenants`. Tenant ids are ours, so any other form is our own mistake. */
export function tenantSet(tenants: Iterable<string>): string {
  const ids = [...new Set(tenants)]
  for (const id of ids) if (!TENANT_ID.test(id)) throw new Error('malformed tenant id')
  return ids.join(',')
}

const READ = 'begin read only'

export interface DatabaseOptions {
  /** Whom the audit names for transactions of the operator that do not say whose they are. */
  readonly actor?: string
  /** The simulation gives one of its own. */
  readonly Client?: ConnectionClass | undefined
  /** Every connection is refused on which acknowledged writes may be lost; by default none is. */
  readonly durable?: Replication | undefined
  /** How long reports wait for a standby to catch up before they read the primary, in milliseconds. */
  readonly replicaWaitMs?: number
  /** Longest time for one transaction that a request waits for, with its connection, in milliseconds. */
  readonly requestMs?: number
  /** Statements are spans of it, inside a span of a request or a batch. */
  readonly tracing?: Tracing | undefined
  /** What a process that serves does: the names of its connections have it (`CONNECTED_ROLES`). */
  readonly roles?: readonly string[]
}

const REQUEST_MS = 30_000
const REPLICA_WAIT_MS = 1_000

/**
 * One database under two roles: `svc_service`, which sees the tenants that its transaction names, and
 * `svc_operator`, which sees all. Connections are pipelined: statements that are not awaited in between travel together.
 */
export class Database {
  readonly address: DatabaseAddress
  /** Longest time for one transaction that a request waits for. */
  readonly requestMs: number
  readonly tracing: Tracing | undefined
  readonly #log: Log
  readonly #operators: number
  readonly #rails: number
  readonly #Client: ConnectionClass
  readonly #actor: string
  readonly #durable: Replication | undefined
  readonly #roles: readonly string[]
  readonly #service: ConnectionPool
  #operator: ConnectionPool | undefined
  #forOperators: ConnectionPool | undefined
  #forRails: ConnectionPool | undefined
  #background: ConnectionPool | undefined
  #watching: ConnectionPool | undefined
  #replicas: ReplicaPools | undefined
  /** Whether it commits. */
  readonly commits = new CommitWatch({
    pool: () => (this.#watching ??= this.#pool('svc_service', WATCH_CONNECTIONS)),
    onLate: () => this.#dropIdle(),
  })
  /** Where reports are read, with `DATABASE_READ_URL`. */
  readonly replica: Replica | undefined

  constructor(
    address: DatabaseAddress,
    poolSize: number,
    log: Log,
    {
      actor = 'service',
      Client = DatabaseClient,
      requestMs = REQUEST_MS,
      durable,
      replicaWaitMs = REPLICA_WAIT_MS,
      tracing,
      roles = [],
    }: DatabaseOptions = {},
  ) {
    this.address = address
    this.#log = log
    this.#operators = operatorConnections(poolSize)
    this.#rails = railConnections(poolSize)
    this.#Client = Client
    this.#actor = actor
    this.requestMs = requestMs
    this.#durable = durable
    this.#roles = roles
    this.tracing = tracing
    this.#service = this.#pool('svc_service', poolSize)
    if ('url' in address && address.replicaUrl !== undefined) {
      const cluster = async () => (await this.directory(CLUSTER))[0]!.cluster
      const options = { address, Client, max: this.#operators, waitMs: replicaWaitMs, cluster }
      this.#replicas = new ReplicaPools(options, log)
      this.replica = new Replica(this.#replicas, replicaWaitMs, log)
    }
  }

  #pool(role: Role, max: number, login: Login = role): ConnectionPool {
    const durable = this.#durable
    const config = {
      ...connectionOptions(this.address, role, login, this.#roles),
      max,
      idleTimeoutMillis: 60_000,
      pipeline: true,
      Client: this.#Client,
    }
    const onConnect = async (client: pg.ClientBase) => {
      if ('url' in this.address) await setSession(client, role, config.options ?? '')
      if (durable) await requireDurable(client, durable)
    }
    return new ConnectionPool({ ...config, onConnect } as object, this.#log)
  }

  #operatorPool(): ConnectionPool {
    return (this.#operator ??= this.#pool('svc_operator', this.#operators))
  }

  /** The pools that were used so far, by what they are for. */
  readonly pools = (): (readonly [name: string, counts: ConnectionCount])[] => {
    const all = {
      requests: this.#service,
      reports: this.#operator,
      operators: this.#forOperators,
      rails: this.#forRails,
      background: this.#background,
      watch: this.#watching,
    }
    return Object.entries(all).flatMap(([name, pool]) => (pool ? [[name, pool.counts] as const] : []))
  }

  /**
   * A connection of the service for a batch; the caller releases it, with the error when it is broken. A batch with
   * commands of operators uses their login, the only one that may name them in the audit (decision O3).
   */
  lease(login: 'service' | 'operators' | 'rail'): Promise<Lease> {
    if (login === 'service') return this.#service.lease(this.requestMs)
    if (login === 'rail') {
      this.#forRails ??= this.#pool('svc_service', this.#rails, 'svc_rail')
      return this.#forRails.lease(this.requestMs)
    }
    this.#forOperators ??= this.#pool('svc_service', this.#operators, 'svc_operator')
    return this.#forOperators.lease(this.requestMs)
  }

  /** Whether there is a login for operators. */
  get hasOperators(): boolean {
    return 'host' in this.address || this.address.operatorUrl !== undefined
  }

  /** Statements of the service on behalf of these tenants, read-only, in one transaction. */
  async read<T>(
    tenants: Iterable<string>,
    work: (tx: Tx) => Promise<T>,
    limit: Limit = this.requestMs,
  ): Promise<T> {
    const begin = `${READ}; set local svc.tenants = '${tenantSet(tenants)}'`
    return this.#transaction(await this.#service.lease(limit), begin, work)
  }

  /** Statements of the service that need no tenant: the directory, the keyring. */
  async directory<Row>(
    { name, text }: Statement<Row>,
    values: readonly unknown[] = [],
    limit: Limit = this.requestMs,
  ): Promise<Row[]> {
    const { client, release } = await this.#service.lease(limit)
    let broken: Error | undefined
    const query = () => client.query({ name, text, values: parametersOf(values) })
    try {
      return (await tracedStatement(this.tracing, name, query)).rows as Row[]
    } catch (error) {
      broken = error as Error
      throw error
    } finally {
      release(broken)
    }
  }

  /** A transaction of the service on behalf of these tenants, outside of any batch; `by` a member whom the audit names. */
  async write<T>(
    tenants: Iterable<string>,
    work: (tx: Tx) => Promise<T>,
    limit: Limit = this.requestMs,
    by?: ByMember,
  ): Promise<T> {
    const begin = `begin; set local svc.tenants = '${tenantSet(tenants)}'${by ? ofMember(by) : ''}`
    return this.#transaction(await this.#service.lease(limit), begin, work)
  }

  /**
   * A transaction of the operator, who sees every tenant: command line, reconciliation, console. What it changes is
   * audited under the name that is given.
   */
  async operate<T>(
    work: (tx: Tx) => Promise<T>,
    mode: 'read committed' | 'repeatable read' = 'read committed',
    { actor, requestId = '' }: AuditedBy = { actor: this.#actor },
    limit: Limit = 'silence',
  ): Promise<T> {
    const [who, request] = [pg.escapeLiteral(actor), pg.escapeLiteral(requestId)]
    const begin = `begin isolation level ${mode}; set local svc.actor = ${who}; set local svc.request_id = ${request}${timeOf(limit)}`
    return this.#transaction(await this.#operatorPool().lease(limit), begin, work)
  }

  /**
   * A report or a list for operators, read-only and never the base of a decision: on a standby that has all that was
   * committed before, else on the primary.
   */
  report<T>(
    work: (tx: Tx) => Promise<T>,
    mode: 'read committed' | 'repeatable read' = 'read committed',
    limit: Limit = 'silence',
  ): Promise<T> {
    const begin = `begin isolation level ${mode} read only; set local svc.actor = ${pg.escapeLiteral(this.#actor)}${timeOf(limit)}`
    return this.#readLarge('svc_operator', begin, work, limit)
  }

  /** As `read`, for what reads much and decides nothing: on a standby that has all that was committed before, if there is one. */
  readLarge<T>(tenants: Iterable<string>, work: (tx: Tx) => Promise<T>, limit: Limit): Promise<T> {
    const begin = `${READ}; set local svc.tenants = '${tenantSet(tenants)}'`
    return this.#readLarge('svc_service', begin, work, limit)
  }

  async #readLarge<T>(role: Role, begin: string, work: (tx: Tx) => Promise<T>, limit: Limit): Promise<T> {
    const position = async () => (await this.directory(POSITION))[0]!.position
    const lease = await this.replica?.lease(role, limit, position)
    if (lease)
      try {
        return await this.#transaction(lease, begin, work)
      } catch (error) {
        if (!isUnavailable(error) && sqlState(error) !== RECOVERY_CONFLICT) throw error
        this.replica!.failed(error)
      }
    const pool = role === 'svc_operator' ? this.#operatorPool() : this.#service
    return this.#transaction(await pool.lease(limit), begin, work)
  }

  /** As `write`, on a connection of its own, not waiting for the disk: for what is nice to have, beside the traffic. */
  async writeAside<T>(tenants: Iterable<string>, work: (tx: Tx) => Promise<T>): Promise<T> {
    this.#background ??= this.#pool('svc_service', 1)
    const begin = `begin; set local synchronous_commit = off; set local svc.tenants = '${tenantSet(tenants)}'`
    return this.#transaction(await this.#background.lease('silence'), begin, work)
  }

  async #transaction<T>({ client, release }: Lease, begin: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const tx = new ClientTx(client, this.tracing)
    let broken: Error | undefined
    try {
      // Not awaited: it travels in the same packet as the first statement, whose failure would show it too.
      const begun = client.query(begin)
      begun.catch(() => undefined)
      const result = await work(tx)
      await tx.written()
      await begun
      // A reader need not wait for the end of its transaction: the next user of the connection queues behind it.
      if (begin.startsWith(READ)) client.query('commit').catch(() => undefined)
      else await tx.commit()
      return result
    } catch (error) {
      this.noteFailure(tx.firstFailure ?? error)
      await client.query('rollback').catch((failed: Error) => (broken = failed))
      if (isReadOnly(tx.firstFailure)) broken ??= tx.firstFailure as Error
      throw tx.firstFailure ?? error
    } finally {
      release(broken)
    }
  }

  /** To be called for every write that failed. */
  noteFailure(error: unknown): void {
    this.commits.noteFailure(error)
    if (isReadOnly(error)) this.#dropIdle()
  }

  /** Idle connections of batches, which may lead to what was the primary. */
  #dropIdle(): void {
    for (const pool of [this.#service, this.#forOperators, this.#forRails]) pool?.dropIdle()
  }

  async close(): Promise<void> {
    const writing = [this.#service, this.#forOperators, this.#forRails]
    const pools = [...writing, this.#operator, this.#background, this.#watching, this.#replicas]
    await Promise.all(pools.map(async (pool) => pool?.close()))
  }
}
