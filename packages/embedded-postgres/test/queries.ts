import type { EmbeddedServer } from '@svc/embedded-postgres/embedded'
import { Client } from 'pg'

export async function query<Row extends object>(
  server: Pick<EmbeddedServer, 'host' | 'port'>,
  sql: string,
): Promise<Row[]> {
  const client = new Client({ host: server.host, port: server.port, user: 'postgres', database: 'postgres' })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end().catch(() => {})
  }
}

/** How many use the server: each holds this lock on a connection of its own. */
export const useLocks = async (server: EmbeddedServer) =>
  (await query(server, `select 1 from pg_locks where locktype = 'advisory' and mode = 'ShareLock'`)).length
