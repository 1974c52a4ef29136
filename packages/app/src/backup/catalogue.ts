import { invariant } from '@svc/kernel/invariant'
import type pg from 'pg'

/** A table to be copied, with the columns that are not computed from others. */
export interface Table {
  readonly name: string
  readonly columns: readonly string[]
  /** The first day of each of its partitions, where it is partitioned by ids (decision X26). */
  readonly partitions?: readonly string[]
}

/** What is true of a running installation only, or is made again by the migrations. */
const NOT_COPIED = ['installation', 'migrations', 'partitioned_tables', 'webhook_leases']

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

interface Row {
  readonly name: string
  readonly columns: string[]
  readonly refers_to: string[]
  readonly partitions: string[] | null
}

/** Tables of the schema, each after those that it refers to: in this order they can be filled. */
export async function tablesOf(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Row>(
    `select c.relname as name,
       array(select a.attname::text from pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
         order by a.attnum) as columns,
       array(select distinct f.relname::text from pg_constraint k join pg_class f on f.oid = k.confrelid
         where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as refers_to,
       case when c.relkind = 'p' then array(select right(p.relname, 8)
         from pg_inherits i join pg_class p on p.oid = i.inhrelid
         where i.inhparent = c.oid and p.relname <> c.relname || '_default' order by 1) end as partitions
     from pg_class c
     where c.relnamespace = 'svc'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname <> all ($1)
     order by c.relname`,
    [NOT_COPIED],
  )
  const placed = new Map<string, Table>()
  while (placed.size < rows.length) {
    const ready = rows.filter((row) => !placed.has(row.name) && row.refers_to.every((to) => placed.has(to)))
    invariant(ready.length > 0, 'no two tables refer to each other')
    for (const { name, columns, partitions } of ready)
      placed.set(name, { name, columns, ...(partitions && { partitions }) })
  }
  return [...placed.values()]
}

/** A foreign key of a table to itself, as SQL. */
export interface OwnReference {
  readonly table: string
  readonly name: string
  readonly text: string
}

/**
 * A table comes in many parts, in no order, and a row may come before the one that it names: such keys are added when
 * all are there.
 */
export async function ownReferencesOf(client: pg.ClientBase): Promise<OwnReference[]> {
  const { rows } = await client.query<OwnReference>(
    `select k.conrelid::regclass::text as table, quote_ident(k.conname) as name, pg_get_constraintdef(k.oid) as text
     from pg_constraint k
     where k.connamespace = 'svc'::regnamespace and k.contype = 'f' and k.conrelid = k.confrelid and k.conparentid = 0
     order by 1, 2`,
  )
  return rows
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
