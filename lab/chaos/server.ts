import { execFileSync } from 'node:child_process'
import { type EmbeddedServer, openEmbedded } from '@svc/embedded-postgres/embedded'
import pg from 'pg'

/** A PostgreSQL server of the run's own, kept running the way an operator's init system would. */
export class DatabaseServer {
  readonly #dataDir: string
  readonly #settings: Record<string, string>
  #server: EmbeddedServer
  #watch: NodeJS.Timeout | undefined
  #starting: Promise<void> | undefined
  starts = 0

  private constructor(dataDir: string, settings: Record<string, string>, server: EmbeddedServer) {
    this.#dataDir = dataDir
    this.#settings = settings
    this.#server = server
    process.once('exit', this.#endWithUs)
    this.#watch = setInterval(() => {
      if (!isAlive(this.#server.pid)) void this.restarted().catch(() => undefined)
    }, 200)
  }

  static async open(dataDir: string, more: Record<string, string> = {}): Promise<DatabaseServer> {
    const settings = { ...SETTINGS, ...more }
    return new DatabaseServer(dataDir, settings, await openEmbedded({ dataDir, settings }))
  }

  get host(): string {
    return this.#server.host
  }

  get port(): number {
    return this.#server.port
  }

  /** Ends the postmaster and all its processes with SIGKILL, as a power failure would, and starts it again. */
  async kill(): Promise<void> {
    const { pid } = this.#server
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)])
      .toString()
      .split('\n')
      .map(Number)
      .filter((child) => child > 0)
    for (const each of [pid, ...children])
      try {
        process.kill(each, 'SIGKILL')
      } catch {
        // It ended by itself in between.
      }
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5))
    await this.restarted()
  }

  /** Resolves when a server that ended runs again. */
  restarted(): Promise<void> {
    this.#starting ??= openEmbedded({ dataDir: this.#dataDir, settings: this.#settings })
      .then((server) => {
        this.#server = server
        this.starts++
      })
      .finally(() => (this.#starting = undefined))
    return this.#starting
  }

  /** Statements as superuser, past the proxy; tried again while the server is away. */
  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    for (;;) {
      const client = await this.connect().catch(() => undefined)
      try {
        if (client) return (await client.query<Row>(text, values)).rows
      } catch (error) {
        if (error instanceof pg.DatabaseError && !/^(?:57|53|58)/.test(error.code ?? '')) throw error
      } finally {
        await client?.end().catch(() => undefined)
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  async connect(database = 'svc'): Promise<pg.Client> {
    const { host, port } = this.#server
    const options = '-c search_path=svc'
    const client = new pg.Client({ host, port, user: 'postgres', database, options })
    client.on('error', () => undefined)
    await client.connect()
    return client
  }

  /** A run that breaks down leaves nobody behind. */
  readonly #endWithUs = (): void => {
    if (isAlive(this.#server.pid)) process.kill(this.#server.pid, 'SIGQUIT')
  }

  async close(): Promise<void> {
    process.off('exit', this.#endWithUs)
    clearInterval(this.#watch)
    await this.#starting
    await this.#server.release()
  }
}

const SETTINGS = { max_connections: '200', max_wal_size: '256MB', log_min_messages: 'warning' }

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
