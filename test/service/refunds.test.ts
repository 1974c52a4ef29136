import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, payloadOf } from '../harness/client.ts'
import { cancel, creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, newShop, notifyRefund, type Shop, shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  // Without the simulated bank, which would make the refunds meanwhile.
  service = await openService({ background: false })
})
afterAll(() => service.close())

const made = (refundId: string, rest: object = {}) =>
  notifyRefund(service, { refundId, status: 'REFUNDED', utr: newUtr(), ...rest })
const failed = (refundId: string) =>
  notifyRefund(service, { refundId, status: 'FAILED', reason: 'account closed' })

const eventsOf = ({ merchantId }: Shop): Promise<[string, Json][]> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query(
      `select type, payload from outbox where tenant_id = $1 and type like 'payment.%' order by event_id`,
      [merchantId],
    )
    return rows.map(({ type, payload }) => [type, payload])
  })

test('a payment is refunded in parts up to its amount, from what is payable to the merchant', async () => {
  const shop = await shopWith(service, 100)
  const part = payloadOf(
    await shop.client.post(shop.path, { amount: 30.5, referenceNumber: 'a', reason: 'damaged' }),
  )
  expect(part).toMatchObject({ amount: 30.5, referenceNumber: 'a', reason: 'damaged', status: 'PENDING' })
  expect(await balancesOf(service, shop.merchantId)).toEqual({
    upi_clearing: '-10000',
    payable: '6950',
    upi_refunds: '3050',
  })
  const over = await shop.client.post(shop.path, { amount: 69.51, referenceNumber: 'b' })
  expect([over.status, over.error]).toEqual([422, 'refund_over_payment'])
  expect(over.text).toContain('69.50 rupees are left')
  const rest = payloadOf(await shop.client.post(shop.path, { referenceNumber: 'b' }))
  expect(rest.amount).toBe(69.5)
  expect((await shop.client.post(shop.path, { referenceNumber: 'c' })).error).toBe('refund_over_payment')
  const payment = payloadOf(await shop.client.get(`/api/v0/payments/${shop.paymentId}`))
  expect(payment).toMatchObject({ status: 'ACCEPTED', refundedAmount: 100, refunds: [rest, part] })
  expect(payloadOf(await shop.client.get(shop.path)).data).toEqual([rest, part])
  const pages = payloadOf(await shop.client.get(`${shop.path}?limit=1`))
  expect(payloadOf(await shop.client.get(`${shop.path}?limit=1&after=${pages.next}`)).data).toEqual([part])
  expect(payloadOf(await shop.client.get(`${shop.path}/${part.refundId}`))).toEqual(part)
  const csv = await shop.client.send('GET', '/api/v0/payments', undefined, { accept: 'text/csv' })
  expect(csv.text.split('\r\n')[1]).toMatch(/,100\.00,$/)
  expect(await brokenIn(service)).toEqual([])
})

test('a repeated reference returns the current state of its refund; with another request it is rejected', async () => {
  const shop = await shopWith(service, 10)
  const request = { amount: 4, referenceNumber: 'order-1', reason: 'late' }
  const first = payloadOf(await shop.client.post(shop.path, request))
  expect(payloadOf(await shop.client.post(shop.path, request))).toEqual(first)
  payloadOf(await made(first.refundId))
  expect(payloadOf(await shop.client.post(shop.path, request))).toMatchObject({
    refundId: first.refundId,
    status: 'REFUNDED',
  })
  const other = payloadOf(
    await notifyCredit(service.client, creditOf((await newCode(service, shop.client)).tr)),
  )
  for (const [path, rest] of [
    [shop.path, { amount: 3 }],
    [shop.path, { amount: undefined }],
    [shop.path, { reason: 'broken' }],
    [shop.path.replace(shop.paymentId, other.paymentId), {}],
  ] as const)
    expect((await shop.client.post(path, { ...request, ...rest })).error).toBe('refund_reference_in_use')
  expect(payloadOf(await shop.client.get(shop.path)).data).toHaveLength(1)
})

