import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reconcileAll } from '@svc/console-api/faces/reconciliations'
import { matchLateLines } from '@svc/core/payments/settlements/match-late-lines'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Terminal } from '../harness/card-rail.ts'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { newDispute, notifyDispute, utrOf } from '../harness/disputes.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, notifyRefund, type Shop, shopWith } from '../harness/refunds.ts'
import {
  asSuperuser,
  CARD_RAIL_KEY,
  MASTER_KEY,
  openService,
  RAIL_KEY,
  type TestService,
} from '../harness/service.ts'

let service: TestService
let other: TestService
let dir: string
beforeAll(async () => {
  service = await openService({ background: false })
  other = await openService({ db: service.db, background: false })
  dir = await mkdtemp(join(tmpdir(), 'svc-batches-'))
})
afterAll(async () => {
  await other.close()
  await service.close()
  await rm(dir, { recursive: true })
})

const today = calendarDay(new Date(), 'Asia/Kolkata')

interface Line {
  readonly kind: string
  readonly reference?: string
  readonly amount: string
}

const transfer = (lines: readonly Line[], netAmount: string | undefined, batchUtr = newUtr()) => ({
  batchUtr,
  valueDate: today,
  ...(netAmount !== undefined && { netAmount }),
  lines,
})

const notify = (message: object, on = service) =>
  on.client.notify('/rails/upi/settlements', message, RAIL_KEY)
const notifyNetwork = (message: object) =>
  service.client.notify('/rails/cards/settlements', message, CARD_RAIL_KEY)
const received = async (message: object): Promise<Json> => payloadOf(await notify(message))

/** What all tenants together have of a kind; debits are below zero. */
const totalOf = (kind: string): Promise<bigint> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query<{ total: string }>(
      'select coalesce(sum(balance), 0)::text as total from ledger_accounts where kind = $1',
      [kind],
    )
    return BigInt(rows[0]!.total)
  })

const svc = (...args: string[]) =>
  runHere(['admin', 'settlement', ...args], { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY })

async function refundOf({ client, path }: Shop, amount: number): Promise<{ refundId: string; utr: string }> {
  const { refundId } = payloadOf(await client.post(path, { amount, referenceNumber: newUtr() }))
  return { refundId, utr: newUtr() }
}

/** A merchant with everything that a bank nets: a payment, a refund that the bank made, a dispute. */
async function busyShop() {
  const shop = await shopWith(service, 250)
  const { refundId, utr } = await refundOf(shop, 10)
  payloadOf(await notifyRefund(service, { refundId, status: 'REFUNDED', utr }))
  const caseReference = newUtr()
  await newDispute(service, shop.paymentId, { caseReference, amount: 5 })
  return { shop, payment: await utrOf(service, shop.paymentId), refund: utr, caseReference }
}

const whole = async () => {
  const busy = await busyShop()
  const lines: Line[] = [
    { kind: 'payment', reference: busy.payment, amount: '250.00' },
    { kind: 'refund', reference: busy.refund, amount: '-10.00' },
    { kind: 'dispute', reference: busy.caseReference, amount: '-5.00' },
    { kind: 'charge', amount: '-1.00' },
    { kind: 'charge_gst', amount: '-0.18' },
  ]
  return { ...busy, message: transfer(lines, '233.82') }
}

async function asFile({ batchUtr, valueDate, netAmount, lines }: ReturnType<typeof transfer>, name: string) {
  const file = join(dir, `${name}.csv`)
  const rows = lines.map(({ kind, reference = '', amount }) =>
    [batchUtr, valueDate, netAmount ?? '', kind, reference, amount, '', ''].join(','),
  )
  await writeFile(
    file,
    `${['batchUtr,valueDate,netAmount,kind,reference,amount,date,note', ...rows].join('\n')}\n`,
  )
  return file
}

