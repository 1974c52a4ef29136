import { execFile } from 'node:child_process'
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readStatement } from '@svc/core/bank-files/statement-file'
import { fundAccount } from '@svc/core/cards/account/fund-account'
import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { STATEMENT_CLOSING_CHECKS } from '@svc/core/statements/closing-checks'
import { importStatement, matchOpenLines } from '@svc/core/statements/import-statement'
import { readProof } from '@svc/core/statements/proof'
import { listProofs, proveDueDays } from '@svc/core/statements/stored-proofs'
import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sourceOf } from '../harness/bank-files.ts'
import { newTransferUtr, withdraw } from '../harness/bank-rail.ts'
import { csvStatement, rupees, STATEMENTS, type StatedLine } from '../harness/bank-statements.ts'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { operatorsOf } from '../harness/operators.ts'
import { newPartner } from '../harness/partner.ts'
import { giveAccount, sendPayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { brokenIn, newShop, notifyRefund, shopWith } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

const ZONE = 'Asia/Kolkata'
const PROOF = STATEMENT_CLOSING_CHECKS.find(({ item }) => item === 'proof')!
const dayAt = (ahead: number) => calendarDay(new Date(Date.now() + ahead * 86_400_000), ZONE)

let service: TestService
let dir: string
let day: string
/** A proof of this day has all of today, also when the tests go on past midnight. */
let tomorrow: string
beforeAll(async () => {
  service = await openService({ background: false })
  dir = await mkdtemp(join(tmpdir(), 'svc-statements-'))
  day = dayAt(0)
  tomorrow = dayAt(1)
})
afterAll(async () => {
  await service?.close()
  await rm(dir, { recursive: true, force: true })
})

const sql = <Row = Json>(text: string, values: unknown[] = []): Promise<Row[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as Row[])
/** As who can do everything would change it: without the triggers that make balances and the audit. */
const tampered = (text: string) =>
  asSuperuser(service.db.database, async (db) => {
    await db.query('set session_replication_role = replica')
    const { rowCount } = await db.query(text)
    expect(rowCount).toBeGreaterThan(0)
    await db.query('set session_replication_role = origin')
  })
async function svc(...args: string[]): Promise<{ code: number | null; out: Json; stderr: string }> {
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const { code, stdout, stderr } = await runHere(['admin', ...args, '--json'], env)
  return { code, out: stdout === '' ? undefined : JSON.parse(stdout), stderr }
}
const done = async (...args: string[]): Promise<Json> => {
  const { code, out, stderr } = await svc(...args)
  expect(code, stderr).toBe(0)
  return out
}
let files = 0
async function write(text: string): Promise<string> {
  const file = join(dir, `${files++}.txt`)
  await writeFile(file, text)
  return file
}

let numbers = 50100012340000
const accountOf = async (purpose: string, opening: string, from = day): Promise<string> => {
  const of = ['--purpose', purpose, '--name', purpose, '--number', String(numbers++), '--ifsc', 'HDFC0000123']
  const created = await done('bank-account', 'create', ...of, '--opening', opening, '--from', from)
  return created.bankAccountId
}
const imported = async (account: string, text: string, ...more: string[]): Promise<Json> =>
  done('statement', 'import', await write(text), '--account', account, ...more)
const proofOf = async (date = tomorrow): Promise<Json> => (await svc('books', 'proof', '--date', date)).out
const ofPurpose = (proof: Json, purpose: string): Json =>
  proof.accounts.find((each: Json) => each.purpose === purpose)
/** Amounts by kind, of the differences of a purpose. */
const sumsOf = (proof: Json, purpose: string): Record<string, string> => {
  const { differences, unexplained } = ofPurpose(proof, purpose)
  return {
    ...Object.fromEntries(differences.map(({ kind, amount }: Json) => [kind, amount])),
    ...(unexplained !== '0.00' && { unexplained }),
  }
}

/** A merchant that was paid, with a payout that the bank paid. */
async function paidMerchant(amount: number) {
  const shop = await newShop(service)
  await giveAccount(service, shop.merchantId)
  const { tr } = await newCode(service, shop.client, { multipleUse: true })
  const creditUtr = newUtr()
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount, utr: creditUtr })))
  const payoutId = await sendPayoutOf(service, shop.merchantId)
  const utr = newUtr()
  const paid = () =>
    operatorsOf(service.app.services.commands)
      .open(changePayout)
      .run({ merchantId: shop.merchantId, payoutId, step: { to: 'PAID', utr } })
  return { ...shop, creditUtr, payoutId, utr, paid }
}