test('the bank pays a refund: REFUNDED once, with its own reference, however often it is notified', async () => {
  const shop = await shopWith(service, 10)
  const { refundId } = payloadOf(await shop.client.post(shop.path, { amount: 4, referenceNumber: 'r' }))
  const utr = newUtr()
  const notice = { refundId: refundId.replace('_', '-').toUpperCase(), status: 'success', utr, extra: 1 }
  const refund = payloadOf(await notifyRefund(service, notice))
  expect(refund).toMatchObject({ refundId, status: 'REFUNDED', utr })
  expect(payloadOf(await notifyRefund(service, notice))).toEqual(refund)
  expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-600', payable: '600' })
  expect(await eventsOf(shop)).toMatchObject([
    ['payment.refund_pending', { paymentId: shop.paymentId, refund: { refundId, status: 'PENDING' } }],
    ['payment.refunded', { status: 'ACCEPTED', refundedAmount: 4, refund }],
  ])
  expect(await brokenIn(service)).toEqual([])
})

test('a refund that the bank cannot pay returns its money to the merchant by a reversing journal', async () => {
  const shop = await shopWith(service, 10)
  const { refundId } = payloadOf(await shop.client.post(shop.path, { referenceNumber: 'r' }))
  const refund = payloadOf(await failed(refundId))
  expect(refund).toMatchObject({ status: 'FAILED', failureReason: 'account closed' })
  expect(payloadOf(await failed(refundId))).toEqual(refund)
  expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-1000', payable: '1000' })
  const [reversal] = await asSuperuser(
    service.db.database,
    async (db) =>
      (
        await db.query(
          `select j.kind, j.reason, o.kind as of from journals j join journals o
             on o.tenant_id = j.tenant_id and o.journal_id = j.reverses where j.tenant_id = $1`,
          [shop.merchantId],
        )
      ).rows,
  )
  expect(reversal).toEqual({
    kind: 'merchant_refund_failed',
    reason: 'account closed',
    of: 'merchant_refund',
  })
  expect((await eventsOf(shop)).map(([type]) => type)).toEqual([
    'payment.refund_pending',
    'payment.refund_failed',
  ])
  const payment = payloadOf(await shop.client.get(`/api/v0/payments/${shop.paymentId}`))
  expect(payment).not.toHaveProperty('refundedAmount')
  expect(payloadOf(await shop.client.post(shop.path, { referenceNumber: 'again' })).amount).toBe(10)
  expect(await brokenIn(service)).toEqual([])
})

test('a signed notice that is not the outcome of a refund is quarantined and changes nothing', async () => {
  const shop = await shopWith(service, 10)
  const refundOf = async (referenceNumber: string): Promise<string> =>
    payloadOf(await shop.client.post(shop.path, { amount: 2, referenceNumber })).refundId
  const [done, gone, open] = [await refundOf('1'), await refundOf('2'), await refundOf('3')]
  const { utr } = payloadOf(await made(done))
  payloadOf(await failed(gone))
  const before = await balancesOf(service, shop.merchantId)
  const reasons: [object, string][] = [
    [{ refundId: done, status: 'FAILED' }, 'contradicts_earlier_notice'],
    [{ refundId: done, status: 'REFUNDED', utr: newUtr() }, 'contradicts_earlier_notice'],
    [{ refundId: gone, status: 'REFUNDED' }, 'contradicts_earlier_notice'],
    [{ refundId: gone, status: 'REFUNDED', utr: newUtr(), amount: 3 }, 'contradicts_earlier_notice'],
    [{ refundId: gone, status: 'REFUNDED', utr }, 'contradicts_earlier_notice'],
    [{ refundId: open, status: 'REFUNDED', utr }, 'contradicts_earlier_notice'],
    [{ refundId: open, status: 'REFUNDED', amount: 3 }, 'contradicts_earlier_notice'],
    [{ refundId: open, status: 'REFUNDED', amount: 'two' }, 'amount_unreadable'],
    [{ refundId: open, status: 'PERHAPS' }, 'status_unreadable'],
    [{ refundId: open }, 'status_unreadable'],
    [{ refundId: open, status: 'SUCCESS', success: false }, 'status_unreadable'],
    [{ refundId: open, status: 'SUCCESS', responseCode: 'U30' }, 'status_unreadable'],
    [{ refundId: `rfd_${'0'.repeat(26)}`, status: 'REFUNDED' }, 'unknown_refund'],
    [{ refundId: 'theirs', status: 'REFUNDED' }, 'unknown_refund'],
    [{ status: 'REFUNDED' }, 'reference_unreadable'],
  ]
  for (const [notice, reason] of reasons) {
    const response = await notifyRefund(service, notice)
    expect([response.status, response.json.payload], JSON.stringify(notice)).toMatchObject([
      202,
      { status: 'QUARANTINED', reason },
    ])
  }
  expect(await balancesOf(service, shop.merchantId)).toEqual(before)
  expect(payloadOf(await shop.client.get(`${shop.path}/${open}`)).status).toBe('PENDING')
  expect(await brokenIn(service)).toEqual([])
})

