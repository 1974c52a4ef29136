import type pg from 'pg'
import type { Log } from '../log.ts'
import { requireCluster } from './cluster.ts'
import { connectionOptions, type DatabaseAddress, type Role, settingOf } from './connection-options.ts'
import { ConnectionPool } from './connection-pool.ts'
import { requireSessions, setSession } from './session.ts'

const CONNECT_MS_MIN = 1_000

interface ReplicaPoolOptions {
  readonly address: DatabaseAddress
  readonly Client: new (config: pg.ClientConfig) => pg.ClientBase
  /** The most connections of a role. */
  readonly max: number
  readonly waitMs: number
  /** The system identifier of the primary. */
  readonly cluster: () => Promise<string>
}

/** Connections to standbys, a pool for each role. */
export class ReplicaPools {
  readonly #options: ReplicaPoolOptions
  readonly #log: Log
  readonly #pools = new Map<Role, ConnectionPool>()

  constructor(options: ReplicaPoolOptions, log: Log) {
    this.#options = options
    this.#log = log
  }

  /** Throws `TransactionPooling` where no connection may be used. */
  requireSessions(): Promise<void> {
    return requireSessions(this.#configFor(undefined), settingOf('replica'))
  }

  of(role: Role): ConnectionPool {
    const known = this.#pools.get(role)
    if (known) return known
    const { Client, cluster, max } = this.#options
    const config = { ...this.#configFor(role), max, idleTimeoutMillis: 60_000, pipeline: true, Client }
    const onConnect = async (client: pg.ClientBase) => {
      await setSession(client, role, config.options ?? '')
      await requireCluster(client, await cluster())
    }
    const pool = new ConnectionPool({ ...config, onConnect } as object, this.#log, 'standby')
    this.#pools.set(role, pool)
    return pool
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()))
  }

  #configFor(role: Role | undefined) {
    const connectionTimeoutMillis = Math.max(CONNECT_MS_MIN, this.#options.waitMs)
    return { ...connectionOptions(this.#options.address, role, 'replica'), connectionTimeoutMillis }
  }
}
