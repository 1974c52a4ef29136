import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reconcileAll } from '@svc/console-api/faces/reconciliations'
import { matchLateLines } from '@svc/core/payments/settlements/match-late-lines'
import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { operatorsOf } from '../harness/operators.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
let dir: string
let tr: string
let merchantId: string
beforeAll(async () => {
  service = await openService({ background: false })
  dir = await mkdtemp(join(tmpdir(), 'svc-settlement-'))
  const merchant = await service.newMerchant()
  ;({ merchantId } = merchant)
  ;({ tr } = await newCode(service, await service.as(merchant), { multipleUse: true }))
})
afterAll(async () => {
  await service.close()
  await rm(dir, { recursive: true })
})

const pay = async (amount: number, to = tr): Promise<string> => {
  const utr = newUtr()
  payloadOf(await notifyCredit(service.client, creditOf(to, { utr, amount })))
  return utr
}

let files = 0
async function csv(lines: readonly (readonly [utr: string, amount: string])[], head = 'utr,amount,date') {
  const file = join(dir, `${files++}.csv`)
  await writeFile(file, [head, ...lines.map(([utr, amount]) => `${utr},${amount},2026-04-01`), ''].join('\n'))
  return file
}

const svc = (...args: string[]) =>
  runHere(['admin', 'settlement', ...args], { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY })
async function imported(file: string, ...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await svc('import', file, ...args, '--json')
  expect(code, stderr).toBe(0)
  const { fileId, lines: _, batches: _batches, problems: _problems, ...counts } = JSON.parse(stdout)
  expect(fileId).toMatch(/^stf_[0-9a-f]{26}$/)
  return counts
}
const differences = async (...utrs: string[]): Promise<Json> => {
  const all: Json[] = JSON.parse((await svc('differences', '--days', '0', '--json')).stdout)
  return Object.fromEntries(all.filter(({ utr }) => utrs.includes(utr)).map((each) => [each.utr, each.kind]))
}
const balance = (account: string): Promise<string> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query('select balance from ledger_accounts where account_id = $1', [account])
    return String(rows[0].balance)
  })
const NONE = {
  matched: 0,
  matchedAmount: '0.00',
  differing: 0,
  unknown: 0,
  repeated: 0,
  conflicting: 0,
  skipped: 0,
  unreadable: 0,
  waiting: [],
}

test('what the bank paid is matched by its reference; the rest is listed: unknown, of another amount, missing', async () => {
  const [paid, dashed, other, missing] = [await pay(10), await pay(20.5), await pay(30), await pay(40)]
  const unknown = newUtr()
  const file = await csv([
    [paid, '10.00'],
    [`${dashed.slice(0, 4)}-${dashed.slice(4).toLowerCase()}`, '20.50'],
    [other, '29.00'],
    [unknown, '7'],
  ])
  const [bank, clearing] = [`bank:${merchantId}`, `upi_clearing:${merchantId}`]
  const before = BigInt(await balance(clearing))
  expect(await imported(file)).toEqual({
    ...NONE,
    matched: 2,
    matchedAmount: '30.50',
    differing: 1,
    unknown: 1,
  })
  // Debits are below zero: the money is in the bank account, and no longer with the rail.
  expect(await balance(bank)).toBe('-3050')
  expect(await balance(clearing)).toBe(String(before + 3050n))
  expect(await differences(paid, dashed, other, missing, unknown)).toEqual({
    [other]: 'differs',
    [missing]: 'missing',
    [unknown]: 'unknown',
  })
  expect((await reconcileAll(service.app.services.database)).ok).toBe(true)
})