test('a notice that the return of a credit failed, or whose refund cannot be read, is not treated as its return', async () => {
  const { client } = await newShop(service)
  const { qrCodeId, tr } = await newCode(service, client)
  payloadOf(await cancel(client, qrCodeId))
  const utr = newUtr()
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(tr, { utr })))
  const quarantined: [object, string][] = [
    [{ utr, status: 'FAILED', reason: 'payer account closed' }, 'status_unreadable'],
    [{ utr, status: 'PERHAPS' }, 'status_unreadable'],
    [{ utr, event: 'refund.failed' }, 'status_unreadable'],
    [{ utr, refundId: { id: 1 }, status: 'REFUNDED' }, 'unknown_refund'],
  ]
  for (const [notice, reason] of quarantined)
    expect((await notifyRefund(service, notice)).json.payload).toMatchObject({
      status: 'QUARANTINED',
      reason,
    })
  const statusNow = async () => payloadOf(await client.get(`/api/v0/payments/${paymentId}`)).status
  expect(await statusNow()).toBe('REFUND_PENDING')
  payloadOf(await notifyRefund(service, { utr, status: 'returned' }))
  expect(await statusNow()).toBe('REFUNDED')
  expect(await brokenIn(service)).toEqual([])
})

test('only accepted payments are refunded, and only by their own merchant', async () => {
  const shop = await shopWith(service, 10)
  const { qrCodeId, tr } = await newCode(service, shop.client)
  payloadOf(await cancel(shop.client, qrCodeId))
  const late = payloadOf(await notifyCredit(service.client, creditOf(tr)))
  const request = { referenceNumber: 'r' }
  const refused = await shop.client.post(`/api/v0/payments/${late.paymentId}/refunds`, request)
  expect([refused.status, refused.error]).toEqual([409, 'payment_not_accepted'])
  const { client } = await newShop(service)
  const { refundId } = payloadOf(await shop.client.post(shop.path, request))
  for (const path of [shop.path, '/api/v0/payments/pay_none/refunds']) {
    expect((await client.post(path, request)).error).toBe('payment_not_found')
    expect((await client.get(path)).error).toBe('payment_not_found')
  }
  expect((await client.get(`${shop.path}/${refundId}`)).error).toBe('refund_not_found')
})