/** A payment of which the bank refunded a part by a transfer of its own. */
async function refundedShop(amount: number, part: number) {
  const shop = await shopWith(service, amount)
  const { refundId } = payloadOf(await shop.client.post(shop.path, { amount: part, referenceNumber: 'R1' }))
  const utr = newUtr()
  payloadOf(await notifyRefund(service, { refundId, status: 'REFUNDED', utr }))
  return { ...shop, refundId, utr }
}

/** A batch with one payment, as a file of the bank has it. */
async function batchOf(creditUtr: string, batchUtr: string, amountPaise: number): Promise<string> {
  const row = [batchUtr, day, rupees(amountPaise), 'payment', creditUtr, rupees(amountPaise), day, '']
  const head = 'batchUtr,valueDate,netAmount,kind,reference,amount,date,note'
  const { batches } = await done('settlement', 'import', await write(`${head}\n${row.join(',')}\n`))
  expect(batches).toMatchObject([{ batchUtr, status: 'POSTED' }])
  return batches[0].batchId
}

let escrow: string
let cards: string
let own: string
let second: string

test('a purpose has two accounts, a repeat is one, and of numbers the last digits are shown', async () => {
  escrow = await accountOf('merchant_escrow', '1000.00')
  cards = await accountOf('ppi_escrow', '0.00')
  own = await accountOf('own_funds', '0.00')
  numbers--
  expect(await accountOf('own_funds', '0.00')).toBe(own)
  second = await accountOf('own_funds', '0.00')
  expect(second).not.toBe(own)
  await expect(accountOf('own_funds', '0.00')).rejects.toThrow(/at most two|two bank accounts/)
  const list = await done('bank-account', 'list')
  expect(list).toHaveLength(4)
  expect(JSON.stringify(list)).not.toContain('50100012340000')
  expect(list[0]).toMatchObject({
    purpose: 'merchant_escrow',
    accountEnds: '0000',
    openingBalance: '1000.00',
    from: day,
  })
})

test('lines of a mixed day find their movements; what only a statement shows is posted; the proof names the rest', async () => {
  const [one, two, three] = [await paidMerchant(500), await paidMerchant(700), await paidMerchant(900)]
  await one.paid()
  await two.paid()
  await three.paid()
  const batchId = await batchOf(one.creditUtr, 'HDFCN526001', 500_00)
  const partner = await newPartner(service, { fundsPaise: 0n })
  const [funded, withdrawn] = [newTransferUtr(), newTransferUtr()]
  const { partnerId, cardAccountId } = partner
  await operatorsOf(service.app.services.commands)
    .open(fundAccount)
    .run({ partnerId, cardAccountId, amountPaise: paise(300_00n), reference: funded, reason: 'April' })
  await withdraw(service, partner, 100_00n, withdrawn)

  const refunded = await refundedShop(80, 30)

  const lines: StatedLine[] = [
    { date: day, paise: -30_00, reference: refunded.utr },
    { date: day, paise: 500_00, reference: 'HDFCN526001', narration: 'SETTLEMENT' },
    { date: day, paise: -500_00, reference: '', narration: `NEFT-${one.utr}-CORNER SHOP` },
    { date: day, paise: -699_00, reference: two.utr },
    { date: day, paise: -5_90, narration: 'CHARGES' },
    { date: day, paise: 42_00, reference: 'AXISN0000000077', narration: 'FROM A PAYER' },
  ]
  const text = csvStatement(1000_00, lines)
  const dry = await imported(escrow, text, '--dry-run')
  expect(await done('statement', 'lines')).toEqual([])
  const first = await imported(escrow, text)
  expect(first).toEqual(dry)
  expect(first).toMatchObject({
    openingBalance: '1000.00',
    closingBalance: '307.10',
    lines: 6,
    new: 6,
    matched: 3,
    differs: 1,
    unmatched: 2,
  })
  expect(await imported(escrow, text)).toEqual({ ...first, new: 0 })
  expect(
    await imported(
      cards,
      csvStatement(0, [
        { date: day, paise: 300_00, reference: funded.toLowerCase() },
        { date: day, paise: -100_00, narration: `UPI/${withdrawn}/ACME` },
      ]),
    ),
  ).toMatchObject({ matched: 2, unmatched: 0 })
  expect(await sql(`select status from settlement_batches where batch_id = $1`, [batchId])).toEqual([
    { status: 'CONFIRMED' },
  ])
  await expectProof(two, three)
})

type Paid = Awaited<ReturnType<typeof paidMerchant>>

