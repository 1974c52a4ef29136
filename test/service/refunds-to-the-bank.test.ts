import { sendRefund } from '@svc/core/payments/refunds/send-refund'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { Browser, newOperator } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { brokenIn, newShop, notifyRefund, shopWith } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  // Without the simulated bank, which would make the refunds meanwhile.
  service = await openService({ background: false })
})
afterAll(() => service.close())

test('a refund is sent to the bank in one run, and not after its outcome', async () => {
  const shop = await shopWith(service, 10)
  const { refundId } = payloadOf(await shop.client.post(shop.path, { amount: 1, referenceNumber: 'r' }))
  const send = (runId: string) =>
    operatorsOf(service.app.services.commands)
      .open(sendRefund)
      .run({ merchantId: shop.merchantId, refundId, runId })
  const runs = await Promise.all([send('rfr_1'), send('rfr_2')])
  expect(runs.map(({ refund }) => refund.runId)).toEqual(['rfr_1', 'rfr_1'])
  expect(payloadOf(await shop.client.get(`${shop.path}/${refundId}`))).toMatchObject({ status: 'SENT' })
  payloadOf(await notifyRefund(service, { refundId, status: 'REFUNDED' }))
  expect((await send('rfr_3')).refund).toMatchObject({ status: 'REFUNDED', runId: 'rfr_1' })
})

test('svc admin refund sends all pending refunds to the bank in one file, which can be printed again', async () => {
  const own = await openService({ background: false })
  try {
    const env = { DATABASE_URL: own.db.url, SVC_MASTER_KEY: MASTER_KEY }
    const svc = (...args: string[]) => runHere(['admin', 'refund', ...args], env)
    expect(await svc('export')).toMatchObject({ code: 0, stderr: expect.stringContaining('No refund is') })
    const shop = await shopWith(own, 10)
    const refund = async (referenceNumber: string): Promise<string> =>
      payloadOf(await shop.client.post(shop.path, { amount: 2.5, referenceNumber })).refundId
    const ids = [await refund('1'), await refund('2')]
    const columns = ['--columns', 'amount=AMOUNT,refundId']
    const first = await svc('export', ...columns)
    expect(first.stdout).toBe(`AMOUNT,refundId\r\n2.50,${ids[0]}\r\n2.50,${ids[1]}\r\n`)
    const [{ runId, amount }] = JSON.parse((await svc('runs', '--json')).stdout)
    expect(amount).toBe('5.00')
    await refund('3')
    expect((await svc('export', '--run', runId, ...columns)).stdout).toBe(first.stdout)
    expect(await svc('export', '--run', 'rfr_none')).toMatchObject({ code: 1 })
    expect(await svc('export', '--columns', 'password')).toMatchObject({ code: 1 })
    expect(JSON.parse((await svc('list', shop.merchantId, '--json')).stdout)).toMatchObject([
      { status: 'PENDING' },
      { status: 'SENT', runId },
      { status: 'SENT', runId },
    ])
  } finally {
    await own.close()
  }
})