test.each(['message', 'file'])(
  'a transfer as a %s moves the bank by its net amount, and each line reaches whom it is of',
  async (way) => {
    const { shop, message } = await whole()
    const [before, charges, tax] = await Promise.all(['bank', 'rail_charges', 'gst_input'].map(totalOf))
    const { upi_clearing: clearing } = await balancesOf(service, shop.merchantId)
    if (way === 'file') {
      const { code, stdout, stderr } = await svc('import', await asFile(message, way), '--json')
      expect(code, stderr).toBe(0)
      const [batch] = JSON.parse(stdout).batches
      expect(batch).toMatchObject({
        ...DONE,
        batchUtr: message.batchUtr,
        netAmount: '233.82',
        valueDate: today,
      })
    } else
      expect(await received(message)).toEqual({
        ...DONE,
        batchId: expect.stringMatching(/^stb_/),
        batchUtr: message.batchUtr,
      })
    expect(before! - (await totalOf('bank'))).toBe(23_382n)
    expect(charges! - (await totalOf('rail_charges'))).toBe(100n)
    expect(tax! - (await totalOf('gst_input'))).toBe(18n)
    const after = await balancesOf(service, shop.merchantId)
    expect(after.bank).toBe('-23500')
    expect(await settledBy(shop)).toBe(message.batchUtr)
    // The bank has kept what it will give back if the dispute is won.
    expect(BigInt(after.upi_clearing!) - BigInt(clearing!)).toBe(23_500n)
    expect(await brokenIn(service)).toEqual([])
    expect((await reconcileAll(service.app.services.database)).ok).toBe(true)
  },
)
/** The transfer that the event of the merchant names. */
const settledBy = ({ paymentId }: Shop): Promise<string> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query<{ utr: string }>(
      `select payload ->> 'batchUtr' as utr from outbox where object_id = $1 and type = 'payment.settled'`,
      [paymentId],
    )
    return rows[0]!.utr
  })

const DONE = { status: 'POSTED', lines: 5, matched: 5, unmatched: 0, remainder: '0.00' }

test('however often, from however many processes and in however many parts a transfer comes, it counts once', async () => {
  const { message } = await whole()
  const before = await totalOf('bank')
  const [first, ...rest] = message.lines
  const parts = [message, { ...message, lines: [first] }, { ...message, lines: rest }, message]
  const all = await Promise.all(parts.map((part, i) => notify(part, i % 2 === 0 ? service : other)))
  expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const { stderr, code } = await svc('import', await asFile(message, 'again'), '--json')
  expect(code, stderr).toBe(0)
  expect(await received(message)).toMatchObject(DONE)
  expect(before - (await totalOf('bank'))).toBe(23_382n)
  expect(await brokenIn(service)).toEqual([])
})

test('what fits nothing is posted whole, and goes to its tenant once its notice comes', async () => {
  const shop = await shopWith(service, 100)
  const late = { refund: await refundOf(shop, 20), credit: newUtr(), caseReference: newUtr() }
  const message = transfer(
    [
      { kind: 'payment', reference: late.credit, amount: '40.00' },
      { kind: 'refund', reference: late.refund.utr, amount: '-20.00' },
      { kind: 'dispute', reference: late.caseReference, amount: '-7.00' },
    ],
    '13.00',
  )
  const [bank, unmatched] = [await totalOf('bank'), await totalOf('settlement_unmatched')]
  expect(await received(message)).toMatchObject({ status: 'POSTED', matched: 0, unmatched: 3 })
  expect(bank - (await totalOf('bank'))).toBe(1_300n)
  expect((await totalOf('settlement_unmatched')) - unmatched).toBe(1_300n)
  await matchLateLines(service.app.services)
  expect((await totalOf('settlement_unmatched')) - unmatched).toBe(1_300n)
  const merchant = await service.newMerchant()
  const credit = creditOf('NOSUCHCODE', { utr: late.credit, amount: 40, payeeVpa: merchant.vpa })
  payloadOf(await notifyCredit(service.client, credit))
  payloadOf(
    await notifyRefund(service, { refundId: late.refund.refundId, status: 'REFUNDED', utr: late.refund.utr }),
  )
  payloadOf(
    await notifyDispute(service, {
      caseReference: late.caseReference,
      utr: await utrOf(service, shop.paymentId),
      amount: 7,
    }),
  )
  expect(await matchLateLines(service.app.services)).toBe(3)
  expect(await matchLateLines(service.app.services)).toBe(0)
  expect(await totalOf('settlement_unmatched')).toBe(unmatched)
  expect(bank - (await totalOf('bank'))).toBe(1_300n)
  expect((await balancesOf(service, shop.merchantId)).bank).toBe('2700')
  expect((await balancesOf(service, merchant.merchantId)).bank).toBe('-4000')
  expect(await received(message)).toMatchObject({ status: 'POSTED', matched: 3, unmatched: 0 })
  expect(await brokenIn(service)).toEqual([])
})