/** Of the mixed day, after its statements: the bank paid one payout by another amount, and one not yet. */
async function expectProof(two: Paid, three: Paid): Promise<void> {
  const proof = await proofOf()
  expect(proof.provisional).toBe(true)
  expect(sumsOf(proof, 'ppi_escrow')).toEqual({})
  expect(ofPurpose(proof, 'ppi_escrow')).toMatchObject({ statementBalance: '200.00', booksBalance: '200.00' })
  expect(sumsOf(proof, 'merchant_escrow')).toEqual({
    opening: '1000.00',
    payment_in_transit: '900.00',
    statement_only: '36.10',
    amount_differs: '1.00',
  })
  const { differences } = ofPurpose(proof, 'merchant_escrow')
  const items = (kind: string): Json[] => differences.find((each: Json) => each.kind === kind).items
  expect(items('payment_in_transit')).toMatchObject([{ documentId: three.payoutId, amount: '900.00' }])
  expect(items('amount_differs')).toMatchObject([
    { documentId: two.payoutId, amount: '1.00', reference: two.utr },
  ])
  expect(
    items('statement_only')
      .map(({ amount }) => amount)
      .sort(),
  ).toEqual(['-5.90', '42.00'])
  for (const { bank, required, surplus } of proof.coverage)
    expect(Number(surplus)).toBeCloseTo(Number(bank) - Number(required), 2)
  const { signed, ...rest } = proof
  expect(readProof(service.app.services.keyring, signed)).toEqual(rest)
}

const lineOf = async (status: string, amount: string): Promise<Json> =>
  (await done('statement', 'lines', '--status', status)).find((line: Json) => line.amount === amount)

test('people resolve, assign, match and unmatch lines; each is posted once, on the day of the line', async () => {
  const charge = await lineOf('UNMATCHED', '-5.90')
  expect(charge).toMatchObject({
    purpose: 'merchant_escrow',
    date: day,
    documentId: '',
    ageDays: expect.any(Number),
  })
  const why = ['--reason', 'bill of April']
  const resolved = await done('statement', 'resolve', charge.lineId, '--as', 'charge', ...why)
  expect(await done('statement', 'resolve', charge.lineId, '--as', 'charge', ...why)).toEqual(resolved)
  expect((await svc('statement', 'resolve', charge.lineId, '--as', 'interest', ...why)).stderr).toContain(
    'statement_line_explained',
  )
  const credit = await lineOf('UNMATCHED', '42.00')
  expect(await done('statement', 'assign', credit.lineId, '--owner', 'operator ravi')).toMatchObject({
    owner: 'operator ravi',
  })
  await done('statement', 'resolve', credit.lineId, '--as', 'suspense', ...why)
  expect(
    await sql(
      `select j.effective_date::text as day, t.debit_account_id as debit, t.credit_account_id as credit, t.amount::int
       from journals j join ledger_transfers t using (tenant_id, journal_id) where j.kind = 'statement_resolved' order by amount`,
    ),
  ).toEqual([
    { day, debit: 'rail_charges:house', credit: 'bank:house', amount: 590 },
    { day, debit: 'bank:house', credit: 'suspense:house', amount: 42_00 },
  ])
  const funding = await lineOf('MATCHED', '300.00')
  const clearing = () =>
    sql(`select sum(balance)::int as sum from ledger_accounts where kind = 'funding_clearing'`)
  const before = await clearing()
  await done('statement', 'unmatch', funding.lineId, ...why)
  expect(await clearing()).not.toEqual(before)
  const journalId = funding.documentId
  await done('statement', 'match', funding.lineId, '--to', journalId, ...why)
  expect(await clearing()).toEqual(before)
  expect((await svc('statement', 'match', funding.lineId, '--to', 'pyo_none', ...why)).code).toBe(1)
  expect(sumsOf(await proofOf(), 'merchant_escrow')).toEqual({
    opening: '1000.00',
    payment_in_transit: '900.00',
    amount_differs: '1.00',
  })
  expect(await brokenIn(service)).toEqual([])
})

test('what a line was resolved to be is taken back with its journal: the line is open again, and is resolved otherwise', async () => {
  const { lineId, journalId } = (
    await sql(
      `select line_id as "lineId", journal_id as "journalId" from statement_lines where amount_paise = -590`,
    )
  )[0]!
  const spent = (kind: string) =>
    sql(`select coalesce(sum(-balance), 0)::int as paise from ledger_accounts where kind = $1`, [kind])
  const before = await proofOf()
  expect((await svc('statement', 'unmatch', lineId, '--reason', 'a mistake')).stderr).toContain(journalId)
  const back = ['journal', 'reverse', journalId, '--reason', 'no charge']
  await done(...back)
  await done(...back)
  expect(await spent('rail_charges')).toEqual([{ paise: 0 }])
  expect(await lineOf('UNMATCHED', '-5.90')).toMatchObject({ lineId, documentId: '' })
  expect(sumsOf(await proofOf(), 'merchant_escrow')).toEqual({
    ...sumsOf(before, 'merchant_escrow'),
    statement_only: '-5.90',
  })
  await done('statement', 'resolve', lineId, '--as', 'exception', '--reason', 'the bank does not say')
  expect(await spent('bank_exceptions')).toEqual([{ paise: 590 }])
  expect(await proofOf()).toMatchObject({ accounts: before.accounts })
  expect(await brokenIn(service)).toEqual([])
})

