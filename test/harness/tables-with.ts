import { asSuperuser, type TestService } from './service.ts'

/** The tables in any of whose columns, of whatever type, a row has one of the texts; bytes are searched too. */
export const tablesWith = ({ db: { database } }: TestService, texts: readonly string[]): Promise<string[]> =>
  asSuperuser(database, async (db) => {
    const tables: { rows: { name: string }[] } = await db.query(
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'svc' and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
    )
    const wanted = texts.flatMap((text) => [text, Buffer.from(text).toString('hex')])
    const found: string[] = []
    for (const { name } of tables.rows) {
      const { rows } = await db.query(
        `select from ${name} t, unnest($1::text[]) w where strpos(lower(t::text), lower(w)) > 0 limit 1`,
        [wanted],
      )
      if (rows.length > 0) found.push(name)
    }
    return found
  })
