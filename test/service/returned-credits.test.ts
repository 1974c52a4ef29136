import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser, PASSWORD, signedIn } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { cancel, creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, newShop, notifyRefund, shopWith } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
let finance: Browser
beforeAll(async () => {
  // Without the simulated bank, which would return credits meanwhile.
  service = await openService({ background: false })
  other = await openService({ background: false, db: service.db })
  finance = await signedIn(service, 'finance')
})
afterAll(async () => {
  await other?.close()
  await service?.close()
})

interface Waiting {
  readonly merchantId: string
  readonly paymentId: string
  readonly utr: string
}

/** A credit of a cancelled code: it goes back to its payer. */
async function waiting(): Promise<Waiting> {
  const { merchantId, client } = await newShop(service)
  const { qrCodeId, tr } = await newCode(service, client, { multipleUse: true })
  payloadOf(await cancel(client, qrCodeId))
  const { paymentId, status, utr } = payloadOf(await notifyCredit(service.client, creditOf(tr)))
  expect(status).toBe('REFUND_PENDING')
  return { merchantId, paymentId, utr }
}

/** A credit that fits no code. */
async function stray(): Promise<Waiting> {
  const { paymentId, utr } = payloadOf(await notifyCredit(service.client, creditOf('NOSUCHCODE')))
  return { merchantId: 'house', paymentId, utr }
}

const giveBack = ({ merchantId: tenantId, paymentId }: Waiting) =>
  operatorsOf(service.app.services.commands)
    .open(resolveSuspense)
    .run({ tenantId, paymentId, merchantId: null, reason: 'asked for' })

const returned = (paymentId: string, body: object = {}) =>
  finance.post(`/payments/${paymentId}/returned`, { reason: 'bank statement', ...body })

const svc = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runHere(['admin', 'payments', 'returned', ...args, '--json'], {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    ...env,
  })

const rows = (text: string, values: readonly unknown[]): Promise<Json[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, [...values])).rows)

/** Journals and events of the return, without what differs of any two. */
const traceOf = async ({ merchantId, paymentId, utr }: Waiting) => ({
  journals: await rows(
    `select j.kind, j.reference = $3 as "isOfUtr", j.reason, t.debit_account_id = 'upi_refunds:' || $1 as "isOfRefunds",
       t.credit_account_id = 'upi_clearing:' || $1 as "isToClearing", t.amount::text
     from ledger_transfers t join journals j using (tenant_id, journal_id)
     where t.tenant_id = $1 and t.object_id = $2 and t.kind = 'upi_refund'`,
    [merchantId, paymentId, utr],
  ),
  events: await rows(
    `select type from outbox where tenant_id = $1 and (object_id = $2 or payload ->> 'paymentId' = $2) and type like '%refunded' order by type`,
    [merchantId, paymentId],
  ),
  balances: await balancesOf(service, merchantId),
})

const auditOf = (paymentId: string): Promise<Json[]> =>
  finance.get(`/audit?action=payment.returned&target=${paymentId}`).then(({ json }) => json.data)

test('a return that an operator records has the books and events of the bank’s notice; the audit has name, reason and reference', async () => {
  const [byNotice, byOperator] = [await waiting(), await waiting()]
  payloadOf(await notifyRefund(service, { utr: byNotice.utr }))
  const reported = { reason: 'statement of 1 April', reference: 'axis r/0000 000042' }
  expect((await returned(byOperator.paymentId, reported)).json).toMatchObject({
    merchantId: byOperator.merchantId,
    payment: { paymentId: byOperator.paymentId, status: 'REFUNDED' },
  })
  const expected = await traceOf(byNotice)
  expect([expected.journals.length, expected.events.length, expected.balances]).toEqual([1, 1, {}])
  expect(await traceOf(byOperator)).toEqual(expected)
  expect(await auditOf(byOperator.paymentId)).toMatchObject([
    {
      actor: expect.stringMatching(/^operator finance\./),
      details: { reason: 'statement of 1 April', reference: 'AXISR0000000042' },
    },
  ])
  // The notice comes after all, and the operator presses again.
  expect(payloadOf(await notifyRefund(service, { utr: byOperator.utr })).status).toBe('REFUNDED')
  expect((await returned(byOperator.paymentId)).status).toBe(200)
  expect(await traceOf(byOperator)).toEqual(expected)
  expect(await brokenIn(service)).toEqual([])
})

