import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reconcileAll } from '@svc/console-api/faces/reconciliations'
import { matchLateLines } from '@svc/core/payments/settlements/match-late-lines'
import { recordBatch } from '@svc/core/payments/settlements/record-batch'
import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openApprovers, sqlOn } from '../harness/approvals.ts'
import { asLogin } from '../harness/as-login.ts'
import { csvStatement } from '../harness/bank-statements.ts'
import { Terminal } from '../harness/card-rail.ts'
import { adminCli } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser } from '../harness/console.ts'
import { utrOf } from '../harness/disputes.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { creditOf, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, notifyRefund, type Shop, shopWith } from '../harness/refunds.ts'
import { asSuperuser, CARD_RAIL_KEY, RAIL_KEY, type TestService } from '../harness/service.ts'

/** More than what one person takes back here. */
const LIMIT = '2000000'

let service: TestService
let other: TestService
let ravi: Browser
let dir: string
beforeAll(async () => {
  ;({ service, other, ravi } = await openApprovers({ APPROVAL_ABOVE_RUPEES: LIMIT }))
  dir = await mkdtemp(join(tmpdir(), 'svc-taken-back-'))
})
afterAll(async () => {
  await other?.close()
  await service?.close()
  await rm(dir, { recursive: true, force: true })
})

const dayAt = (ahead: number) => calendarDay(new Date(Date.now() + ahead * 86_400_000), 'Asia/Kolkata')
const today = dayAt(0)
const sql = <T = Json>(text: string, values: unknown[] = []) => sqlOn<T>(service, text, values)
/** As who can do everything would change it: without triggers. */
const tampered = (text: string, values: unknown[] = []) =>
  asSuperuser(service.db.database, async (db) => {
    await db.query('set session_replication_role = replica')
    await db.query(text, values)
    await db.query('set session_replication_role = origin')
  })

const { svc, done } = adminCli(() => service, { APPROVAL_ABOVE_RUPEES: LIMIT })
const reverse = (id: string) => svc('settlement', 'reverse', id, '--reason', 'wrong file')
async function refused(id: string, code: string, saying = ''): Promise<void> {
  const before = await balances()
  const { code: exit, stderr } = await reverse(id)
  expect(exit).not.toBe(0)
  expect(stderr).toContain(code)
  expect(stderr).toContain(saying)
  expect(await balances()).toEqual(before)
}
async function taken(id: string): Promise<Json> {
  const { code, out, stderr } = await reverse(id)
  expect(code, stderr).toBe(0)
  return out
}

interface Line {
  readonly kind: string
  readonly reference?: string
  readonly amount: string
}
const transfer = (lines: readonly Line[], netAmount: string, batchUtr = newUtr()) => ({
  batchUtr,
  valueDate: today,
  netAmount,
  lines,
})
const notify = (message: object, on = service) =>
  on.client.notify('/rails/upi/settlements', message, RAIL_KEY)
const received = async (message: object): Promise<Json> => payloadOf(await notify(message))

/** Every account that has something, of all tenants. */
const balances = async (): Promise<Json> => {
  const rows = await sql<{ id: string; balance: string }>(
    'select account_id as id, balance::text from ledger_accounts where balance <> 0 order by 1',
  )
  return Object.fromEntries(rows.map(({ id, balance }) => [id, balance]))
}
const batchOf = async (batchUtr: string): Promise<Json> =>
  (
    await sql(
      `select status, net_paise::text as net, lines_paise::text as lines, remainder_paise::text as remainder,
         value_date::text as day, taken_back as times from settlement_batches where batch_utr = $1`,
      [batchUtr],
    )
  )[0]
const eventsOf = async ({ paymentId }: Pick<Shop, 'paymentId'>): Promise<string[]> =>
  (
    await sql<{ type: string }>(
      `select type from outbox where object_id = $1 and type like 'payment.settle%' order by event_id`,
      [paymentId],
    )
  ).map(({ type }) => type)
