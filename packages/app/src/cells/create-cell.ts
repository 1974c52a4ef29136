import type { MasterKeys } from '@svc/platform/crypto/master-keys'
import type pg from 'pg'
import { type CellDatabase, CellRefused, inTransaction, recordCell, rowsOf } from './cell-connection.ts'

interface NewCell {
  readonly cell: string
  /** Leading digits of the card numbers that it issues. */
  readonly cardRange: string
  readonly actor: string
}

interface Cell {
  readonly cell: string
  readonly cardRange: string
  readonly since: Date
}

/** Which cell a database is; `undefined` where it is none. */
export async function cellOf(client: pg.ClientBase): Promise<string | undefined> {
  const [found] = await rowsOf<{ cell: string | null }>(client, 'select cell from installation')
  return found?.cell ?? undefined
}

/** All cells, oldest first; only the database of the first one knows them. */
export const listCells = (client: pg.ClientBase): Promise<Cell[]> =>
  rowsOf(client, 'select cell, card_range as "cardRange", since from cells order by since, cell')

/** Makes an installation of one database the first of several cells. Once; a repeat with the same values changes nothing. */
export const nameFirstCell = ({ client }: CellDatabase, wanted: NewCell): Promise<void> =>
  inTransaction(client, async () => {
    const present = await cellOf(client)
    if (present !== undefined) {
      const same = (await listCells(client)).find(({ cell }) => cell === present)
      if (same?.cell === wanted.cell && same.cardRange === wanted.cardRange) return
      throw new CellRefused(`This database is the cell ${present} already`)
    }
    await enter(client, wanted)
    await become(client, wanted)
  })

async function enter(client: pg.ClientBase, { cell, cardRange, actor }: NewCell): Promise<void> {
  await client.query('insert into cells (cell, card_range) values ($1, $2)', [cell, cardRange])
  await recordCell(client, actor, 'cell.created', cell, { cardRange })
}

async function become(client: pg.ClientBase, { cell, cardRange }: NewCell): Promise<void> {
  await client.query('update installation set cell = $1, card_range = $2', [cell, cardRange])
}

/** Neither of two ranges contains the other. */
const overlap = (a: string, b: string): boolean => a.startsWith(b) || b.startsWith(a)

/** A number is issued once over all cells, so a new range has no card, whether by a cell or from the time before cells. */
async function requireFreeRange(first: pg.ClientBase, { cell, cardRange }: NewCell): Promise<void> {
  const cells = await listCells(first)
  const other = cells.find((each) => each.cell !== cell && overlap(each.cardRange, cardRange))
  if (other) throw new CellRefused(`The card range ${cardRange} overlaps that of the cell ${other.cell}`)
  const issued = await rowsOf(
    first,
    'select from cards where created_at < $1 and left(masked_number, 6) = left($2, 6) limit 1',
    [cells[0]!.since, cardRange],
  )
  if (issued.length > 0)
    throw new CellRefused(
      `Cards with numbers from ${cardRange.slice(0, 6)} were issued before the first cell had a range: choose a range that begins with other digits`,
    )
}

/**
 * Makes an empty, migrated database a cell that shares the keyring with the first: digests of keys and numbers are equal in
 * both, and each reads what the other encrypted. Broken off, it is repeated with the same values.
 */
export async function createCell(
  own: CellDatabase,
  first: CellDatabase,
  masterKeys: MasterKeys,
  wanted: NewCell,
): Promise<void> {
  if ((await listCells(first.client)).length === 0)
    throw new CellRefused('The database of --from is no first cell. Name it first: svc admin cell name')
  const present = await cellOf(own.client)
  if (present !== undefined && present !== wanted.cell)
    throw new CellRefused(`This database is the cell ${present} already`)
  await requireFreeRange(first.client, wanted)
  const keys = await rowsOf<{ wrapped_by: string }>(
    first.client,
    'select key_id, purpose, wrapped, wrapped_by, created_at, retired_at, effective_at from keyring',
  )
  if (keys.length === 0)
    throw new CellRefused(
      'The first cell has no keys so far, which this one could share: start its service once, then repeat this',
    )
  const foreign = keys.find(({ wrapped_by: by }) => !masterKeys.ids.includes(by))
  if (foreign) throw new CellRefused('SVC_MASTER_KEY is not the one of the first cell: all cells share it')
  if (present === undefined) {
    await inTransaction(own.client, async () => {
      await requireEmpty(own.client)
      await own.client.query(`select set_config('svc.actor', $1, true)`, [wanted.actor])
      await own.client.query(
        'insert into keyring select * from jsonb_populate_recordset(null::keyring, $1::jsonb)',
        [JSON.stringify(keys, bytesAsHex)],
      )
      await become(own.client, wanted)
      await recordCell(own.client, wanted.actor, 'cell.created', wanted.cell, { cardRange: wanted.cardRange })
    })
  }
  const known = (await listCells(first.client)).some(({ cell }) => cell === wanted.cell)
  if (!known) await inTransaction(first.client, () => enter(first.client, wanted))
}

/** As `jsonb_populate_recordset` reads a bytea. */
function bytesAsHex(_: string, value: unknown): unknown {
  const { type, data } = (value ?? {}) as { type?: unknown; data?: number[] }
  return type === 'Buffer' && data ? `\\x${Buffer.from(data).toString('hex')}` : value
}

async function requireEmpty(client: pg.ClientBase): Promise<void> {
  const used = await rowsOf(
    client,
    `select from tenants where kind <> 'house' union all select from keyring limit 1`,
  )
  if (used.length > 0)
    throw new CellRefused(
      'The database is in use: a cell begins on an empty one, which no service was started on. Create it, then run svc admin migrate',
    )
}