test('a payout that is paid after its line was imported is matched alone, and the next statement follows the last', async () => {
  const late = await paidMerchant(250)
  const line: StatedLine = { date: day, paise: -250_00, reference: '', narration: `RTGS ${late.payoutId}` }
  expect(await imported(escrow, csvStatement(307_10, [line]))).toMatchObject({ new: 1, unmatched: 1 })
  await late.paid()
  const { database, random } = service.app.services
  await matchOpenLines({ database, random, nowMs: () => Date.now(), timeZone: ZONE })
  expect(await lineOf('MATCHED', '-250.00')).toMatchObject({ documentId: late.payoutId })
  const { lineId, reference } = await lineOf('DIFFERS', '-699.00')
  await imported(escrow, csvStatement(57_10, [{ date: day, paise: -700_00, reference }]))
  expect(await lineOf('MATCHED', '-700.00')).toMatchObject({ reference })
  expect(await lineOf('UNMATCHED', '-699.00')).toMatchObject({ lineId, documentId: '' })
  const refused = await svc(
    'statement',
    'import',
    await write(csvStatement(0, [{ date: day, paise: 1 }])),
    '--account',
    escrow,
  )
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Line 1: the statement opens with 0.00'),
  })
})

test('processes that import overlapping statements at once, in any format, record every line once', async () => {
  const lines: StatedLine[] = Array.from({ length: 60 }, (_, i) => ({
    date: day,
    paise: i % 3 === 2 ? -2 : 1,
    reference: `SAME${i % 2}`,
  }))
  const { database, random } = service.app.services
  const tools = { database, random, nowMs: () => Date.now(), timeZone: ZONE }
  const days = { zone: ZONE, today: tomorrow }
  const texts = [20, 40, 60].flatMap((count) =>
    Object.values(STATEMENTS).map((make) => make(0, lines.slice(0, count)).replaceAll('50100012345678', '')),
  )
  await Promise.allSettled(
    [...texts, ...texts].map(async (text) => {
      const file = await readStatement(sourceOf(text), undefined, days)
      return importStatement(tools, file, { bankAccountId: second, by: 'operator asha' })
    }),
  )
  for (const text of texts) {
    const file = await readStatement(sourceOf(text), undefined, days)
    await importStatement(tools, file, { bankAccountId: second, by: 'operator asha' })
  }
  const found = await sql(
    `select amount_paise::int as paise, reference from statement_lines where bank_account_id = $1 order by booked_on, place`,
    [second],
  )
  expect(found).toEqual(lines.map(({ paise, reference }) => ({ paise, reference })))
  const other = csvStatement(
    0,
    lines.map((line, i) => (i === 30 ? { ...line, reference: 'OTHER' } : line)),
  )
  const refused = await svc('statement', 'import', await write(other), '--account', second)
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Line 31 is not what stm_') })
})