test.each([
  'a@bank\r\n9999.00,"rfd_forged"',
  '=HYPERLINK("https://x.example")',
  'xx**42@bank',
  '-1+2@bank',
  'no address',
])(
  'a payer’s address that is %j adds nothing to the file for the bank; its refund waits and is listed',
  async (payerVpa) => {
    const own = await openService({ background: false })
    try {
      const env = { DATABASE_URL: own.db.url, SVC_MASTER_KEY: MASTER_KEY }
      const svc = (...args: string[]) => runHere(['admin', 'refund', ...args], env)
      const refundOf = async (vpa: string): Promise<string> => {
        const { client } = await newShop(own)
        const { tr } = await newCode(own, client, { multipleUse: true })
        const credit = creditOf(tr, { amount: 10, payerVpa: vpa })
        const { paymentId } = payloadOf(await notifyCredit(own.client, credit))
        const path = `/api/v0/payments/${paymentId}/refunds`
        return payloadOf(await client.post(path, { amount: 2.5, referenceNumber: 'r' })).refundId
      }
      const [left, good] = [await refundOf(payerVpa), await refundOf('payer@bank')]
      const { code, stdout, stderr } = await svc('export', '--columns', 'amount,payerVpa,refundId')
      expect([code, stdout]).toEqual([0, `amount,payerVpa,refundId\r\n2.50,"payer@bank",${good}\r\n`])
      expect(stderr).toContain(`${left} is not in the file: payerVpa ${JSON.stringify(payerVpa)} `)
      const statusOf = async (id: string) => JSON.parse((await svc('show', id, '--json')).stdout).status
      expect([await statusOf(left), await statusOf(good)]).toEqual(['PENDING', 'SENT'])
      expect((await svc('export', '--columns', 'amount,refundId')).stdout).toBe(
        `amount,refundId\r\n2.50,${left}\r\n`,
      )
      const [{ runId }] = JSON.parse((await svc('runs', '--json')).stdout)
      expect((await svc('export', '--run', runId, '--columns', 'payerVpa')).stdout).toBe('')
    } finally {
      await own.close()
    }
  },
)

test('an operator enters the outcome of a refund from a quarantined notice, once; it is not a credit', async () => {
  const browser = new Browser(service)
  await browser.signIn((await newOperator(service, 'operator')).name)
  const shop = await shopWith(service, 10)
  const refund = async (referenceNumber: string): Promise<string> =>
    payloadOf(await shop.client.post(shop.path, { amount: 1, referenceNumber })).refundId
  const [refundId, other] = [await refund('1'), await refund('2')]
  const { noticeId } = (await notifyRefund(service, { refundId, status: 'unclear' })).json.payload
  const credit = { utr: newUtr(), amount: 1 }
  expect((await browser.post(`/rail-notices/${noticeId}/assign`, credit)).error).toBe(
    'notice_not_in_quarantine',
  )
  const complete = (id: string, body: object) => browser.post(`/refunds/${id}/complete`, body)
  expect((await complete(refundId, { status: 'FAILED' })).status).toBe(400)
  const outcome = { status: 'FAILED', reason: 'by phone', noticeId }
  expect((await complete(refundId, outcome)).json).toMatchObject({
    status: 'FAILED',
    failureReason: 'by phone',
  })
  expect((await complete(other, outcome)).error).toBe('notice_not_in_quarantine')
  expect((await complete(refundId, { status: 'REFUNDED' })).error).toBe('refund_closed')
  expect((await complete('rfd_none', { status: 'REFUNDED' })).error).toBe('refund_not_found')
  const [notice] = (await browser.get(`/rail-notices?q=${noticeId}`)).json.data
  expect(notice).toMatchObject({ status: 'ASSIGNED', paymentId: shop.paymentId })
  const listed = (await browser.get(`/refunds?merchantId=${shop.merchantId}&status=FAILED`)).json.data
  expect(listed).toMatchObject([{ merchantId: shop.merchantId, refundId }])
  const audited = await asSuperuser(service.db.database, (db) =>
    db.query('select 1 from audit_log where target = $1 and action = $2', [refundId, 'refund.completed']),
  )
  expect(audited.rowCount).toBe(1)
  expect(await brokenIn(service)).toEqual([])
})

test('the bank of the sandbox pays refunds by itself, and fails those of ….95', async () => {
  const sandbox = await openService()
  try {
    const shop = await shopWith(sandbox, 20)
    const refund = async (amount: number): Promise<string> =>
      payloadOf(await shop.client.post(shop.path, { amount, referenceNumber: `of ${amount}` })).refundId
    const ids = [await refund(5), await refund(10.95)]
    const statuses = () =>
      Promise.all(ids.map(async (id) => payloadOf(await shop.client.get(`${shop.path}/${id}`)).status))
    await expect.poll(statuses, { timeout: 60_000 }).toEqual(['REFUNDED', 'FAILED'])
    expect(await brokenIn(sandbox)).toEqual([])
  } finally {
    await sandbox.close()
  }
}, 90_000)