const settledIn = async ({ paymentId }: Pick<Shop, 'paymentId'>): Promise<string | undefined> =>
  (
    await sql<{ utr: string }>(
      `select b.batch_utr as utr from settlement_lines l join settlement_batches b using (batch_id)
       where l.payment_id = $1 and l.status = 'MATCHED'`,
      [paymentId],
    )
  )[0]?.utr
const clean = async (): Promise<void> => {
  expect(await brokenIn(service)).toEqual([])
  expect((await reconcileAll(service.app.services.database)).ok).toBe(true)
}

/** A transfer of two merchants with a refund, a charge, a line that fits nothing, and something in no line. */
async function whole() {
  const [one, two] = [await shopWith(service, 250), await shopWith(service, 100)]
  const { refundId } = payloadOf(await one.client.post(one.path, { amount: 10, referenceNumber: newUtr() }))
  const refund = newUtr()
  payloadOf(await notifyRefund(service, { refundId, status: 'REFUNDED', utr: refund }))
  const lines: Line[] = [
    { kind: 'payment', reference: await utrOf(service, one.paymentId), amount: '250.00' },
    { kind: 'payment', reference: await utrOf(service, two.paymentId), amount: '100.00' },
    { kind: 'refund', reference: refund, amount: '-10.00' },
    { kind: 'charge', amount: '-1.00' },
    { kind: 'charge_gst', amount: '-0.18' },
    { kind: 'payment', reference: newUtr(), amount: '40.00' },
  ]
  return { one, two, message: transfer(lines, '400.00') }
}

test('a transfer that was taken back has moved nothing, its merchants know, and the same file records it again', async () => {
  const { one, two, message } = await whole()
  const { batchUtr } = message
  const before = await balances()
  const first = await received(message)
  expect(first).toMatchObject({ status: 'INCOMPLETE', lines: 6, matched: 5, remainder: '21.18' })
  const after = await balances()
  const done = await taken(batchUtr)
  expect(done).toMatchObject({
    batchId: first.batchId,
    batchUtr,
    status: 'REVERSED',
    netAmount: '400.00',
    amount: '422.36',
    lines: 0,
    remainder: '0.00',
    isRepeat: false,
  })
  expect(await balances()).toEqual(before)
  expect(await batchOf(batchUtr)).toMatchObject({ status: 'REVERSED', lines: '0', remainder: '0', times: 1 })
  expect(await eventsOf(one)).toEqual(['payment.settled', 'payment.settlement_reversed'])
  expect(await eventsOf(two)).toEqual(['payment.settled', 'payment.settlement_reversed'])
  expect(await settledIn(one)).toBeUndefined()
  const reasons = await sql<{ reason: string; day: string }>(
    `select distinct reason, effective_date::text as day from journals where reference = $1`,
    [first.batchId],
  )
  expect(reasons).toEqual([{ reason: 'wrong file', day: dayAt(0) }])
  await clean()

  expect(await taken(first.batchId)).toEqual({ ...done, isRepeat: true })
  expect(await balances()).toEqual(before)
  await matchLateLines(service.app.services)
  expect(await batchOf(batchUtr)).toMatchObject({ status: 'REVERSED', lines: '0' })

  for (let time = 0; time < 2; time++) {
    expect(await received(message)).toEqual(first)
    expect(await balances()).toEqual(after)
  }
  expect(await settledIn(one)).toBe(batchUtr)
  expect(await eventsOf(two)).toEqual(['payment.settled', 'payment.settlement_reversed', 'payment.settled'])
  await clean()

  expect(await taken(batchUtr)).toMatchObject({ amount: '422.36', isRepeat: false })
  expect(await balances()).toEqual(before)
  const right = { ...message, valueDate: dayAt(-1), netAmount: '248.82', lines: message.lines.slice(0, 1) }
  expect(await received(right)).toMatchObject({ status: 'INCOMPLETE', lines: 1, remainder: '-1.18' })
  expect(await received({ ...right, lines: message.lines.slice(3, 5) })).toMatchObject({ status: 'POSTED' })
  expect(await batchOf(batchUtr)).toMatchObject({ net: '24882', day: dayAt(-1), times: 2 })
  await clean()
})