test.each([
  ['a line', `update statement_lines set amount_paise = amount_paise - 100 where reference = 'HDFCN526001'`],
  ['a deleted line', `delete from statement_lines where reference = 'HDFCN526001'`],
  [
    'a statement',
    `update bank_statements set closing_paise = closing_paise - 100
     where bank_account_id = (select bank_account_id from bank_accounts where purpose = 'merchant_escrow')`,
  ],
  [
    'a movement of a batch',
    `update ledger_transfers set amount = amount - 100 where kind = 'bank_settlement' and object_id like 'stb_%'`,
  ],
  [
    'a payout, with the balance',
    `with t as (update ledger_transfers set amount = amount - 100
       where transfer_id = (select min(transfer_id) from ledger_transfers where kind = 'payout_paid') returning *)
     update ledger_accounts a set balance = balance + 100 from t where a.account_id = t.credit_account_id`,
  ],
  ['a balance', `update ledger_accounts set balance = balance - 100 where account_id = 'bank:house'`],
])(
  'one rupee taken from %s is in the proof, and in the way of a closing where nothing explains it',
  async (_what, change) => {
    const before = await proofOf()
    const saved = await asSuperuser(service.db.database, async (db) => ({
      lines: (await db.query('select * from statement_lines')).rows,
      statements: (await db.query('select * from bank_statements')).rows,
    }))
    await tampered('create table kept_transfers as select * from ledger_transfers')
    await tampered('create table kept_accounts as select account_id, balance from ledger_accounts')
    try {
      await tampered(change)
      const { code, out } = await svc('books', 'proof', '--date', tomorrow)
      expect(sumsOf(out, 'merchant_escrow')).not.toEqual(sumsOf(before, 'merchant_escrow'))
      expect(code).toBe(1)
      const found = await service.app.services.database.report((tx) =>
        PROOF.problem(tx, { through: tomorrow, to: new Date() }),
      )
      const isUnexplained = ofPurpose(out, 'merchant_escrow').unexplained !== '0.00'
      expect(found?.detail.includes('is unexplained') ?? false).toBe(isUnexplained)
    } finally {
      await tampered(
        `update ledger_transfers t set amount = k.amount from kept_transfers k where k.transfer_id = t.transfer_id`,
      )
      await tampered(
        `update ledger_accounts a set balance = k.balance from kept_accounts k where k.account_id = a.account_id`,
      )
      await sql('drop table kept_transfers, kept_accounts')
      await restore('statement_lines', saved.lines)
      await restore('bank_statements', saved.statements)
    }
    expect({ ...(await proofOf()), signed: '' }).toEqual({ ...before, signed: '' })
  },
)

const restore = (table: string, rows: Json[]) =>
  asSuperuser(service.db.database, async (db) => {
    await db.query('set session_replication_role = replica')
    await db.query(`delete from ${table}`)
    await db.query(`insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`, [
      JSON.stringify(rows, (_key, value) => (typeof value === 'bigint' ? String(value) : value)),
    ])
    await db.query('set session_replication_role = origin')
  })

test('an exported proof verifies without us, and no more when any of its files is changed', async () => {
  const folder = join(dir, 'proof')
  await svc('books', 'proof', '--date', tomorrow, '--export', folder)
  const verify = async () => {
    try {
      return (await promisify(execFile)(process.execPath, [join(folder, 'verify.mjs')])).stdout
    } catch (error) {
      return (error as Json).stdout as string
    }
  }
  const agrees = `The files agree with the proof of ${tomorrow}\n`
  expect(await verify()).toBe(agrees)
  const program = await readFile(join(folder, 'verify.mjs'), 'utf8')
  expect(program.trimEnd().split('\n').length).toBeLessThanOrEqual(60)
  for (const name of ['statement-lines', 'bank-entries', 'differences', 'trial-balance']) {
    const file = join(folder, `${name}.csv`)
    const text = await readFile(file, 'utf8')
    await appendFile(file, '\r\n')
    expect(await verify(), name).not.toBe(agrees)
    // Also where who changes a file changes its hash in the program.
    const changed = text.replace(
      /,(-?\d+)\.(\d)(\d)(?=[,\r])/,
      (_all, a, b, c) => `,${a}.${b}${(Number(c) + 1) % 10}`,
    )
    expect(changed, name).not.toBe(text)
    await writeFile(file, changed)
    await writeFile(join(folder, 'verify.mjs'), program.replace(/^const HASHES = .*$/m, 'const HASHES = {}'))
    expect(await verify(), name).not.toBe(agrees)
    await writeFile(join(folder, 'verify.mjs'), program)
    await writeFile(file, text)
  }
  expect(await verify()).toBe(agrees)
  const json = join(folder, 'proof.json')
  const text = await readFile(json, 'utf8')
  await writeFile(json, text.replace('"provisional": true', '"provisional": false'))
  expect(await verify()).toContain('not what was signed')
})

test('each day that is over is proven once, and again when its statement comes', async () => {
  const { services } = service.app
  await sql(`update bank_accounts set opened_on = opened_on - 1`)
  expect(await proveDueDays(services)).toBe(1)
  expect(await proveDueDays(services)).toBe(0)
  const [stored] = await services.database.report((tx) => listProofs(tx, 10))
  expect(stored).toMatchObject({ version: 1 })
  expect(readProof(services.keyring, stored!.signed)).toMatchObject({ date: stored!.provenOn })
  await sql(`update funds_proofs set provisional = true, created_at = now() - interval '1 day'`)
  expect(await proveDueDays(services)).toBe(1)
  expect((await services.database.report((tx) => listProofs(tx, 10)))[0]).toMatchObject({ version: 2 })
  expect(rupees(-5)).toBe('-0.05')
})
