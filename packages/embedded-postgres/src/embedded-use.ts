import { setTimeout as sleep } from 'node:timers/promises'
import { Client as PgClient } from 'pg'
import { hasEnded, isAlive, type Postmaster } from './embedded-postmaster.ts'

/**
 * Who uses a server: every open holds this advisory lock, shared, on a connection of its own to the database
 * `postgres`. A process that gets it exclusively is alone and may stop the server. It ends with the connection, so a
 * process that dies stops counting.
 */
const useLock = [0x737663, 1] as const

/** @types/pg does not know these: whether the connection keeps the process alive. */
type Client = PgClient & { ref(): void; unref(): void }

/** Failures that waiting does not heal: access refused, or no database `postgres`. */
const lastingFailures = new Set(['28000', '28P01', '3D000', 'EACCES', 'EPERM'])

const stopTimeoutMs = 60_000
const retryMs = 250

export interface Session {
  client: Client
  host: string
  port: number
  version: string
  pid: number
}

export type Release = 'stopped' | 'left running'

/**
 * Connects and takes the shared lock. Returns undefined when that is not possible now: no server listens, the
 * server is starting or ending, or it is about to be stopped.
 */
export async function takeUse(at: Postmaster): Promise<Session | undefined> {
  const client = await connect(at)
  if (!client) return undefined
  try {
    const { rows } = await client.query<{ locked: boolean; version: string; pid: number }>(
      `select pg_try_advisory_lock_shared($1, $2) as locked, current_setting('server_version') as version,
              split_part(pg_read_file('postmaster.pid'), e'\\n', 1)::int as pid`,
      [...useLock],
    )
    const [row] = rows
    // Another cluster's server can respond where a temporary socket directory was removed and made again.
    if (row?.locked && row.pid === at.pid) {
      const version = row.version.split(' ')[0] ?? row.version
      return { client, host: at.socketDir, port: at.port, version, pid: at.pid }
    }
  } catch (error) {
    rethrowLasting(error)
  }
  await client.end().catch(() => {})
  return undefined
}

async function connect(at: Postmaster): Promise<Client | undefined> {
  const client = new PgClient({
    host: at.socketDir,
    port: at.port,
    user: 'postgres',
    database: 'postgres',
    ssl: false,
    application_name: 'embedded server: in use',
    options: '-c idle_session_timeout=0 -c statement_timeout=0',
    connectionTimeoutMillis: 5000,
  }) as Client
  // Without a listener the server's death would end this process; what it means is handled where it is used.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    await client.end().catch(() => {})
    rethrowLasting(error)
    return undefined
  }
}

function rethrowLasting(error: unknown): void {
  const { code, message } = error as { code?: string; message: string }
  if (!code || !lastingFailures.has(code)) return
  throw new Error(
    `The embedded PostgreSQL refuses its own service (${code}): ${message}. ` +
      'Allow local connections of user postgres to database postgres in its pg_hba.conf.',
    { cause: error },
  )
}

/**
 * Keeps a server marked as in use until the returned function is called, once, to release it. The mark does
 * not keep the process alive. When the connection is lost and a server lives (PostgreSQL ends every session
 * when one crashes, or another process started the server again), it is taken again.
 *
 * @param locate where the data directory's server is now, if anywhere
 */
export function keepUse(locate: () => Postmaster | undefined, session: Session): () => Promise<Release> {
  let current: Session | undefined
  let released = false
  let attempt: Promise<Session | undefined> | undefined
  const retake = async (): Promise<void> => {
    await sleep(retryMs, undefined, { ref: false })
    if (released) return
    attempt = tryTakeUse(locate)
    const next = await attempt
    if (next) keep(next)
    else void retake()
  }
  const keep = (next: Session) => {
    current = next
    next.client.unref()
    next.client.once('end', () => {
      if (current === next) current = undefined
      if (!released) void retake()
    })
  }
  keep(session)
  return async () => {
    released = true
    const held = current ?? (await attempt) ?? (await tryTakeUse(locate))
    held?.client.ref()
    if (held) return release(held)
    const at = locate()
    return at && isAlive(at.pid) ? 'left running' : 'stopped'
  }
}

async function tryTakeUse(locate: () => Postmaster | undefined): Promise<Session | undefined> {
  const at = locate()
  return at && takeUse(at).catch(() => undefined)
}

async function release({ client, pid }: Session): Promise<Release> {
  if (!(await isAlone(client))) {
    await client.end().catch(() => {})
    return isAlive(pid) ? 'left running' : 'stopped'
  }
  interrupt(pid)
  if (await hasEnded(pid, stopTimeoutMs)) return 'stopped'
  throw new Error(
    `The embedded PostgreSQL (process ${pid}) was asked to stop and still runs after ${stopTimeoutMs / 1000} s. ` +
      'See its log; it may be writing its last checkpoint.',
  )
}

/** SIGINT is PostgreSQL's fast shutdown: it ends sessions and writes a checkpoint. */
function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Gives up the shared lock and takes the exclusive one, in that order: of several that release at once one gets it. */
async function isAlone(client: Client): Promise<boolean> {
  try {
    await client.query('select pg_advisory_unlock_shared($1, $2)', [...useLock])
    const { rows } = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1, $2) as alone', [
      ...useLock,
    ])
    return rows[0]?.alone === true
  } catch {
    return false
  }
}