test('a transfer of the card network is taken back and recorded again, each message of its partner', async () => {
  const partner = await newPartner(service)
  const { token } = payloadOf(await createCard(await asPartner(service.client, partner), partner))
  const terminal = new Terminal(service.client, token)
  const { authorizationId } = await terminal.authorize(120)
  const { messageId } = await terminal.capture(120, { authorizationId })
  const message = transfer(
    [
      { kind: 'capture', reference: messageId, amount: '-120.00' },
      { kind: 'interchange', amount: '1.50' },
      { kind: 'charge', amount: '-0.50' },
      { kind: 'capture', reference: 'RRN000000001', amount: '-3.00' },
    ],
    '-122.00',
  )
  const send = async () =>
    payloadOf(await service.client.notify('/rails/cards/settlements', message, CARD_RAIL_KEY)) as Json
  const before = await balances()
  const first = await send()
  const after = await balances()
  expect(await taken(first.batchId)).toMatchObject({ rail: 'card', amount: '125.00' })
  expect(await balances()).toEqual(before)
  await clean()
  expect(await send()).toEqual(first)
  expect(await balances()).toEqual(after)
  await clean()
})

test('a transfer that a bank statement shows stays until its line is unmatched; recorded again, it is proven whole', async () => {
  const { message } = await whole()
  const complete = { ...message, netAmount: '378.82' }
  const of = ['--purpose', 'merchant_escrow', '--name', 'escrow', '--number', '50100012340099']
  const account = [...of, '--ifsc', 'HDFC0000123', '--opening', '0.00', '--from', dayAt(0)]
  const { bankAccountId } = await done('bank-account', 'create', ...account)
  await received(complete)
  const file = join(dir, 'statement.csv')
  await writeFile(file, csvStatement(0, [{ date: dayAt(0), paise: 37_882, reference: complete.batchUtr }]))
  expect(await done('statement', 'import', file, '--account', bankAccountId)).toMatchObject({ matched: 1 })
  expect(await batchOf(complete.batchUtr)).toMatchObject({ status: 'CONFIRMED' })
  const [line] = await done('statement', 'lines')
  await refused(complete.batchUtr, 'settlement_confirmed', line.lineId)
  await done('statement', 'unmatch', line.lineId, '--reason', 'wrong')
  await taken(complete.batchUtr)
  // A transfer that was taken back is no movement that a line could be.
  const match = ['statement', 'match', line.lineId, '--reason', 'by hand', '--to']
  const batchId = line.documentId
  expect((await svc(...match, batchId)).stderr).toContain('movement_not_found')
  const proof = async () => {
    const { out } = await svc('books', 'proof', '--date', dayAt(1))
    return out.accounts.find(({ purpose }: Json) => purpose === 'merchant_escrow')
  }
  expect((await proof()).unexplained).toBe('0.00')
  await received(complete)
  await done(...match, batchId)
  expect(await batchOf(complete.batchUtr)).toMatchObject({ status: 'CONFIRMED' })
  const { differences, unexplained } = await proof()
  expect(unexplained).toBe('0.00')
  expect(JSON.stringify(differences)).not.toContain(batchId)
  await clean()
})

test('above the limit a second person approves what it moves, once; the console takes it back alike', async () => {
  const shop = await shopWith(service, 2_500_000)
  const line = { kind: 'payment', reference: await utrOf(service, shop.paymentId), amount: '2500000.00' }
  const message = transfer([line], '2500000.00')
  const before = await balances()
  const { batchId } = await received(message)
  const { out } = await reverse(message.batchUtr)
  expect(out).toMatchObject({
    kind: 'settlement_taken_back',
    status: 'PENDING',
    amount: '2500000.00',
    reference: batchId,
  })
  expect(await settledIn(shop)).toBe(message.batchUtr)
  const { data } = (await ravi.get('/approvals')).json as { data: Json[] }
  expect(data.find(({ approvalId }) => approvalId === out.approvalId)?.request).toEqual({
    utr: message.batchUtr,
    rail: 'upi',
    valueDate: today,
    netAmount: '2500000.00',
    tenants: '1',
  })
  expect((await ravi.post(`/approvals/${out.approvalId}/approve`, {})).status).toBe(200)
  expect(await balances()).toEqual(before)
  expect(await taken(batchId)).toMatchObject({ status: 'REVERSED', isRepeat: true })

  const small = { ...message, netAmount: '0.50', lines: [{ kind: 'charge', amount: '0.50' }] }
  await received(small)
  const inConsole = await ravi.post(`/settlements/${batchId}/reverse`, { reason: 'wrong format' })
  expect(inConsole.json).toMatchObject({ status: 'REVERSED', amount: '0.50', isRepeat: false })
  expect(await balances()).toEqual(before)
  await clean()
})

