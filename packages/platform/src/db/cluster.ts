import type pg from 'pg'
import { statement } from './statement.ts'

/** A cluster and its physical copies share a number that no other cluster has. */
export const CLUSTER = statement<{ cluster: string }>(
  'cluster',
  'select system_identifier::text as cluster from pg_control_system()',
)
const WITHIN_MS = 5_000

/** Throws where the server is no copy of this cluster: positions in their write-ahead logs cannot be compared. */
export async function requireCluster(client: pg.ClientBase, wanted: string): Promise<void> {
  const query: pg.QueryConfig & { query_timeout: number } = { text: CLUSTER.text, query_timeout: WITHIN_MS }
  const { cluster } = (await client.query<{ cluster: string }>(query)).rows[0]!
  if (cluster !== wanted)
    throw new Error(
      `DATABASE_READ_URL leads to another cluster than DATABASE_URL: its system identifier is ${cluster}, not ${wanted}`,
    )
}
