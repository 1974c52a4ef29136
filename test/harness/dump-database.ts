import { expect } from 'vitest'
import { asSuperuser } from './service.ts'

/** Every column of every table as text; what is binary also as the characters that it may spell. */
export function dumpDatabase(database: string): Promise<string> {
  return asSuperuser(database, async (db) => {
    const { rows: tables } = await db.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'svc' and table_type = 'BASE TABLE'`,
    )
    expect(tables.length).toBeGreaterThan(15)
    const parts: string[] = []
    for (const { name } of tables) {
      const { rows } = await db.query<{ row: string }>(`select t::text as row from ${name} t`)
      for (const { row } of rows)
        parts.push(
          row,
          row.replace(/\\+x([0-9a-f]+)/g, (_, hex: string) => Buffer.from(hex, 'hex').toString('latin1')),
        )
    }
    return parts.join('\n')
  })
}
