import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approve, openApprovers, sqlOn } from '../harness/approvals.ts'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { utrOf } from '../harness/disputes.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { brokenIn, shopWith } from '../harness/refunds.ts'
import { CARD_RAIL_KEY, MASTER_KEY, RAIL_KEY, type TestService } from '../harness/service.ts'
import { transferFile } from '../harness/settlements.ts'

let service: TestService
let other: TestService
let ravi: Browser
let dir: string
beforeAll(async () => {
  ;({ service, other, ravi } = await openApprovers())
  dir = await mkdtemp(join(tmpdir(), 'svc-alone-'))
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
  await rm(dir, { recursive: true, force: true })
})

const charge = (amount: string) => ({ kind: 'charge', amount: `-${amount}` })
const stray = (amount: string) => ({ kind: 'payment', reference: newUtr(), amount })
const statusOf = async (batchUtr: string): Promise<string | undefined> =>
  (
    await sqlOn<{ status: string }>(service, 'select status from settlement_batches where batch_utr = $1', [
      batchUtr,
    ])
  )[0]?.status
const posted = async (kind: string): Promise<bigint> =>
  BigInt(
    (
      await sqlOn<{ paise: string }>(
        service,
        'select coalesce(sum(amount), 0)::text as paise from ledger_transfers where kind = $1',
        [kind],
      )
    )[0]!.paise,
  )

test('charges of a file above the limit are booked once another person approves them, and the same file changes nothing then', async () => {
  const asha = await signedIn(service, 'finance')
  const shop = await shopWith(service, 5_000)
  const payment = { kind: 'payment', reference: await utrOf(service, shop.paymentId), amount: '5000.00' }
  const batchUtr = newUtr()
  const file = transferFile(batchUtr, [payment, charge('900.00'), { kind: 'charge_gst', amount: '-162.00' }])
  const before = await posted('settlement_charged')
  const first = await asha.post('/settlements', file)
  const waiting = [{ batchUtr, approvalId: expect.stringMatching(/^apv_/), amount: '1062.00' }]
  expect(first.json).toMatchObject({ lines: 0, batches: [], waiting })
  expect(await statusOf(batchUtr)).toBeUndefined()
  const [{ approvalId }] = first.json.waiting
  expect((await asha.post('/settlements', file)).json.waiting).toEqual(first.json.waiting)
  expect((await approve(asha, approvalId)).error).toBe('approval_same_person')
  expect((await ravi.get(`/approvals?status=OPEN`)).json.data[0]).toMatchObject({
    kind: 'settlement_recorded',
    requestedBy: expect.stringMatching(/^operator /),
    request: { utr: batchUtr, rail: 'upi', lines: '3', charges: '-1062.00', unmatched: '0.00' },
  })
  expect((await approve(ravi, approvalId)).json.status).toBe('POSTED')
  expect([await posted('settlement_charged'), await statusOf(batchUtr)]).toEqual([
    before + 1_062_00n,
    'POSTED',
  ])
  expect((await asha.post('/settlements', file)).json).toMatchObject({ lines: 3, repeated: 3, waiting: [] })
  expect(await posted('settlement_charged')).toBe(before + 1_062_00n)
})

test.each([
  ['charges', () => [charge('600.00')]],
  ['lines that fit nothing', () => [stray('600.00')]],
  ['debits that fit nothing', () => [{ kind: 'debit', reference: newUtr(), amount: '-600.00' }]],
  ['both, in one transfer', () => [charge('300.00'), stray('300.00')]],
])('small files of one person add up within 24 hours: %s', async (_, lines) => {
  const asha = await signedIn(service, 'finance')
  const [first, second] = [newUtr(), newUtr()]
  expect((await asha.post('/settlements', transferFile(first, lines()))).json.waiting).toEqual([])
  const again = await asha.post('/settlements', transferFile(second, lines()))
  expect(again.json.waiting).toEqual([expect.objectContaining({ batchUtr: second, amount: '600.00' })])
  expect([await statusOf(first), await statusOf(second)]).toEqual(['POSTED', undefined])
})

