import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseHost } from '@svc/kernel/database-url'
import pg from 'pg'
import { DatabaseUnavailable } from './connection-pool.ts'

/** Which of several servers is wanted: the primary, or a standby that serves queries. */
export type WantedServer = 'primary' | 'standby'

/** In recovery, and where `default_transaction_read_only` is on, `transaction_read_only` is on. */
const STATE = `select current_setting('transaction_read_only') = 'off' as writes,
  case when pg_is_in_recovery() then '' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`

/** How long a search lasts while no host is as wanted: a new primary is found soon after its promotion. */
const SEARCH_MS = 3_000
const PROBE_MS = 2_000
const PAUSE_MS = 200
/** How long hosts that have not responded yet are waited for once one fits. */
const GRACE_MS = 100

interface Found {
  readonly host: DatabaseHost
  readonly timeline: string
}

/** A search over all hosts at once. */
class Search {
  readonly found: Found[] = []
  readonly errors = new Map<DatabaseHost, unknown>()
  over = false
  readonly first: Promise<void>
  #report: () => void = () => undefined

  constructor() {
    this.first = new Promise((resolve) => (this.#report = resolve))
  }

  add(found: Found): void {
    this.found.push(found)
    this.#report()
  }

  /**
   * After a failover two servers may accept writes for a moment, and the later timeline is that of the new primary.
   * Timelines are hexadecimal numbers of one length.
   */
  get best(): DatabaseHost | undefined {
    return this.found.reduce<Found | undefined>(
      (best, each) => (best && best.timeline >= each.timeline ? best : each),
      undefined,
    )?.host
  }
}

/** Finds the wanted server among several, and remembers it until a connection to it ends. */
export class ServerLocator {
  readonly #hosts: readonly DatabaseHost[]
  readonly #wanted: WantedServer
  readonly #config: pg.ClientConfig
  #known: DatabaseHost | undefined
  #search: Promise<DatabaseHost> | undefined

  constructor(hosts: readonly DatabaseHost[], wanted: WantedServer, config: pg.ClientConfig) {
    this.#hosts = hosts
    this.#wanted = wanted
    this.#config = config
  }

  /** The server to connect to. Throws when none is as wanted for some seconds. */
  async locate(): Promise<DatabaseHost> {
    if (this.#known) return this.#known
    this.#search ??= this.#find().finally(() => (this.#search = undefined))
    return this.#search
  }

  /** After a connection to it ended: it may not be what it was. */
  forget(host: DatabaseHost): void {
    if (this.#known === host) this.#known = undefined
  }

  async #find(): Promise<DatabaseHost> {
    const search = new Search()
    const stop = new AbortController()
    const limit = sleep(SEARCH_MS, undefined, { signal: stop.signal }).catch(() => undefined)
    const responses = this.#hosts.map((host) => this.#watch(host, search, stop.signal))
    await Promise.race([search.first, limit])
    if (search.found.length > 0) await Promise.race([Promise.all(responses), sleep(GRACE_MS)])
    search.over = true
    stop.abort()
    this.#known = search.best
    if (this.#known) return this.#known
    throw failureOf([...search.errors.values()], this.#wanted)
  }

  /** Resolves at the first response or failure, and asks again until the search is over. */
  async #watch(host: DatabaseHost, search: Search, signal: AbortSignal): Promise<void> {
    if (await this.#probe(host, search)) return
    void (async () => {
      while (!search.over) {
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
        if (search.over || (await this.#probe(host, search))) return
      }
    })()
  }

  /** Whether the host is as wanted. */
  async #probe(host: DatabaseHost, search: Search): Promise<boolean> {
    const client = pointAt(new pg.Client({ ...this.#config, connectionTimeoutMillis: PROBE_MS }), host)
    client.on('error', () => undefined)
    try {
      await client.connect()
      const query: pg.QueryConfig & { query_timeout: number } = { text: STATE, query_timeout: PROBE_MS }
      const { writes, timeline } = (await client.query<{ writes: boolean; timeline: string }>(query)).rows[0]!
      search.errors.delete(host)
      const fits = this.#wanted === 'primary' ? writes : timeline === ''
      if (fits) search.add({ host, timeline })
      return fits
    } catch (error) {
      search.errors.set(host, error)
      return false
    } finally {
      // A server that stands still would keep the end waiting.
      ;(client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
    }
  }
}

/** A wrong password is not repaired by waiting: its own error is the one to show (SQLSTATE class 28). */
function failureOf(errors: readonly unknown[], wanted: WantedServer): Error {
  const refused = errors.find((error) => error instanceof pg.DatabaseError && error.code?.startsWith('28'))
  if (refused) return refused as Error
  const what = wanted === 'primary' ? 'accepts writes' : 'is a standby'
  return new DatabaseUnavailable(`none of the database hosts ${what}`, { cause: errors[0] })
}

const pointAt = <C extends pg.ClientBase>(client: C, { host, port }: DatabaseHost): C =>
  Object.assign(client, { host, port })

export interface LocatedConfig extends pg.ClientConfig {
  /** Where the connection goes, in place of the configured host. */
  readonly locator?: ServerLocator
}

/** A `pg.Client` that connects to the wanted one of several servers (pg itself knows one host). */
export class DatabaseClient extends pg.Client {
  readonly #locator: ServerLocator | undefined

  constructor(config: LocatedConfig) {
    super(config)
    this.#locator = config.locator
  }

  override connect(): Promise<this>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<this> | void {
    if (!callback) return this.#point().then(() => super.connect() as unknown as Promise<this>)
    // oxlint-disable-next-line promise/no-callback-in-promise -- pg-pool gives one
    this.#point().then(() => super.connect(callback), callback)
  }

  async #point(): Promise<void> {
    const host = await this.#locator?.locate()
    if (!host) return
    pointAt(this, host)
    this.once('end', () => this.#locator?.forget(host))
  }
}
