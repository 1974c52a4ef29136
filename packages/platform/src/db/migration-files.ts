import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { PACKAGE_ROOT } from '../package.ts'

/**
 * How a file runs, by its first line (decision X3):
 * - `transaction`: in one transaction, the default;
 * - `statements`, by `-- run: statement by statement`: each in its own transaction, as `create index concurrently` needs;
 * - `batches`, by `-- run: in batches`: its one statement again and again, each time in its own transaction, until it
 *   changes no row.
 */
export type Run = 'transaction' | 'statements' | 'batches'

export interface MigrationFile {
  /** Such as `0001_base`. */
  readonly name: string
  readonly run: Run
  readonly sql: string
}

export const MIGRATIONS = join(PACKAGE_ROOT, 'migrations')

const RUNS: Readonly<Record<string, Run>> = {
  '-- run: statement by statement': 'statements',
  '-- run: in batches': 'batches',
}

/** The names of this program's migrations, in order. */
export const migrationNames = async (folder = MIGRATIONS): Promise<string[]> =>
  (await readdir(folder))
    .filter((name) => /^\d{4}_.+\.sql$/.test(name))
    .sort()
    .map((name) => name.replace('.sql', ''))

export async function readMigration(name: string, folder = MIGRATIONS): Promise<MigrationFile> {
  const sql = await readFile(join(folder, `${name}.sql`), 'utf8')
  const [first = ''] = sql.split('\n', 1)
  const run = RUNS[first]
  if (!run && first.startsWith('-- run:'))
    throw new Error(`${name}: the first line must be one of ${Object.keys(RUNS).join(', ')}`)
  return { name, run: run ?? 'transaction', sql }
}

/** The statements of a file that does not run as one transaction; each ends a line with a semicolon. */
export const statementsOf = ({ sql }: MigrationFile): string[] =>
  sql
    .replace(/^--.*\n/gm, '')
    .split(/;\s*(?:\n|$)/)
    .map((text) => text.trim())
    .filter((text) => text !== '')

/** Runs the whole file in the transaction of a schema that is not in use, where nothing needs to be built concurrently. */
export async function runOffline(client: pg.ClientBase, file: MigrationFile): Promise<void> {
  const { run, sql } = file
  if (run === 'batches') {
    const [text] = statementsOf(file)
    for (let changed = -1; changed !== 0; ) changed = (await client.query(text!)).rowCount ?? 0
  } else await client.query(run === 'statements' ? sql.replace(/\bconcurrently\b/gi, '') : sql)
}
