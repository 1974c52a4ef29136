import { Socket } from 'node:net'
import pg from 'pg'
import { BoundedWaits, Deadlines } from '../deadlines.ts'
import type { Log } from '../log.ts'

/** Not the statement but the way to the database is the trouble: the work may be tried again. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/** The server takes no writes: a standby, or a primary that was replaced (SQLSTATE 25006). */
export class ReadOnlyDatabase extends DatabaseUnavailable {
  override name = 'ReadOnlyDatabase'
}

/**
 * What bounds the use of a connection. A number: milliseconds for the whole use, waiting for the connection included, on
 * a server that takes writes. `silence`: the longest time without a byte from the server; above `statement_timeout`.
 * `long`: the same for statements that have no timeout, such as proofs over all data.
 */
export type Limit = number | 'silence' | 'long'

/** What a transaction of this limit begins with, behind its other settings. */
export const timeOf = (limit: Limit): string => (limit === 'long' ? '; set local statement_timeout = 0' : '')

const SILENCE_MS = 35_000
/** A migration may build an index for long, and says nothing meanwhile. TCP keepalive notices a dead peer far sooner. */
const LONG_SILENCE_MS = 3_600_000
const CLOSE_MS = 1_000

/** First probe of a connection that nothing comes from; Node then sends ten, a second apart. */
export const KEEPALIVE_AFTER_MS = 5_000

/** A socket that gives up after a long silence: no connection to the database is without a limit. */
export function limitedSocket(): Socket {
  const socket = new Socket()
  // A client that finds no server to connect to leaves its socket without a listener: the error would end the process.
  socket.on('error', () => undefined)
  socket.setTimeout(LONG_SILENCE_MS)
  endWhenSilent(socket)
  return socket
}

const endWhenSilent = (socket: Socket): unknown =>
  socket.on('timeout', () =>
    socket.destroy(new DatabaseUnavailable('the database sent nothing for too long')),
  )

/** A connection in use; the one who has it must release it, with the error when it is broken. */
export interface Lease {
  readonly client: pg.PoolClient
  release(broken?: Error): void
}

interface Use {
  readonly deadlineMs: number
  readonly limitMs: number
  readonly client: pg.PoolClient
}

type Wire = { readonly connection: { readonly stream: Socket; on(event: string, listener: unknown): void } }
const streamOf = (client: pg.ClientBase): Socket => (client as unknown as Wire).connection.stream

/** Server parameters that PostgreSQL 14 and later report on their own (manual, "Asynchronous Operations"). */
const READ_ONLY_PARAMETERS = new Set(['in_hot_standby', 'default_transaction_read_only'])

/** How many of the connections of a pool are in use, how many uses wait for one, and how many there may be. */
export interface ConnectionCount {
  readonly used: number
  readonly waiting: number
  readonly max: number
}

/** Connections to one database under one role. A use that passes its limit loses its connection. */
export class ConnectionPool {
  readonly #pool: pg.Pool
  readonly #log: Log
  readonly #server: 'primary' | 'standby'
  readonly #waits = new BoundedWaits()
  readonly #uses: Deadlines<Use>
  readonly #open = new Set<pg.PoolClient>()
  readonly #idle = new Set<pg.PoolClient>()
  /** Of each connection, the reported parameters that say that its server takes no writes. */
  readonly #readOnly = new WeakMap<object, Set<string>>()