test('a line of another amount is corrected by the bank’s later line, and not by a third', async () => {
  const utr = await pay(50)
  const wrong = await csv([[utr, '49']])
  expect(await imported(wrong)).toEqual({ ...NONE, differing: 1 })
  const before = BigInt(await balance(`bank:${merchantId}`))
  const corrected = await csv([[utr, '50.00']])
  expect(await imported(corrected)).toEqual({ ...NONE, matched: 1, matchedAmount: '50.00' })
  expect(await balance(`bank:${merchantId}`)).toBe(String(before - 5000n))
  expect(await differences(utr)).toEqual({})
  for (const file of [corrected, wrong]) expect(await imported(file)).toEqual({ ...NONE, repeated: 1 })
  expect((await svc('import', await csv([[utr, '48']]))).code).toBe(1)
  const [first, second] = [await pay(60), await pay(61)]
  const both = await csv([
    [first, '59'],
    [second, '61'],
    [first, '60'],
  ])
  expect(await imported(both)).toEqual({ ...NONE, matched: 2, matchedAmount: '121.00', differing: 1 })
  expect((await reconcileAll(service.app.services.database)).ok).toBe(true)
})

test('importing a file again changes nothing; a line whose notice arrived meanwhile is matched', async () => {
  const [paid, late] = [await pay(11), newUtr()]
  const file = await csv([
    [paid, '11'],
    [late, '12'],
  ])
  expect(await imported(file)).toEqual({ ...NONE, matched: 1, matchedAmount: '11.00', unknown: 1 })
  expect(await imported(file)).toEqual({ ...NONE, repeated: 2 })
  payloadOf(await notifyCredit(service.client, creditOf(tr, { utr: late, amount: 12 })))
  const before = BigInt(await balance(`bank:${merchantId}`))
  expect(await imported(file)).toEqual({ ...NONE, matched: 1, matchedAmount: '12.00', repeated: 1 })
  expect(await balance(`bank:${merchantId}`)).toBe(String(before - 1200n))
  expect(await differences(late)).toEqual({})
  expect(await imported(file)).toEqual({ ...NONE, repeated: 2 })
})

test('a line whose payment arrives later is matched automatically, once; one of another amount is listed as such', async () => {
  const [late, other, never] = [newUtr(), newUtr(), newUtr()]
  const file = await csv([
    [late, '14'],
    [other, '15'],
    [never, '16'],
  ])
  expect(await imported(file)).toEqual({ ...NONE, unknown: 3 })
  expect(await matchLateLines(service.app.services)).toBe(0)
  payloadOf(await notifyCredit(service.client, creditOf(tr, { utr: late, amount: 14 })))
  payloadOf(await notifyCredit(service.client, creditOf(tr, { utr: other, amount: 16 })))
  const before = BigInt(await balance(`bank:${merchantId}`))
  expect(await matchLateLines(service.app.services)).toBe(2)
  expect(await matchLateLines(service.app.services)).toBe(0)
  expect(await balance(`bank:${merchantId}`)).toBe(String(before - 1400n))
  expect(await differences(late, other, never)).toEqual({ [other]: 'differs', [never]: 'unknown' })
  expect(await imported(file)).toEqual({ ...NONE, repeated: 3 })
  const all: Json[] = JSON.parse((await svc('differences', '--days', '0', '--json')).stdout)
  expect(all.filter(({ utr }) => utr === other)).toHaveLength(1)
  expect((await reconcileAll(service.app.services.database)).ok).toBe(true)
})

test('a line whose credit arrives later in the platform’s suspense is matched, and once assigned nothing is missing', async () => {
  const utr = newUtr()
  const file = await csv([[utr, '13']])
  expect(await imported(file)).toEqual({ ...NONE, unknown: 1 })
  const { paymentId } = payloadOf(
    await notifyCredit(service.client, creditOf('NOSUCHCODE', { utr, amount: 13 })),
  )
  const [bank, waiting] = [await balance('bank:house'), await balance('settlement_unmatched:house')]
  expect(await imported(file)).toEqual({ ...NONE, matched: 1, matchedAmount: '13.00' })
  // It was there already, of nothing that was known.
  expect(await balance('bank:house')).toBe(bank)
  expect(await balance('settlement_unmatched:house')).toBe(String(BigInt(waiting) - 1300n))
  expect(await imported(file)).toEqual({ ...NONE, repeated: 1 })
  const resolution = { tenantId: 'house', paymentId, merchantId, reason: 'by phone' }
  await operatorsOf(service.app.services.commands).open(resolveSuspense).run(resolution)
  expect(await differences(utr)).toEqual({})
  expect((await reconcileAll(service.app.services.database)).ok).toBe(true)
})