test('what is not there, not here or not as its lines say is refused', async () => {
  await refused('HDFCNOSUCH001', 'settlement_not_found')
  const message = transfer([{ kind: 'charge', amount: '-5.00' }], '-5.00')
  const { batchId } = await received(message)
  const moved = (amount: number) =>
    tampered('update settlement_batches set moved_paise = $2 where batch_id = $1', [batchId, amount])
  await moved(1)
  await refused(batchId, 'settlement_elsewhere')
  await moved(0)
  await tampered('update settlement_batches set lines_paise = -499 where batch_id = $1', [batchId])
  await refused(batchId, 'settlement_not_reversible', '-4.99')
  await tampered('update settlement_batches set lines_paise = -500 where batch_id = $1', [batchId])
  await taken(batchId)
  await clean()
})

test('a payment that a wrong transfer had settled is settled by the one that waited', async () => {
  const shop = await shopWith(service, 60)
  const line = { kind: 'payment', reference: await utrOf(service, shop.paymentId), amount: '60.00' }
  const [wrong, right] = [transfer([line], '60.00'), transfer([line], '60.00')]
  expect(await received(wrong)).toMatchObject({ matched: 1 })
  expect(await received(right)).toMatchObject({ unmatched: 1 })
  await taken(wrong.batchUtr)
  expect(await matchLateLines(service.app.services)).toBe(1)
  expect(await settledIn(shop)).toBe(right.batchUtr)
  expect(await received(right)).toMatchObject({ status: 'POSTED', lines: 1, matched: 1, unmatched: 0 })
  expect((await balancesOf(service, shop.merchantId)).bank).toBe('-6000')
  await clean()
})

test('lines that it took over from a file which names no transfer are that file’s again', async () => {
  const shop = await shopWith(service, 80)
  const utr = await utrOf(service, shop.paymentId)
  const file = join(dir, 'three.csv')
  await writeFile(file, `utr,amount,date\n${utr},80.00,${today}\n`)
  await done('settlement', 'import', file)
  const before = await balances()
  const message = transfer([{ kind: 'payment', reference: utr, amount: '80.00' }], '80.00')
  await received(message)
  expect(await settledIn(shop)).toBe(message.batchUtr)
  expect(await taken(message.batchUtr)).toMatchObject({ amount: '0.00', journalId: null })
  expect(await balances()).toEqual(before)
  expect(await settledIn(shop)).toMatch(/^stf_/)
  expect(await eventsOf(shop)).toEqual(['payment.settled'])
  expect(await received(message)).toMatchObject({ status: 'POSTED', matched: 1 })
  await clean()
})

test('a line whose payment came late is not recorded again once its transfer was taken back', async () => {
  const merchant = await service.newMerchant()
  const utr = newUtr()
  const message = transfer(
    [
      { kind: 'payment', reference: utr, amount: '40.00' },
      { kind: 'charge', amount: '-1.00' },
    ],
    '39.00',
  )
  const before = await balances()
  const { batchId } = await received(message)
  await taken(batchId)
  // As a process does that had read the line before.
  const line = { line: 1, kind: 'payment', reference: utr, amountPaise: paise(4_000n) } as const
  const head = { isDayStated: false, netPaise: undefined, isAwaited: true } as const
  const late = { ...message, ...head, rail: 'upi', fileId: batchId } as const
  const record = () =>
    service.app.services.commands
      .open(recordBatch)
      .run({ ...late, lines: [line], isLast: false, isLate: true })
  payloadOf(
    await notifyCredit(service.client, creditOf('NOSUCH', { utr, amount: 40, payeeVpa: merchant.vpa })),
  )
  expect((await record()).batch.status).toBe('REVERSED')
  const charge = { ...message, netAmount: '-1.00', lines: message.lines.slice(1) }
  await received(charge)
  expect((await record()).batch).toMatchObject({ status: 'POSTED', linesPaise: -100n })
  expect((await balancesOf(service, merchant.merchantId)).bank).toBeUndefined()
  await taken(batchId)
  expect((await balances())['bank:house']).toBe(before['bank:house'])
  await clean()
})