test('a refund beyond the payable balance is rejected, or an advance where the setting allows it', async () => {
  const allowing = await openService({ background: false, env: { REFUNDS_BEYOND_BALANCE: 'allow' } })
  try {
    for (const [on, error] of [
      [service, 'payable_too_low'],
      [allowing, undefined],
    ] as const) {
      const shop = await shopWith(on, 10)
      // As if most of it was settled.
      await asSuperuser(on.db.database, (db) =>
        db.query(
          `with moved as (
             insert into journals (tenant_id, journal_id, kind, effective_date, legs, at)
             values ($1, 'jrn_settled', 'payment_adjustment', current_date, 1, now()) returning 1),
           leg as (
             insert into ledger_transfers (transfer_id, tenant_id, journal_id, leg, kind, debit_account_id,
               credit_account_id, amount, unit, object_id, created_at)
             values ('trf_settled', $1, 'jrn_settled', 1, 'payment_adjustment', 'payable:' || $1, 'upi_clearing:' || $1, 900, 'INR', 'x', now())
             returning 1)
           select from moved, leg`,
          [shop.merchantId],
        ),
      )
      const responses = [
        await shop.client.post(shop.path, { amount: 5, referenceNumber: '1' }),
        await shop.client.post(shop.path, { amount: 4, referenceNumber: '2' }),
      ]
      expect(responses.map((response) => response.error)).toEqual([error, error])
      if (error)
        expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-100', payable: '100' })
      else {
        const after = { upi_clearing: '-100', merchant_advances: '-800', upi_refunds: '900' }
        expect(await balancesOf(on, shop.merchantId)).toEqual(after)
        const [first, second] = responses.map((response) => payloadOf(response).refundId)
        payloadOf(await notifyRefund(on, { refundId: first, status: 'FAILED' }))
        payloadOf(await notifyRefund(on, { refundId: second, status: 'REFUNDED' }))
        expect(await balancesOf(on, shop.merchantId)).toEqual({
          upi_clearing: '300',
          payable: '100',
          merchant_advances: '-400',
        })
      }
      expect(await brokenIn(on)).toEqual([])
    }
  } finally {
    await allowing.close()
  }
})

test('concurrently: refunds of the last rupee, one reference twice, and both outcomes of one refund', async () => {
  const env = { PUBLIC_URL: service.baseUrl }
  const second = await openService({ background: false, db: service.db, env })
  try {
    const shop = await shopWith(service, 10)
    const [here, there] = [shop.client, second.client.with(shop.client.headers)]
    const pairs = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        (i % 2 ? here : there).post(shop.path, { amount: 10, referenceNumber: `last-${i}` }),
      ),
    )
    const errors = pairs.flatMap(({ error }) => error ?? [])
    expect(errors).toEqual(Array.from({ length: 7 }, () => 'refund_over_payment'))

    // Two payments: the lock of one does not order the requests for the other.
    const twice = [await shopWith(service, 10)]
    const { tr } = await newCode(service, twice[0]!.client)
    const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(tr)))
    const paths = [twice[0]!.path, twice[0]!.path.replace(twice[0]!.paymentId, paymentId)]
    const clients = [twice[0]!.client, second.client.with(twice[0]!.client.headers)]
    const same = await Promise.all(
      paths.map((path, i) => clients[i]!.post(path, { amount: 1, referenceNumber: 'one' })),
    )
    expect(same.map(({ error }) => error ?? 'none').sort()).toEqual(['none', 'refund_reference_in_use'])
    const equal = await Promise.all(
      clients.map((client) => client.post(paths[0]!, { amount: 1, referenceNumber: 'two' })),
    )
    const ids = equal.map((response) => payloadOf(response).refundId)
    expect(new Set(ids).size).toBe(1)

    const [failure, success] = await Promise.all([
      notifyRefund(service, { refundId: ids[0], status: 'FAILED' }),
      notifyRefund(second, { refundId: ids[0], status: 'REFUNDED', utr: newUtr() }),
    ])
    // Whichever is first: a failure after it is quarantined, and one before it is corrected by it.
    expect([200, 202]).toContain(failure.status)
    expect(payloadOf(success).status).toBe('REFUNDED')
    const refund = payloadOf(await clients[0]!.get(`${paths[0]}/${ids[0]}`))
    expect(refund).toMatchObject({ status: 'REFUNDED', utr: payloadOf(success).utr })
    expect(await brokenIn(service)).toEqual([])
  } finally {
    await second.close()
  }
})
