import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount, preparePayoutOf } from '../harness/payouts.ts'
import { brokenIn, shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let finance: Browser
let support: Browser
beforeAll(async () => {
  service = await openService({
    background: false,
    env: { PAYOUT_REQUIRES_SETTLEMENT: 'false', APPROVAL_ABOVE_RUPEES: '50' },
  })
  finance = await signedIn(service, 'finance')
  support = await signedIn(service, 'support')
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await service.close()
})

/** A merchant whose payout of this amount two people have approved. */
async function approved(amount: number) {
  const shop = await shopWith(service, amount)
  await giveAccount(service, shop.merchantId)
  const payoutId = await preparePayoutOf(service, shop.merchantId)
  const { run } = operatorsOf(service.app.services.commands).open(changePayout)
  await run({ merchantId: shop.merchantId, payoutId, step: { to: 'APPROVED', by: 'operator ravi' } })
  return { ...shop, payoutId }
}

const respond = (kind: string, lines: readonly string[], query = '', step = '') =>
  finance.post(`/bank-runs/${kind}/responses${step}${query}`, Buffer.from(lines.join('\n')))
const resultsOf = ({ json }: { readonly json: Json }) =>
  Object.fromEntries(json.results.map(({ id, result }: Json) => [id, result]))

test('what is approved is sent in one file, which is the same each time; the response makes it paid, once', async () => {
  const [one, two] = [await approved(10), await approved(12.5)]
  expect((await support.get('/bank-runs/payouts')).error).toBe('role_too_low')
  expect((await finance.get('/bank-runs/payouts')).json.next).toEqual({
    count: 2,
    amount: '22.50',
    leftOut: [],
  })
  const { json: sent } = await finance.post('/bank-runs/payouts')
  expect(sent).toMatchObject({ count: 2, amount: '22.50', leftOut: [] })
  const file = await finance.get(`/bank-runs/payouts/${sent.runId}/file.csv`)
  expect(file.text).toBe(
    [
      'payoutId,amount,accountNumber,ifsc,accountHolder',
      `${one.payoutId},10.00,000012345678,HDFC0000001,"Corner Shop"`,
      `${two.payoutId},12.50,000012345678,HDFC0000001,"Corner Shop"`,
      '',
    ].join('\r\n'),
  )
  const [again] = [await finance.post('/bank-runs/payouts')]
  expect(again.json).toMatchObject({ count: 0, amount: '0.00' })
  expect((await finance.get(`/bank-runs/payouts/${again.json.runId}/file.csv`)).error).toBe(
    'bank_run_not_found',
  )
  expect((await finance.get(`/bank-runs/refunds/${sent.runId}/file.csv`)).error).toBe('bank_run_not_found')
  expect((await finance.get(`/bank-runs/payouts/${sent.runId}/file.csv`)).text).toBe(file.text)

  const lines = ['REFERENCE,STATUS,UTR', `${one.payoutId},Success,HDFCR0000000042`, `${two.payoutId},DEEMED,`]
  const query = '?id=REFERENCE&status=STATUS&utr=UTR&paid=success'
  const read = await respond('payouts', lines, query, '/read')
  expect(resultsOf(read)).toEqual({
    [one.payoutId]: 'would be PAID; it is SENT',
    [two.payoutId]: 'nothing recorded: "DEEMED" is no word for paid, failed or returned',
  })
  expect((await finance.get('/bank-runs/payouts')).json.runs).toMatchObject([{ runId: sent.runId, open: 2 }])
  for (const _ of [1, 2]) {
    const { json } = await respond('payouts', lines, query)
    expect([json.done, json.results.map(({ id }: Json) => id)]).toEqual([1, [two.payoutId, one.payoutId]])
    expect((await finance.get('/bank-runs/payouts')).json.runs).toMatchObject([
      { runId: sent.runId, count: 2, open: 1 },
    ])
  }
  expect(payloadOf(await one.client.get(`/api/v0/payouts/${one.payoutId}`)).status).toBe('PAID')
})

test('a file of failed refunds makes them payable again up to the limit; above it they wait for a second person', async () => {
  const { client, path } = await shopWith(service, 200)
  const refund = async (referenceNumber: string, amount: number): Promise<string> =>
    payloadOf(await client.post(path, { amount, referenceNumber })).refundId
  const [small, large] = [await refund('a', 20), await refund('b', 80)]
  const { json: sent } = await finance.post('/bank-runs/refunds')
  expect(sent).toMatchObject({ count: 2, amount: '100.00' })
  const lines = ['refundId,status,reason', `${small},FAILED,closed`, `${large},FAILED,closed`]
  expect(resultsOf(await respond('refunds', lines))).toEqual({
    [small]: 'FAILED',
    [large]: 'waits for a second person',
  })
  expect((await finance.get('/bank-runs/refunds')).json.runs).toMatchObject([{ runId: sent.runId, open: 1 }])
})

test('payouts that were paid and came back in one file are failed, with their return', async () => {
  const many = await Promise.all(Array.from({ length: 3 }, () => approved(10)))
  await finance.post('/bank-runs/payouts')
  const lines = [
    'payoutId,status,utr',
    ...many.flatMap(({ payoutId }, n) => [
      `${payoutId},PAID,HDFCR000000010${n}`,
      `${payoutId},RETURNED,HDFCR000000020${n}`,
    ]),
  ]
  const { json } = await respond('payouts', lines)
  expect(json.results.map(({ line, result, isDone }: Json) => [line, result, isDone])).toEqual(
    lines.slice(1).map((_, n) => [n + 1, n % 2 === 0 ? 'PAID' : 'FAILED', true]),
  )
  for (const { payoutId } of many)
    expect((await finance.get(`/payouts/${payoutId}`)).json).toMatchObject({
      status: 'FAILED',
      returnedOn: expect.any(String),
    })
})

test('a file has the columns that are asked for, and only what they cannot contain is left out', async () => {
  const { client, path, paymentId } = await shopWith(service, 30)
  const { refundId } = payloadOf(await client.post(path, { amount: 4, referenceNumber: 'masked' }))
  await asSuperuser(service.db.database, (db) =>
    db.query(`update payments set payer_vpa = 'as****@bank' where payment_id = $1`, [paymentId]),
  )
  const { next } = (await finance.get('/bank-runs/refunds')).json
  expect([next.count, next.leftOut]).toEqual([
    0,
    [{ id: refundId, problem: 'payerVpa "as****@bank" is not a UPI address' }],
  ])
  const columns = '?columns=creditUtr%3DRRN,amount'
  expect((await finance.get(`/bank-runs/refunds${columns}`)).json.next).toMatchObject({
    count: 1,
    leftOut: [],
  })
  const { runId } = (await finance.post(`/bank-runs/refunds${columns}`)).json
  const file = await finance.get(`/bank-runs/refunds/${runId}/file.csv${columns}`)
  expect(file.text).toMatch(/^RRN,amount\r\n\w+,4\.00\r\n$/)
  // Asked for with a column that cannot say it, the same run has it not.
  expect((await finance.get(`/bank-runs/refunds/${runId}/file.csv`)).text).not.toContain('as****')
  const wrong = await finance.get('/bank-runs/refunds?columns=iban')
  expect([wrong.status, wrong.json.detail]).toEqual([400, expect.stringContaining('must be one of refundId')])
})

test('a file that says something twice, or cannot be read, records nothing and says why', async () => {
  const { payoutId } = await approved(10)
  await finance.post('/bank-runs/payouts')
  const head = 'payoutId,status,utr'
  const both = await respond('payouts', [head, `${payoutId},PAID,HDFCR0000000077`], '?failed=PAID')
  expect([both.status, both.json.detail]).toEqual([400, expect.stringContaining('cannot mean both')])
  const missing = await respond('payouts', ['id,status', `${payoutId},PAID`])
  expect([missing.status, missing.error]).toEqual([400, 'validation_failed'])
  const unread = [head, `${payoutId},PAID,NONREF`]
  expect((await respond('payouts', unread)).json.detail).toContain('1 lines of the file cannot be read')
  expect((await respond('payouts', unread, '', '/read')).json.problems).toMatchObject([
    { line: 1, column: 'utr' },
  ])
  expect((await finance.get(`/payouts/${payoutId}`)).json.status).toBe('SENT')
})
