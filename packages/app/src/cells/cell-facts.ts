import { type CellDatabase, rowsOf } from './cell-connection.ts'

type Cell = Pick<CellDatabase, 'client'>

/** Tenants move by logical replication. */
export async function walLevelOf({ client }: Cell): Promise<string> {
  const [server] = await rowsOf<{ level: string }>(client, `select current_setting('wal_level') as level`)
  return server!.level
}

/** The names of all migrations that were run. */
export async function schemaOf({ client }: Cell): Promise<string> {
  const [row] = await rowsOf<{ names: string }>(
    client,
    `select string_agg(name, ' ' order by name) as names from migrations`,
  )
  return row!.names
}

/** A hash of the keys by which digests and encrypted columns are read: equal in cells that share their keyring. */
export async function keysOf({ client }: Cell): Promise<string | null> {
  const [row] = await rowsOf<{ keys: string | null }>(
    client,
    `select encode(sha256(convert_to(string_agg(key_id, ',' order by key_id), 'UTF8')), 'hex') as keys
     from keyring where purpose in ('api_key_digest', 'card_number_digest', 'session')`,
  )
  return row!.keys
}

/** A period whose books are closed. */
export interface Closed {
  readonly through: string
  readonly until: Date
}

/** The last one of a cell. */
export async function closedThrough({ client }: Cell): Promise<Closed | undefined> {
  const [last] = await rowsOf<Closed>(
    client,
    'select through::text as through, until from book_closings order by through desc limit 1',
  )
  return last
}
