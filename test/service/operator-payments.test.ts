import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { openService, type TestService } from '../harness/service.ts'
import { recordSettlement } from '../harness/settlements.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

let service: TestService
let viewer: Browser
let operator: Browser
let receiver: WebhookReceiver
let shop: { merchantId: string; name: string; client: Client }
let other: { merchantId: string; client: Client }
const utr = newUtr()

async function newShop(name: string) {
  const merchant = await service.newMerchant({ name })
  return { merchantId: merchant.merchantId, name, client: await service.as(merchant) }
}

beforeAll(async () => {
  service = await openService()
  receiver = await WebhookReceiver.open()
  viewer = await signedIn(service, 'viewer')
  operator = await signedIn(service, 'operator')
  shop = await newShop('Ledger Books')
  other = await newShop('Other')
  const endpoint = { url: receiver.url('/hook') }
  payloadOf(await shop.client.post('/api/v0/webhook-endpoints', endpoint))
  const code = await newCode(service, shop.client, { multipleUse: true, referenceNumber: 'order-7' })
  const second = await newCode(service, shop.client, { multipleUse: true })
  const foreign = await newCode(service, other.client, { multipleUse: true })
  const credits = [
    creditOf(code.tr, { utr, amount: 100.5 }),
    ...[1, 2, 3].map((amount) => creditOf(second.tr, { amount })),
    ...[100.5, 7].map((amount) => creditOf(foreign.tr, { amount })),
    creditOf('NOSUCHCODE', { amount: 9.99 }),
  ]
  for (const credit of credits) {
    payloadOf(await notifyCredit(service.client, credit))
    service.clock.advance(1_000)
  }
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

const list = async (query: Record<string, string> = {}): Promise<Json[]> =>
  (await viewer.get(`/payments?limit=500&${new URLSearchParams(query)}`)).json.data
const totals = async (query: Record<string, string> = {}): Promise<Json> =>
  (await viewer.get(`/payments/totals?${new URLSearchParams(query)}`)).json

test('each filter finds the payments that it describes, with their totals', async () => {
  const all = await list()
  expect(all).toHaveLength(7)
  const instants = all.map(({ createdOn }) => Date.parse(createdOn))
  const from = new Date(instants[4]!).toISOString()
  const to = new Date(instants[1]!).toISOString()
  const cases: [query: Record<string, string>, fits: (row: Json, at: number) => boolean][] = [
    [{}, () => true],
    [{ merchantId: shop.merchantId }, (row) => row.merchantId === shop.merchantId],
    [{ status: 'SUSPENSE' }, (row) => row.status === 'SUSPENSE'],
    [{ q: utr.toLowerCase() }, (row) => row.utr === utr],
    [{ q: all[2]!.paymentId }, (row) => row.paymentId === all[2]!.paymentId],
    [{ referenceNumber: 'order-7' }, (row) => row.referenceNumber === 'order-7'],
    [{ amount: '100.5', createdFrom: '2020-01-01T00:00:00Z' }, (row) => row.amount === 100.5],
    [
      { amount: '100.50', merchantId: other.merchantId },
      (row) => row.amount === 100.5 && row.merchantId === other.merchantId,
    ],
    // Both ends to the millisecond: the first is included, the second is not.
    [{ createdFrom: from, createdTo: to }, (_, at) => at >= instants[4]! && at < instants[1]!],
    [
      { createdFrom: from, createdTo: to, merchantId: shop.merchantId },
      (row, at) => row.merchantId === shop.merchantId && at >= instants[4]! && at < instants[1]!,
    ],
    [{ status: 'REFUNDED' }, () => false],
  ]
  const paymentIds = (rows: Json[]) => rows.map((row) => row.paymentId)
  for (const [query, fits] of cases) {
    const expected = all.filter((row, i) => fits(row, instants[i]!))
    expect([query, paymentIds(await list(query))]).toEqual([query, paymentIds(expected)])
    const amount = expected.reduce((sum, row) => sum + Math.round(row.amount * 100), 0)
    const sum = await totals(query)
    expect([query, sum.count, sum.amount, sum.exact]).toEqual([
      query,
      expected.length,
      (amount / 100).toFixed(2),
      true,
    ])
    expect(sum.byStatus.reduce((count: number, each: Json) => count + each.count, 0)).toBe(expected.length)
  }
})

test('an amount requires a merchant or a time, since no index serves it', async () => {
  for (const path of ['/payments', '/payments/totals']) {
    for (const name of ['amount', 'amountFrom', 'amountTo']) {
      expect((await viewer.get(`${path}?${name}=5`)).error, path).toBe('validation_failed')
      expect((await viewer.get(`${path}?${name}=five&merchantId=x`)).error, path).toBe('validation_failed')
    }
  }
})

/** Half of it is refunded by its merchant, which the operator confirms, and the bank settles it. */
async function refundAndSettle(paymentId: string): Promise<string> {
  const path = `/api/v0/payments/${paymentId}/refunds`
  const refund = payloadOf(await shop.client.post(path, { amount: 40.96, referenceNumber: 'r-1' }))
  const { refundId } = refund
  service.clock.advance(60_000)
  const completed = await operator.post(`/refunds/${refundId}/complete`, {
    status: 'REFUNDED',
    utr: newUtr(),
  })
  expect(completed.status).toBe(200)
  await recordSettlement(service.app.services.commands, `stf_${'0'.repeat(26)}`, [
    { utr, line: 1, amountPaise: paise(10_050n), settledOn: '2026-04-01' },
  ])
  return refundId
}

test('a payment shows the whole history of it and its refunds, in order, from the bank to the webhook', async () => {
  const [payment] = (await list({ q: utr })) as [Json]
  const { paymentId } = payment
  const refundId = await refundAndSettle(paymentId)
  const types = ['qr_code.credited', 'payment.refund_pending', 'payment.refunded', 'payment.settled']
  const show = async (): Promise<Json> => (await viewer.get(`/payments/${paymentId}`)).json
  await expect
    .poll(async () => (await show()).history.filter(({ what }: Json) => what === 'delivered').length, {
      timeout: 20_000,
    })
    .toBe(types.length)
  const { history, refunds, settlement, ...row } = await show()
  expect(row).toMatchObject({ merchantId: shop.merchantId, merchantName: shop.name, utr })
  expect(refunds).toMatchObject([{ refundId, amount: 40.96, status: 'REFUNDED' }])
  expect(settlement).toMatchObject({ amount: '100.50', settledOn: '2026-04-01', status: 'MATCHED' })

  const instants = history.map(({ at }: Json) => Date.parse(at))
  expect(instants).toEqual(instants.toSorted((a: number, b: number) => a - b))
  const of = (source: string): Json[] => history.filter((entry: Json) => entry.source === source)
  expect(of('payment').map(({ id, what }) => [what, id])).toEqual([['accepted', paymentId]])
  expect(of('refund').map(({ id, what }) => [what, id])).toEqual([
    ['refund_requested', refundId],
    ['refund_completed', refundId],
  ])
  expect(of('event').map(({ what }) => what)).toEqual(types)
  expect(of('settlement').map(({ what }) => what)).toEqual(['settlement_matched'])
  expect(of('audit')).toMatchObject([
    { what: 'refund.completed', actor: expect.stringMatching(/^operator /) },
  ])

  expect(of('journal').map(({ what }) => what)).toEqual([
    'upi_credit',
    'merchant_refund',
    'merchant_refund_paid',
    'bank_settlement',
  ])
  const [credit] = of('journal')
  expect(credit!.lines).toEqual([
    { accountId: `upi_clearing:${shop.merchantId}`, debit: '100.50', unit: 'INR' },
    { accountId: `payable:${shop.merchantId}`, credit: '100.50', unit: 'INR' },
  ])
  for (const { lines } of of('journal')) {
    const sum = (side: string) =>
      lines.reduce((total: number, line: Json) => total + Number(line[side] ?? 0), 0)
    expect(sum('debit')).toBe(sum('credit'))
  }
})

test('a refund shows its own history alone, and is found by the bank’s reference in lower case', async () => {
  const [refund] = (await viewer.get('/refunds')).json.data as [Json]
  const { paymentId, refundId } = refund
  const shown = (await viewer.get(`/refunds/${refundId}`)).json
  expect(shown).toMatchObject({ merchantName: shop.name, refundId, paymentId })
  expect(shown.history.map(({ what }: Json) => what)).toEqual(
    expect.arrayContaining(['refund_requested', 'refund_completed', 'merchant_refund', 'refund.completed']),
  )
  const events = shown.history.filter(({ source }: Json) => source === 'event')
  expect(events.map(({ what }: Json) => what)).toEqual(['payment.refund_pending', 'payment.refunded'])
  expect((await viewer.get(`/refunds?q=${shown.utr.toLowerCase()}`)).json.data).toHaveLength(1)
})

test('a credit that matches no code shows why it is in suspense; unknown ids are 404', async () => {
  const [payment] = (await list({ status: 'SUSPENSE' })) as [Json]
  const { history, ...row } = (await viewer.get(`/payments/${payment.paymentId}`)).json
  expect(row).toMatchObject({ merchantId: 'house', reason: 'unknown_code' })
  expect(row.merchantName).toBeUndefined()
  expect(history.map(({ what }: Json) => what)).toContain('suspended')
  expect((await viewer.get('/payments/pay_none')).error).toBe('payment_not_found')
  expect((await viewer.get('/refunds/rfd_none')).error).toBe('refund_not_found')
})

test('a QR code shows its creation, a line for each day of payments, and its closing', async () => {
  const [payment] = (await list({ q: utr })) as [Json]
  const { qrCodeId } = payment
  expect((await operator.post(`/qr-codes/${qrCodeId}/cancel`)).status).toBe(200)
  const { history } = (await viewer.get(`/history/${qrCodeId}`)).json
  const whats = history.map(({ source, what }: Json) => `${source} ${what}`)
  for (const expected of [
    'record created',
    'event qr_code.created',
    'payment accepted_in_a_day',
    'record closed',
    'event qr_code.cancelled',
    'audit qr_code.cancelled',
  ])
    expect(whats).toContain(expected)
  expect(whats).not.toContain('event qr_code.credited')
  expect(whats[0]).toBe('record created')
})

test('a card and its account show who changed them, and every journal that moved their money', async () => {
  const partner = await newPartner(service)
  const { svcCardId } = payloadOf(await createCard(await asPartner(service.client, partner), partner))
  const change = { status: 'L', reason: 'asked by phone' }
  expect((await operator.post(`/cards/${svcCardId}/status`, change)).status).toBe(200)
  const card: Json[] = (await viewer.get(`/history/${svcCardId}`)).json.history
  expect(card.filter(({ source }) => source === 'record').map(({ what }) => what)).toEqual(
    expect.arrayContaining(['created', 'cardStatus_changed']),
  )
  expect(card).toContainEqual(expect.objectContaining({ source: 'journal', what: 'card_load' }))
  expect(card).toContainEqual(expect.objectContaining({ source: 'event', what: 'card.created' }))
  expect(card).toContainEqual(
    expect.objectContaining({ source: 'audit', actor: expect.stringMatching(/^operator /) }),
  )
  const account: Json[] = (await viewer.get(`/history/${partner.cardAccountId}`)).json.history
  expect(account).toContainEqual(expect.objectContaining({ source: 'journal', what: 'card_funding' }))
  for (const id of ['qr_none', 'card_none', 'acc_none'])
    expect((await viewer.get(`/history/${id}`)).status, id).toBe(404)
  expect((await viewer.get('/history/mer_none')).error).toBe('validation_failed')
})