test('a transfer is incomplete until the lines that its net amount names have come', async () => {
  const [one, two] = [await shopWith(service, 30), await shopWith(service, 12)]
  const lines = await Promise.all(
    [one, two].map(async ({ paymentId }, i) => ({
      kind: 'payment',
      reference: await utrOf(service, paymentId),
      amount: i === 0 ? '30.00' : '12.00',
    })),
  )
  const [bank, unmatched] = [await totalOf('bank'), await totalOf('settlement_unmatched')]
  const message = transfer(lines.slice(0, 1), '42.00')
  expect(await received(message)).toMatchObject({ status: 'INCOMPLETE', remainder: '12.00' })
  expect(bank - (await totalOf('bank'))).toBe(4_200n)
  const found: Json[] = JSON.parse((await svc('differences', '--days', '0', '--json')).stdout)
  expect(found.find(({ batchUtr }) => batchUtr === message.batchUtr)).toMatchObject({ kind: 'remainder' })
  expect(await received({ ...message, lines: lines.slice(1) })).toMatchObject({
    status: 'POSTED',
    remainder: '0.00',
  })
  expect(bank - (await totalOf('bank'))).toBe(4_200n)
  expect(await totalOf('settlement_unmatched')).toBe(unmatched)
  expect(await brokenIn(service)).toEqual([])
})

test('what any line of a file states of its transfer counts, and two values refuse the file', async () => {
  const utr = newUtr()
  const file = join(dir, 'heads.csv')
  const write = (...heads: readonly string[]) =>
    writeFile(
      file,
      ['batchUtr,valueDate,netAmount,kind,reference,amount,date,note', ...heads]
        .map((head, i) => (i === 0 ? head : `${utr},${head},charge,CHG${i},-1.00,2026-03-0${i},`))
        .join('\n'),
    )
  await write(',', '2026-03-09,-2.00')
  const { stdout, stderr } = await svc('import', file, '--json')
  expect(JSON.parse(stdout || '{}').batches, stderr).toMatchObject([
    { valueDate: '2026-03-09', netAmount: '-2.00', status: 'POSTED' },
  ])
  await write('2026-03-09,', '2026-03-10,')
  expect((await svc('import', file)).stderr).toContain(`another value date of ${utr} than the lines before`)
  await write('2026-03-10,', ',')
  expect((await svc('import', file)).stderr).toContain('was recorded with the value date 2026-03-09')
})

test('another amount changes nothing and is kept for people; another net amount or day too', async () => {
  const { message, payment } = await whole()
  expect(await received(message)).toMatchObject(DONE)
  const bank = await totalOf('bank')
  const contradicting = {
    ...message,
    lines: [
      { kind: 'charge', amount: '-2.00' },
      { kind: 'payment', reference: payment, amount: '249.00' },
    ],
  }
  expect((await notify(contradicting)).status).toBe(200)
  expect((await notify({ ...message, netAmount: '233.83' })).status).toBe(202)
  expect((await notify({ ...message, valueDate: '2026-03-01' })).status).toBe(202)
  const file = await asFile({ ...message, lines: contradicting.lines }, 'contradicting')
  const { code, stderr } = await svc('import', file, '--json')
  expect(code).toBe(1)
  expect(stderr).toContain('was recorded before with another amount')
  expect(await totalOf('bank')).toBe(bank)
  const kept = await asSuperuser(
    service.db.database,
    async (db) =>
      (
        await db.query<{ field: string }>(`select field from rail_notices where utr = $1 order by field`, [
          message.batchUtr,
        ])
      ).rows,
  )
  expect(kept.map(({ field }) => field)).toEqual(['lines', 'netAmount', 'valueDate'])
})

test('a payment is settled once: a second transfer that has it too waits for an explanation', async () => {
  const shop = await shopWith(service, 60)
  const line = { kind: 'payment', reference: await utrOf(service, shop.paymentId), amount: '60.00' }
  expect(await received(transfer([line], '60.00'))).toMatchObject({ matched: 1 })
  expect(await received(transfer([line], '60.00'))).toMatchObject({ matched: 0, unmatched: 1 })
  expect((await balancesOf(service, shop.merchantId)).bank).toBe('-6000')
  expect(await brokenIn(service)).toEqual([])
})

