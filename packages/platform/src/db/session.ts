import type pg from 'pg'
import { DatabaseClient, type LocatedConfig } from './server-locator.ts'

const WITHIN_MS = 5_000
const ROUNDS = 3

type Timed = pg.QueryConfig & { query_timeout: number }
const timed = (text: string, values: readonly string[] = []): Timed => ({
  text,
  values: [...values],
  query_timeout: WITHIN_MS,
})

/** The database is reached through a pooler that gives each transaction another server process. */
export class TransactionPooling extends Error {
  override name = 'TransactionPooling'
}

/**
 * PgBouncer drops the options of a connection (`ignore_startup_parameters`): then the role of the session, hence
 * row-level security, and its settings are set by statements.
 */
export async function setSession(client: pg.ClientBase, role: string, options: string): Promise<void> {
  const { rows } = await client.query<{ role: string }>(timed('select current_user::text as role'))
  if (rows[0]!.role === role) return
  for (const [, name, value] of options.matchAll(/-c (\w+)=(\S+)/g))
    await client.query(timed('select set_config($1, $2, false)', [name!, value!]))
}

/** Of all servers: two standbys at one address may have processes with the same number. */
const PROCESS = `select concat(pg_backend_pid(), ' ', pg_postmaster_start_time()) as process`

/**
 * Throws `TransactionPooling` where two connections share a server process: prepared statements and the role of a session
 * would get lost, or reach another caller.
 *
 * @param setting names the URL in the error
 */
export async function requireSessions(config: LocatedConfig, setting: string): Promise<void> {
  const clients = [new DatabaseClient(config), new DatabaseClient(config)]
  const processOf = async (client: pg.ClientBase) =>
    (await client.query<{ process: string }>(timed(PROCESS))).rows[0]!.process
  try {
    for (const client of clients) {
      client.on('error', () => undefined)
      await client.connect()
    }
    const seen = clients.map(() => new Set<string>())
    for (let round = 0; round < ROUNDS; round++)
      for (const [n, client] of clients.entries()) seen[n]!.add(await processOf(client))
    const shared = [...seen[0]!].some((process) => seen[1]!.has(process))
    if (shared || seen.some(({ size }) => size > 1))
      throw new TransactionPooling(
        `${setting} leads through a pooler in transaction mode: prepared statements and the role of a session get lost there. Use session mode (PgBouncer: pool_mode = session).`,
      )
  } finally {
    for (const client of clients) await client.end().catch(() => undefined)
  }
}