test('from several processes it is recorded or taken back as a whole, in whatever order', async () => {
  const { one, message } = await whole()
  const before = await balances()
  const { batchId } = await received(message)
  const after = await balances()
  for (let round = 0; round < 4; round++) {
    const results = await Promise.all([
      notify(message, other),
      reverse(batchId),
      notify({ ...message, lines: message.lines.slice(0, 3) }, service),
      ravi.post(`/settlements/${batchId}/reverse`, { reason: 'twice' }),
    ])
    for (const result of results)
      if ('stderr' in result)
        expect(result.code === 0 || result.stderr.includes('settlement_changed'), result.stderr).toBe(true)
      else expect([200, 409, 503]).toContain(result.status)
    await clean()
  }
  expect(['REVERSED', 'INCOMPLETE']).toContain((await batchOf(message.batchUtr)).status)
  expect(await received(message)).toMatchObject({ lines: 6, matched: 5 })
  expect(await balances()).toEqual(after)
  expect(await settledIn(one)).toBe(message.batchUtr)
  await taken(batchId)
  expect(await balances()).toEqual(before)
  await clean()
})

test('no login makes a transfer REVERSED that is in the books, nor takes back what is none', async () => {
  const shop = await shopWith(service, 70)
  const line = { kind: 'payment', reference: await utrOf(service, shop.paymentId), amount: '70.00' }
  const message = transfer([line], '70.00')
  const { batchId } = await received(message)
  const reversed = `update svc.settlement_batches set status = 'REVERSED', lines_paise = 0, remainder_paise = 0,
    taken_back = taken_back + 1 where batch_id = '${batchId}'`
  const forgedBy = (login: 'svc_service' | 'svc_operator', ...texts: string[]) =>
    asLogin(service.db, login, async (db) => {
      await db.query(`begin; set local role ${login}; set local svc.tenants = 'house'`)
      for (const text of texts) await db.query(text)
      await db.query('commit')
    })
  await expect(forgedBy('svc_service', reversed)).rejects.toMatchObject({
    constraint: 'batch_steps_are_taken',
  })
  await expect(forgedBy('svc_operator', reversed)).rejects.toMatchObject({
    constraint: 'batches_are_taken_back_whole',
  })
  await expect(
    service.app.services.database.operate((tx) => tx.query(statement('forged_reversal', reversed))),
  ).rejects.toMatchObject({ constraint: 'batches_are_taken_back_whole' })
  const journal = (reference: string) => `with j as (
      insert into svc.journals (tenant_id, journal_id, kind, effective_date, reference, legs, at)
      values ('house', 'jrn_forged', 'taken_back_shared', current_date, '${reference}', 1, clock_timestamp()) returning 1)
    insert into svc.ledger_transfers select 'trf_forged', 'house', 'jrn_forged', 1, 'taken_back_shared', 'upi_clearing:house',
      'bank:house', 100, 'INR', '${batchId}', clock_timestamp() from j`
  await expect(forgedBy('svc_operator', journal(batchId))).rejects.toMatchObject({
    constraint: 'taken_back_is_reversed',
  })
  await taken(batchId)
  await expect(forgedBy('svc_operator', journal(`${batchId}~2`))).rejects.toMatchObject({
    constraint: 'taken_back_is_reversed',
  })
  await received(message)
  const [mine] = await sql<{ n: string }>(`select count(*) as n from settlement_lines where batch_id = $1`, [
    batchId,
  ])
  expect(mine!.n).toBe('1')
  await clean()
})
