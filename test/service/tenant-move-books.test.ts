import { closePeriod } from '@svc/core/ledger/closing'
import { verifyClosings } from '@svc/core/ledger/verify-closings'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openCells, type TestCells } from '../harness/cells.ts'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { at, brokenOff, MOVES_MS, moveBy, moved, onCell, tokenOf } from '../harness/moves.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import type { TestMerchant, TestService } from '../harness/service.ts'

let cells: TestCells
beforeAll(async () => {
  cells = await openCells()
})
afterAll(() => cells.close())

const ZONE = 'Asia/Kolkata'
const DAY_MS = 86_400_000
/** The same for the whole file: a day may end meanwhile. */
const STARTED_MS = Date.now()
const daysAgo = (days: number) => calendarDay(new Date(STARTED_MS - days * DAY_MS), ZONE)
function closeBooks({ app }: TestService, through: string) {
  const { database, keyring } = app.services
  const closing = { through, by: 'operator asha', timeZone: ZONE }
  return database.operate((tx) => closePeriod(tx, keyring, closing))
}

async function closingProblems({ app }: TestService): Promise<(string | null)[]> {
  const { database, keyring } = app.services
  return (await database.report((tx) => verifyClosings(tx, keyring))).map(({ problem }) => problem)
}

/** A payment of the merchant that was entered so many days ago. */
async function paidDaysAgo(service: TestService, merchant: TestMerchant, days: number): Promise<void> {
  const client = at(service, await tokenOf(service, merchant))
  const { tr } = await newCode(service, client, { multipleUse: true })
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(tr)))
  await onCell(
    service,
    `update ledger_transfers set created_at = now() - $2 * interval '1 day' where object_id = $1`,
    [paymentId, days],
  )
  await onCell(
    service,
    `update journals j set effective_date = $2, at = t.created_at from ledger_transfers t
     where t.object_id = $1 and (j.tenant_id, j.journal_id) = (t.tenant_id, t.journal_id)`,
    [paymentId, daysAgo(days)],
  )
  await onCell(service, `update ledger_accounts set created_at = now() - interval '30 days'`)
}

test(
  'a tenant with entries in closed periods moves and comes back: both cells still prove what they signed',
  async () => {
    const { a, b } = cells
    const [merchant, other] = [await a.newMerchant(), await a.newMerchant()]
    for (const each of [merchant, other]) await paidDaysAgo(a, each, 7)
    await closeBooks(a, daysAgo(6))
    const refused = await moveBy(cells, merchant.merchantId, 'a')
    expect(refused.stderr).toContain(
      `cell a are closed through ${daysAgo(6)}, those of the cell b not at all`,
    )
    await closeBooks(b, daysAgo(6))

    await brokenOff(cells, merchant.merchantId, (line) => line.includes('tables copied'))
    for (const cell of [a, b]) {
      await expect(closeBooks(cell, daysAgo(4))).rejects.toMatchObject({ code: 'period_not_ready' })
      expect(await closingProblems(cell)).toEqual([null])
    }
    await moved(cells, merchant.merchantId, 'a', '--abort')
    const ofIt = [merchant.merchantId]
    expect((await onCell(b, 'select from moved_books where tenant_id = $1', ofIt)).rowCount).toBe(0)

    await moved(cells, merchant.merchantId, 'a')
    await paidDaysAgo(b, merchant, 5)
    for (const cell of [a, b]) {
      await closeBooks(cell, daysAgo(4))
      expect(await closingProblems(cell)).toEqual([null, null])
    }

    const ofMerchant = `update ledger_transfers set amount = amount + $2 where tenant_id = $1
      and created_at < now() - interval '6 days'`
    await onCell(b, ofMerchant, [merchant.merchantId, 100])
    expect((await closingProblems(b)).at(-1)).toBe(
      `the entries of ${merchant.merchantId} are not those that the cell a signed when it left`,
    )
    await onCell(b, ofMerchant, [merchant.merchantId, -100])
    await onCell(a, `update moved_books set signed = 'x.' || signed where tenant_id = $1`, ofIt)
    expect((await closingProblems(a)).at(-1)).toContain('is not what this installation signed')
    await onCell(a, 'update moved_books set signed = substr(signed, 3) where tenant_id = $1', ofIt)

    await moved(cells, merchant.merchantId, 'b')
    for (const cell of [a, b]) expect(await closingProblems(cell)).toEqual([null, null])
    await onCell(a, `delete from moved_books where to_cell = 'a' and tenant_id = $1`, ofIt)
    expect((await closingProblems(a))[0]).toContain('is not what this installation signed')
  },
  MOVES_MS,
)

/** What `svc admin doctor` finds of the cells, each with its status. */
async function examined(settings = cells.settings('a')): Promise<string[]> {
  const { stdout } = await runHere(['admin', 'doctor', '--json'], settings)
  const { findings } = JSON.parse(stdout) as { findings: Record<'check' | 'status' | 'detail', string>[] }
  return findings.filter(({ check }) => check === 'cells').map(({ status, detail }) => `${status} ${detail}`)
}

test('the doctor looks into every cell: schemas, keys, closed months, moves that stand still, and lost tenants', async () => {
  const { a, b } = cells
  expect(await examined()).toEqual([expect.stringMatching(/^PASS a, b: /)])
  const { merchantId } = await a.newMerchant()
  const breaks: readonly (readonly [TestService, string, string, RegExp])[] = [
    [
      b,
      `insert into migrations (name) values ('zz')`,
      `delete from migrations where name = 'zz'`,
      /^FAIL .*other schemas/,
    ],
    [
      a,
      `insert into tenant_moves (tenant_id, state, cell, since) values ('${merchantId}', 'copying', 'b', now() - interval '2 hours')`,
      `delete from tenant_moves where tenant_id = '${merchantId}'`,
      new RegExp(`^WARN .*${merchantId} copying b for more than an hour`),
    ],
    [
      a,
      `insert into tenant_homes (tenant_id, cell) values ('${merchantId}', 'b')`,
      `delete from tenant_homes where tenant_id = '${merchantId}'`,
      new RegExp(`^FAIL the directory has ${merchantId} in the cell b`),
    ],
  ]
  for (const [cell, breaking, mending, found] of breaks) {
    await onCell(cell, breaking)
    expect(await examined()).toEqual([expect.stringMatching(found)])
    await onCell(cell, mending)
  }
  const swapped = { ...cells.settings('a'), CELL_DATABASE_URLS: `a=${b.db.url} b=${a.db.url}` }
  expect(await examined(swapped)).toEqual([
    expect.stringMatching(/^FAIL the database of the cell a is b/),
    expect.stringMatching(/^FAIL the database of the cell b is a/),
  ])
  const gone = {
    ...cells.settings('a'),
    CELL_DATABASE_URLS: `a=${a.db.url} b=${b.db.url.replace(b.db.database, 'gone')}`,
  }
  expect(await examined(gone)).toEqual([expect.stringMatching(/^FAIL the cell b cannot be read/)])
})
