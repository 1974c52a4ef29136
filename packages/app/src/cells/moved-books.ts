import { signMovedBooks } from '@svc/core/ledger/moved-books'
import type { Keyring } from '@svc/platform/crypto/keyring'
import { inTransaction, queriesOn, rowsOf } from './cell-connection.ts'
import { closedThrough } from './cell-facts.ts'
import type { Travel } from './replication.ts'

/** Rows of this way of these tenants: both cells have those of moves that ended. */
const OF_THIS_WAY = 'tenant_id = any ($1) and from_cell = $2 and to_cell = $3'
const wayOf = ({ tenants, from, to }: Travel) => [tenants, from, to]

/** Signs, for the cell that they go to, what the tenants take along of periods that are closed. */
export async function signTakenBooks(travel: Travel, keyring: Keyring): Promise<void> {
  const { source, target, tenants, from, to } = travel
  const toThrough = (await closedThrough(target))?.through ?? null
  const books: { readonly tenantId: string; readonly signed: string }[] = []
  for (const tenantId of tenants) {
    const taken = { tenantId, from, to, toThrough }
    books.push({ tenantId, signed: await signMovedBooks(queriesOn(source.client), keyring, taken) })
  }
  await inTransaction(target.client, async () => {
    await forgetUnfinishedBooks(travel)
    for (const { tenantId, signed } of books)
      await target.client.query(
        'insert into moved_books (tenant_id, from_cell, to_cell, signed) values ($1, $2, $3, $4)',
        [tenantId, from, to, signed],
      )
  })
}

/** Deletes what was signed for a move that did not end. */
export async function forgetUnfinishedBooks(travel: Travel): Promise<void> {
  const { source, target } = travel
  const known = await rowsOf<{ signed: string }>(
    source.client,
    `select signed from moved_books where ${OF_THIS_WAY}`,
    wayOf(travel),
  )
  await target.client.query(`delete from moved_books where ${OF_THIS_WAY} and signed <> all ($4)`, [
    ...wayOf(travel),
    known.map(({ signed }) => signed),
  ])
}

/** Keeps in the cell that the tenants leave what was signed, by which its closings are verified from now on. */
export async function keepTakenBooks(travel: Travel): Promise<void> {
  const books = await rowsOf<{ row: unknown }>(
    travel.target.client,
    `select to_jsonb(b) as row from moved_books b where ${OF_THIS_WAY}`,
    wayOf(travel),
  )
  await travel.source.client.query(
    `insert into moved_books select * from jsonb_populate_recordset(null::moved_books, $1::jsonb)
     on conflict do nothing`,
    [JSON.stringify(books.map(({ row }) => row))],
  )
}