test('of two imports of one file at once, and two files with the same line, each line counts once', async () => {
  const utrs = await Promise.all(Array.from({ length: 30 }, () => pay(2)))
  const file = await csv(utrs.map((utr) => [utr, '2.00']))
  const before = BigInt(await balance(`bank:${merchantId}`))
  const runs = await Promise.all([imported(file), imported(file), imported(await csv([[utrs[0]!, '2']]))])
  expect(runs.reduce((sum, { matched }) => sum + matched, 0)).toBe(30)
  expect(await balance(`bank:${merchantId}`)).toBe(String(before - 6000n))
  const again = await svc('import', await csv([[utrs[1]!, '3']]))
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('another amount than 3.00') })
  expect((await reconcileAll(service.app.services.database)).ok).toBe(true)
})

test('a bank’s own columns, units and dates are read; invalid lines are named, and then nothing is imported', async () => {
  const [utr, bad] = [await pay(1_234.5), await pay(3)]
  const file = join(dir, 'bank.csv')
  await writeFile(file, `RRN,Value Date,Settled Amount\n${utr},01/04/2026,"1,234.50"\n`)
  const named = ['--utr', 'RRN', '--amount', 'Settled Amount', '--date', 'Value Date']
  expect((await svc('import', file)).stderr).toContain('no column utr, but RRN, Value Date, Settled Amount')
  expect(await imported(file, ...named)).toMatchObject({ matched: 1, matchedAmount: '1234.50' })
  const inPaise = await csv([[bad, '300']])
  await writeFile(file, `utr,amount,date\n${bad},3,2026-04-01\n${bad},3.001,2026-04-01\n!,3,2026-02-30\n`)
  const { code, stderr } = await svc('import', file)
  expect(code).toBe(1)
  expect(stderr).toContain('Nothing was imported')
  expect(stderr).toContain(
    'line 2: amount must be rupees, with at most two decimals: "3.001" has more than two',
  )
  expect(stderr).toContain('line 3: utr must be a reference')
  expect(await imported(inPaise, '--unit', 'paise')).toMatchObject({ matched: 1, matchedAmount: '3.00' })
})

test('what the bank paid is in the books of its own day, whenever its file is imported, and journals hold one day', async () => {
  const merchant = await service.newMerchant()
  const code = await newCode(service, await service.as(merchant), { multipleUse: true })
  const [one, two, three] = [await pay(10, code.tr), await pay(20, code.tr), await pay(40, code.tr)]
  const file = join(dir, 'days.csv')
  const days = [`${one},10.00,2026-03-30`, `${two},20.00,2026-03-31`, `${three},40.00,2026-03-31`]
  await writeFile(file, ['utr,amount,date', ...days, ''].join('\n'))
  expect(await imported(file)).toMatchObject({ matched: 3 })
  const bank = async (...args: string[]): Promise<string | undefined> => {
    const books = ['admin', 'books', 'trial-balance', '--tenant', merchant.merchantId, '--json', ...args]
    const { stdout } = await runHere(books, { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY })
    return (JSON.parse(stdout) as Json[]).find(({ kind }) => kind === 'bank')?.['debit']
  }
  expect(await bank()).toBe('70.00')
  for (const [day, debit] of [
    ['2026-03-29', ''],
    ['2026-03-30', '10.00'],
    ['2026-03-31', '70.00'],
  ])
    expect(await bank('--effective-through', day!), day).toBe(debit)
  const now = new Date().toISOString()
  expect(await bank('--effective-through', '2026-03-30', '--as-of', now)).toBe('10.00')
  expect(await bank('--effective-through', '2026-03-31', '--as-of', '2026-04-01T00:00:00Z')).toBeFalsy()
  expect((await reconcileAll(service.app.services.database)).ok).toBe(true)
})