test('svc admin payments returned completes what svc admin suspense return began, in the name of an operator who moves money', async () => {
  const credit = await stray()
  await giveBack(credit)
  const as = async (role: 'finance' | 'support') => {
    const browser = await signedIn(service, role)
    const { operator } = (await browser.get('/session')).json
    return { SVC_OPERATOR: operator.name as string, SVC_OPERATOR_PASSWORD: PASSWORD }
  }
  const args = [credit.utr.toLowerCase(), '--reason', 'bank statement', '--reference', 'AXISR0000000043']
  expect((await svc(args, await as('support'))).stderr).toContain('yours is support')
  const env = await as('finance')
  const { code, stdout } = await svc(args, env)
  const payment = { paymentId: credit.paymentId, status: 'REFUNDED' }
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { payment }])
  expect(await auditOf(credit.paymentId)).toMatchObject([
    {
      actor: `operator ${env.SVC_OPERATOR}`,
      details: { reason: 'bank statement', reference: 'AXISR0000000043' },
    },
  ])
  expect((await svc(['NOSUCHUTR', '--reason', 'x'])).stderr).toContain('svc admin payments list')
  expect((await svc([credit.utr])).stderr).toContain('--reason')
  expect(await brokenIn(service)).toEqual([])
})

test('only a credit on its way back is recorded as returned: no credit in suspense, no accepted one, no assigned one', async () => {
  const shop = await shopWith(service, 10)
  const [suspended, assigned] = [await stray(), await stray()]
  await operatorsOf(service.app.services.commands)
    .open(resolveSuspense)
    .run({ ...assigned, tenantId: 'house', merchantId: shop.merchantId, reason: 'till 4' })
  const before = [await balancesOf(service, 'house'), await balancesOf(service, shop.merchantId)]
  for (const { paymentId } of [shop, suspended, assigned]) {
    const { error, status } = await returned(paymentId)
    expect([status, error]).toEqual([409, 'payment_not_returning'])
    expect((await svc([paymentId, '--reason', 'x'])).code).toBe(1)
  }
  expect((await returned('pay_none')).error).toBe('payment_not_found')
  expect((await returned(suspended.paymentId, { reference: '-----' })).error).toBe('validation_failed')
  expect([await balancesOf(service, 'house'), await balancesOf(service, shop.merchantId)]).toEqual(before)
  expect(await brokenIn(service)).toEqual([])
})

test('a quarantined notice of a return is assigned by the return that an operator records with it, once', async () => {
  const [credit, another] = [await waiting(), await waiting()]
  const kept = async (notice: object): Promise<string> =>
    (await notifyRefund(service, notice)).json.payload.noticeId
  // The first is kept of the merchant, the second of the platform, which cannot read whose it is.
  const contradicting = await kept({ utr: credit.utr, amount: 11 })
  const unreadable = await kept({ utr: another.utr, amount: 'all of it' })
  expect((await returned(credit.paymentId, { noticeId: contradicting })).status).toBe(200)
  expect((await returned(another.paymentId, { noticeId: contradicting })).error).toBe(
    'notice_not_in_quarantine',
  )
  const { code } = await svc([another.paymentId, '--reason', 'by phone', '--notice', unreadable])
  expect(code).toBe(0)
  for (const [noticeId, { paymentId }] of [
    [contradicting, credit],
    [unreadable, another],
  ] as const) {
    const { data } = (await finance.get(`/rail-notices?q=${noticeId}`)).json
    expect(data).toMatchObject([{ status: 'ASSIGNED', paymentId }])
  }
  expect(await brokenIn(service)).toEqual([])
})

test('a return that an operator and the bank report at once, on two processes, moves money once', async () => {
  const credit = await waiting()
  const elsewhere = await signedIn(other, 'finance')
  const reports = await Promise.all([
    returned(credit.paymentId),
    elsewhere.post(`/payments/${credit.paymentId}/returned`, { reason: 'letter' }),
    notifyRefund(other, { utr: credit.utr }),
    returned(credit.paymentId),
  ])
  expect(reports.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const { journals, events, balances } = await traceOf(credit)
  expect([journals.length, events.length, balances]).toEqual([1, 1, {}])
  expect(await brokenIn(service)).toEqual([])
})
