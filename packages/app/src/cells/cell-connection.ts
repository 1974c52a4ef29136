import type { CellUrls } from '@svc/contract/cell-settings'
import type { Queries } from '@svc/platform/db/client-tx'
import { connectionOptions, type DatabaseAddress } from '@svc/platform/db/connection-options'
import { LOCK_TIMEOUT, sqlState } from '@svc/platform/db/database'
import { DatabaseClient } from '@svc/platform/db/server-locator'
import type { Statement } from '@svc/platform/db/statement'
import type pg from 'pg'

/** What the person at the keyboard has to change first; its message is for them. */
export class CellRefused extends Error {
  override name = 'CellRefused'
}

/** A connection with the owner's rights to the database of a cell. */
export interface CellDatabase {
  readonly client: pg.Client
  readonly address: DatabaseAddress
  close(): Promise<void>
}

/** `application_name` of these sessions: a mover that died is found by it. */
const CELL_SESSION = 'svc cells'

export async function connectCell(address: DatabaseAddress): Promise<CellDatabase> {
  const options = { ...connectionOptions(address, undefined), application_name: CELL_SESSION }
  const client = new DatabaseClient(options)
  client.on('error', () => undefined)
  await client.connect()
  await client.query(`set search_path = svc; set lock_timeout = '2s'; set timezone = 'UTC'`)
  return { client, address, close: () => client.end().catch(() => undefined) }
}

export function addressOfCell(urls: CellUrls | undefined, cell: string): DatabaseAddress {
  const url = urls?.get(cell)
  if (!url) throw new CellRefused(`CELL_DATABASE_URLS names no database of the cell ${cell}`)
  return { url: url.reveal() }
}

export const rowsOf = async <Row extends object>(
  client: pg.ClientBase,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> => (await client.query<Row>(text, [...values])).rows

/** What reads by the service's statements, on this connection: one after the other. */
export function queriesOn(client: pg.ClientBase): Queries {
  let last: Promise<unknown> = Promise.resolve()
  return {
    query<Row>({ text }: Statement<Row>, values: readonly unknown[] = []): Promise<Row[]> {
      const rows = last.then(() => rowsOf<Row & object>(client, text, values))
      last = rows.catch(() => undefined)
      return rows
    },
  }
}

/** Puts on record, in the installation's chain, what is done to cells and homes. */
export const recordCell = (
  client: pg.ClientBase,
  actor: string,
  action: string,
  target: string,
  details: Readonly<Record<string, string>>,
) =>
  client.query('select append_entry($1, $2, $3, null, null, $4::jsonb, clock_timestamp())', [
    actor,
    action,
    target,
    JSON.stringify(details),
  ])

export async function inTransaction<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

const WAITS_MAX = 5

/**
 * Does steps that may be repeated again where one waited too long for a lock: who waits for a lock makes those who serve
 * wait behind it, so this lets them pass and goes on.
 */
export async function letOthersPass(
  report: (line: string) => void,
  work: () => Promise<void>,
): Promise<void> {
  for (let waits = 1; ; waits++)
    try {
      return await work()
    } catch (error) {
      if (sqlState(error) !== LOCK_TIMEOUT || waits === WAITS_MAX) throw error
      report('waited too long for a lock that others hold; goes on')
    }
}
