import { join } from 'node:path'
import { writeWhole } from '@svc/platform/write-whole'
import { quoted } from '../backup/catalogue.ts'
import { type CellDatabase, rowsOf } from './cell-connection.ts'
import { listCells } from './create-cell.ts'
import { REFERENCES } from './moved-tables.ts'

type Entry = readonly [name: string, cell: string]

/** HAProxy's maps, by their file names: what leads to which cell. */
export type Maps = Readonly<Record<string, readonly Entry[]>>

/** What of a tenant leads to it by exact value; keys are found by their beginnings, numbers by ranges. */
const EXACT = ['client', 'access_key', 'tr', 'virtual_account', 'card_token'] as const

interface TenantHome {
  readonly id: string
  readonly cell: string
}

const homesOf = ({ client }: CellDatabase, only?: readonly string[]): Promise<TenantHome[]> =>
  rowsOf(
    client,
    'select tenant_id as id, cell from tenant_homes where $1::text[] is null or tenant_id = any ($1) order by 1',
    [only ?? null],
  )

/** Where the tokens of tenants that have moved lead: what callers have in hand, known without looking anything up. */
export const tenantMapOf = async (directory: CellDatabase, only: readonly string[]): Promise<Maps> => ({
  'tenants.map': (await homesOf(directory, only)).map(({ id, cell }) => [id, cell]),
})

/**
 * Where requests of tenants that have moved lead, and the card ranges. What was issued in the cell in which its tenant
 * lives leads there by itself, or is of the first cell. `only`: of these tenants.
 */
export async function mapsOf(
  directory: CellDatabase,
  connect: (cell: string) => Promise<CellDatabase>,
  only?: readonly string[],
): Promise<Maps> {
  const homes = await homesOf(directory, only)
  const cells = await listCells(directory.client)
  const keys: Entry[] = []
  const references: Entry[] = []
  for (const { cell } of cells) {
    const tenants = homes.filter((home) => home.cell === cell).map(({ id }) => id)
    if (tenants.length === 0) continue
    const { client } = await connect(cell)
    const prefixes = await rowsOf<{ prefix: string }>(
      client,
      'select prefix from api_keys where tenant_id = any ($1) order by prefix',
      [tenants],
    )
    keys.push(...prefixes.map(({ prefix }): Entry => [prefix, cell]))
    for (const what of EXACT) {
      const { table, column, sql } = REFERENCES[what]
      const found = await rowsOf<{ name: string }>(
        client,
        `select ${sql} as name from ${quoted(table)} where ${quoted(column)} = any ($1) and ${sql} is not null order by 1`,
        [tenants],
      )
      references.push(...found.map(({ name }): Entry => [name, cell]))
    }
  }
  return {
    'tenants.map': homes.map(({ id, cell }) => [id, cell]),
    'keys.map': keys,
    'references.map': references,
    'ranges.map': cells.map(({ cardRange, cell }) => [cardRange, cell]),
  }
}

/** Each file at once: HAProxy never reads half of one. */
export async function writeMaps(folder: string, maps: Maps): Promise<void> {
  for (const [name, entries] of Object.entries(maps))
    await writeWhole(join(folder, name), entries.map(([key, cell]) => `${key} ${cell}\n`).join(''))
}