  /** `standby`: its connections are read-only and used all the same. */
  constructor(config: pg.PoolConfig, log: Log, server: 'primary' | 'standby' = 'primary') {
    this.#log = log
    this.#server = server
    this.#uses = new Deadlines((late) => this.#hangUp(late))
    this.#pool = new pg.Pool({
      ...config,
      Client: this.#watched(config.Client ?? pg.Client),
    } as pg.PoolConfig)
    // A connection that breaks while idle is replaced on next use; the use that needs it then fails with its cause.
    this.#pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'))
    // One that breaks while it is in use fails the statements under way, which report it; without a listener its `error`
    // event would end the process besides.
    this.#pool.on('connect', (client) => {
      client.on('error', () => undefined)
      this.#open.add(client)
      client.once('end', () => this.#open.delete(client))
      endWhenSilent(streamOf(client))
    })
    this.#pool.on('acquire', (client) => this.#idle.delete(client))
    this.#pool.on('remove', (client) => this.#idle.delete(client))
  }

  get counts(): ConnectionCount {
    const { idleCount, options, totalCount, waitingCount } = this.#pool
    return { used: totalCount - idleCount, waiting: waitingCount, max: options.max }
  }

  /** A connection for one use, within its limit from now on. */
  async lease(limit: Limit): Promise<Lease> {
    const { client, use } = await this.#connect(limit)
    return {
      client,
      release: (broken) => {
        if (use) this.#uses.delete(use)
        else streamOf(client).setTimeout(LONG_SILENCE_MS)
        const readOnly = this.#isReadOnly(client)
        if (!broken && !readOnly) this.#idle.add(client)
        client.release(broken ?? readOnly)
      },
    }
  }

  async #connect(limit: Limit): Promise<{ client: pg.PoolClient; use: Use | undefined }> {
    if (typeof limit === 'string') {
      const client = await this.#pool.connect()
      streamOf(client).setTimeout(limit === 'silence' ? SILENCE_MS : LONG_SILENCE_MS)
      return { client, use: undefined }
    }
    const deadlineMs = performance.now() + limit
    const connecting = this.#pool.connect()
    const late = () => new DatabaseUnavailable(`no connection to the database within ${limit} ms`)
    const client = await this.#waits.within(deadlineMs, connecting, late).catch((error: unknown) => {
      connecting.then(
        (unwanted) => {
          this.#idle.add(unwanted)
          unwanted.release()
        },
        () => undefined,
      )
      throw error
    })
    if (this.#isReadOnly(client)) {
      client.release(true)
      throw new ReadOnlyDatabase('the database is read-only: a standby, or set to read-only transactions')
    }
    const use = { deadlineMs, limitMs: limit, client }
    this.#uses.add(use)
    return { client, use }
  }

  /** Connections that keep what their server reports of itself, from the start of the session on. */
  #watched(Client: new (config: pg.ClientConfig) => pg.ClientBase): typeof pg.Client {
    const readOnly = this.#readOnly
    return class extends Client {
      constructor(config: pg.ClientConfig) {
        super(config)
        const on = new Set<string>()
        readOnly.set(this, on)
        const note = ({ parameterName, parameterValue }: Record<string, string>) => {
          if (!READ_ONLY_PARAMETERS.has(parameterName!)) return
          if (parameterValue === 'on') on.add(parameterName!)
          else on.delete(parameterName!)
        }
        ;(this as unknown as Wire).connection.on('parameterStatus', note)
      }
    } as unknown as typeof pg.Client
  }

  #isReadOnly(client: object): boolean {
    return this.#server === 'primary' && (this.#readOnly.get(client)?.size ?? 0) > 0
  }

  #hangUp(late: readonly Use[]): void {
    for (const { client, limitMs } of late)
      streamOf(client).destroy(new DatabaseUnavailable(`the database did not finish within ${limitMs} ms`))
    this.#log.warn(
      { connections: late.length },
      'the database did not respond in time; connections are closed',
    )
    this.dropIdle()
  }

  /** After a connection fell silent or turned read-only: those that wait to be used most likely share its fate. */
  dropIdle(): void {
    const idle = [...this.#idle]
    this.#idle.clear()
    for (const client of idle)
      streamOf(client).destroy(new DatabaseUnavailable('closed with another connection'))
  }

  /** Ends all connections; what does not end in time is destroyed, so that it keeps no process alive. */
  async close(): Promise<void> {
    const ended = Promise.all([...this.#open].map((client) => new Promise((end) => client.once('end', end))))
    await Promise.all([this.#pool.end(), ended].map((end) => this.#bounded(end)))
    for (const client of this.#open) streamOf(client).destroy()
  }

  #bounded(end: Promise<unknown>): Promise<unknown> {
    const late = () => new DatabaseUnavailable('connections did not end in time')
    return this.#waits.within(performance.now() + CLOSE_MS, end, late).catch(() => undefined)
  }
}