test('lines of a file of three columns become those of the transfer that names them', async () => {
  const shop = await shopWith(service, 80)
  const utr = await utrOf(service, shop.paymentId)
  const file = join(dir, 'three.csv')
  await writeFile(file, `utr,amount,date\n${utr},80.00,${today}\n`)
  const bank = await totalOf('bank')
  expect((await svc('import', file, '--json')).code).toBe(0)
  expect(
    await received(transfer([{ kind: 'payment', reference: utr, amount: '80.00' }], '80.00')),
  ).toMatchObject({
    status: 'POSTED',
    matched: 1,
    remainder: '0.00',
  })
  expect(bank - (await totalOf('bank'))).toBe(8_000n)
  expect(await brokenIn(service)).toEqual([])
})

test('a line of such a file whose payment comes after its transfer is matched in the books of both', async () => {
  const { tr } = await newCode(service, await service.as(await service.newMerchant()), {})
  const utr = newUtr()
  const file = join(dir, 'early.csv')
  await writeFile(file, `utr,amount,date\n${utr},90.00,${today}\n`)
  const bank = await totalOf('bank')
  expect((await svc('import', file, '--json')).code).toBe(0)
  const message = transfer([{ kind: 'payment', reference: utr, amount: '90.00' }], '90.00')
  expect(await received(message)).toMatchObject({ status: 'POSTED', unmatched: 1 })
  expect(await brokenIn(service)).toEqual([])
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 90, utr })))
  expect(await received(message)).toMatchObject({ status: 'POSTED', matched: 1, unmatched: 0 })
  expect(bank - (await totalOf('bank'))).toBe(9_000n)
  expect(await brokenIn(service)).toEqual([])
})

test('a transfer of the card network moves the escrow of cards, each message to its partner', async () => {
  const partner = await newPartner(service)
  const { token } = payloadOf(await createCard(await asPartner(service.client, partner), partner))
  const terminal = new Terminal(service.client, token)
  const { authorizationId } = await terminal.authorize(120)
  const { messageId } = await terminal.capture(120, { authorizationId })
  const bank = await totalOf('ppi_bank')
  const message = transfer(
    [
      { kind: 'capture', reference: messageId, amount: '-120.00' },
      { kind: 'interchange', amount: '1.50' },
      { kind: 'charge', amount: '-0.50' },
      { kind: 'capture', reference: 'RRN000000001', amount: '-3.00' },
    ],
    '-122.00',
  )
  expect(payloadOf(await notifyNetwork(message))).toMatchObject({
    status: 'POSTED',
    matched: 3,
    unmatched: 1,
  })
  expect(payloadOf(await notifyNetwork(message))).toMatchObject({
    status: 'POSTED',
    matched: 3,
    unmatched: 1,
  })
  expect((await totalOf('ppi_bank')) - bank).toBe(12_200n)
  const { card_settlement: owed } = await balancesOf(service, partner.partnerId)
  expect(owed).toBeUndefined()
  expect(await brokenIn(service)).toEqual([])
  expect((await reconcileAll(service.app.services.database)).ok).toBe(true)
})

test.each([
  ['netAmount', { netAmount: '233,82' }],
  ['valueDate', { valueDate: '31-31-2026' }],
  ['status', { status: 'FAILED' }],
  ['currency', { currency: 'USD' }],
  ['lines', { lines: [] }],
  ['lines.0.amount', { lines: [{ kind: 'payment', reference: 'AXISR0000000042', amount: '-5' }] }],
  ['lines.0.kind', { lines: [{ kind: 'present', reference: 'AXISR0000000042', amount: '5' }] }],
  ['lines.0.reference', { lines: [{ kind: 'payment', reference: 'NONREF', amount: '5' }] }],
  ['lines.0.currency', { lines: [{ kind: 'charge', amount: '-5', currency: 'USD' }] }],
])(
  'a transfer whose %s cannot be read is kept whole for people, and moves nothing',
  async (field, change) => {
    const bank = await totalOf('bank')
    const message = { ...transfer([{ kind: 'charge', amount: '-5' }], '-5'), ...change }
    const response = await notify(message)
    expect(response.status).toBe(202)
    const [kept] = await asSuperuser(
      service.db.database,
      async (db) =>
        (
          await db.query<{ field: string; status: string }>(
            'select field, status from rail_notices order by received_at desc, notice_id limit 1',
          )
        ).rows,
    )
    expect(kept).toEqual({ field, status: 'QUARANTINED' })
    expect(await totalOf('bank')).toBe(bank)
  },
)