test('what of a net amount is in no line counts like a line that fits nothing', async () => {
  const asha = await signedIn(service, 'finance')
  const batchUtr = newUtr()
  const file = transferFile(batchUtr, [charge('1.00')], '-1001.00')
  expect((await asha.post('/settlements', file)).json.waiting).toMatchObject([
    { batchUtr, amount: '1001.00' },
  ])
})

test('charges and interchange of a file of the card network count too', async () => {
  const asha = await signedIn(service, 'finance')
  const batchUtr = newUtr()
  const lines = [charge('600.00'), { kind: 'interchange', amount: '401.00' }]
  const { json } = await asha.post('/settlements?rail=card', transferFile(batchUtr, lines))
  expect(json.waiting).toMatchObject([{ batchUtr, amount: '1001.00' }])
  expect((await approve(ravi, json.waiting[0].approvalId)).json.status).toBe('POSTED')
  expect(await statusOf(batchUtr)).toBe('POSTED')
})

test('what fits counts for no person, and what the bank signs for none either', async () => {
  const asha = await signedIn(service, 'finance')
  const shop = await shopWith(service, 50_000)
  const payment = { kind: 'payment', reference: await utrOf(service, shop.paymentId), amount: '50000.00' }
  expect((await asha.post('/settlements', transferFile(newUtr(), [payment]))).json).toMatchObject({
    matched: 1,
    waiting: [],
  })
  const valueDate = calendarDay(new Date(), 'Asia/Kolkata')
  for (const [path, key] of [
    ['/rails/upi/settlements', RAIL_KEY],
    ['/rails/cards/settlements', CARD_RAIL_KEY],
  ] as const) {
    const message = { batchUtr: newUtr(), valueDate, lines: [charge('70000.00')] }
    expect(payloadOf(await service.client.notify(path, message, key)).status).toBe('POSTED')
  }
})

test('what has become known meanwhile is not what another person saw: the transfer is imported again', async () => {
  const asha = await signedIn(service, 'finance')
  const { client } = await shopWith(service, 10)
  const { tr } = await newCode(service, client, { multipleUse: true })
  const arrives = async ({ reference: utr }: { readonly reference: string }) =>
    payloadOf(await notifyCredit(service.client, creditOf(tr, { utr, amount: 2_000 })))
  const waits = async (lines: readonly Parameters<typeof transferFile>[1][number][]) => {
    const batchUtr = newUtr()
    const [{ approvalId }] = (await asha.post('/settlements', transferFile(batchUtr, lines))).json.waiting
    return { approvalId, batchUtr }
  }
  const [part, whole] = [stray('2000.00'), stray('2000.00')]
  const partly = await waits([part, charge('1.00')])
  const other = await asha.post('/settlements', transferFile(partly.batchUtr, [part, charge('2.00')]))
  expect(other.error).toBe('approval_open')
  await arrives(part)
  expect((await approve(ravi, partly.approvalId)).error).toBe('approval_outdated')
  expect(await statusOf(partly.batchUtr)).toBeUndefined()
  // Nothing is left that fits nothing: it is recorded as anybody may import it, and the approval ends unused.
  const wholly = await waits([whole])
  await arrives(whole)
  expect((await approve(ravi, wholly.approvalId)).json.status).toBe('REJECTED')
  expect(await statusOf(wholly.batchUtr)).toBe('POSTED')
})

test('the command line waits likewise, and says which transfer', async () => {
  const file = join(dir, 'charges.csv')
  const batchUtr = newUtr()
  await writeFile(file, transferFile(batchUtr, [charge('1000.01')]))
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, APPROVAL_ABOVE_RUPEES: '1000' }
  const { stdout, stderr } = await runHere(['admin', 'settlement', 'import', file, '--json'], env)
  const [{ approvalId }] = JSON.parse(stdout).waiting
  expect(stderr).toContain(`svc admin approval approve ${approvalId}`)
  expect(await statusOf(batchUtr)).toBeUndefined()
  expect((await approve(ravi, approvalId)).json.status).toBe('POSTED')
  expect(await statusOf(batchUtr)).toBe('POSTED')
})
