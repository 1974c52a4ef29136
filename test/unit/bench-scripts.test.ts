import { readdirSync, readFileSync } from 'node:fs'
import '@svc/core/cards/card/card'
import '@svc/core/cards/rail/card-authorization'
import '@svc/core/cards/rail/card-message'
import '@svc/core/ledger/journals'
import '@svc/core/payments/payment'
import '@svc/core/qr-codes/qr-code'
import '@svc/core/tenants/user'
import '@svc/platform/outbox'
import { definedTables } from '@svc/platform/db/table'
import { expect, test } from 'vitest'

const SCRIPTS = new URL('../../lab/bench/pgbench/', import.meta.url)
/** Not said by `table()`: what belongs to every command. */
const UNSAID = new Set(['batches', 'idempotency_keys', 'unnumbered_events'])

test.each(readdirSync(SCRIPTS))('%s of the bench inserts the columns that the service inserts', (script) => {
  const inserts = readFileSync(new URL(script, SCRIPTS), 'utf8').matchAll(/insert into (\w+) (?:\((.*?)\))?/g)
  const found = [...inserts].filter(([, table]) => !UNSAID.has(table!))
  expect(found).not.toEqual([])
  for (const [, table, columns] of found) {
    const definition = definedTables().find(({ name }) => name === table)
    expect(columns!.split(', ').sort(), table).toEqual(
      definition?.columns.flatMap(({ name, hasDefault }) => (hasDefault ? [] : [name])).sort(),
    )
  }
})
