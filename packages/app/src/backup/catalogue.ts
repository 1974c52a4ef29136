import { invariant } from '@svc/kernel/invariant'
import type pg from 'pg'

/** A table to be copied, with the columns that are not computed from others. */
export interface Table {
  readonly name: string
  readonly columns: readonly string[]
}

/** What is true of a running installation only, or is made again by the migrations. */
const NOT_COPIED = ['installation', 'migrations', 'migrations_lock', 'webhook_leases']

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Tables of the schema, each after those that it refers to: in this order they can be filled. */
export async function tablesOf(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<{ name: string; columns: string[]; refers_to: string[] }>(
    `select c.relname as name,
       array(select a.attname::text from pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
         order by a.attnum) as columns,
       array(select distinct f.relname::text from pg_constraint k join pg_class f on f.oid = k.confrelid
         where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as refers_to
     from pg_class c
     where c.relnamespace = 'svc'::regnamespace and c.relkind = 'r' and c.relname <> all ($1)
     order by c.relname`,
    [NOT_COPIED],
  )
  const placed = new Map<string, Table>()
  while (placed.size < rows.length) {
    const ready = rows.filter((row) => !placed.has(row.name) && row.refers_to.every((to) => placed.has(to)))
    invariant(ready.length > 0, 'no two tables refer to each other')
    for (const { name, columns } of ready) placed.set(name, { name, columns })
  }
  return [...placed.values()]
}

/** Sequences that belong to columns. */
export async function sequencesOf(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'svc'::regnamespace and relkind = 'S' order by relname`,
  )
  return rows.map(({ name }) => name)
}

/**
 * As the owner of the tables, whom row-level security does not concern; if it did, `row_security = off` would make that
 * an error rather than an archive that lacks rows.
 */
export const AS_OWNER = `set local role svc_owner; set local search_path = svc; set local row_security = off;
  set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; set local lock_timeout = '30s'`
