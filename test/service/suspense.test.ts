import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { Browser, newOperator } from '../harness/console.ts'
import { onceAwaited } from '../harness/lock-wait.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount } from '../harness/payouts.ts'
import { creditOf, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn, notifyRefund } from '../harness/refunds.ts'
import {
  asSuperuser,
  MASTER_KEY,
  openService,
  type TestMerchant,
  type TestService,
} from '../harness/service.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  // Without the simulated bank, which would return credits meanwhile.
  service = await openService({ background: false })
  other = await openService({ background: false, db: service.db })
})
afterAll(async () => {
  await other?.close()
  await service?.close()
})

/** A credit that fits no code: of the platform, or of the merchant whose address the bank names. */
async function stray(payee?: TestMerchant) {
  const utr = newUtr()
  const notice = { ...creditOf('NOSUCHCODE', { utr, amount: 10 }), ...(payee && { payeeVpa: payee.vpa }) }
  const { paymentId, status } = payloadOf(await notifyCredit(service.client, notice))
  expect(status).toBe('SUSPENSE')
  return { tenantId: payee?.merchantId ?? 'house', paymentId: paymentId as string, utr, notice }
}
type Stray = Awaited<ReturnType<typeof stray>>

const resolve = ({ tenantId, paymentId }: Stray, merchantId: string | null, on = service) =>
  operatorsOf(on.app.services.commands)
    .open(resolveSuspense)
    .run({ tenantId, paymentId, merchantId, reason: 'by phone' })

const refusal = (refused: Promise<unknown>): Promise<string> =>
  refused.then(
    () => 'none',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  )

test('a credit that named its merchant becomes payable to it, once; a repeat changes nothing', async () => {
  const merchant = await service.newMerchant()
  const credit = await stray(merchant)
  const first = await resolve(credit, merchant.merchantId)
  expect(first.payment).toMatchObject({ paymentId: credit.paymentId, status: 'ACCEPTED', reason: null })
  expect(await balancesOf(service, merchant.merchantId)).toEqual({ upi_clearing: '-1000', payable: '1000' })
  expect(await resolve(credit, merchant.merchantId)).toMatchObject({ isRepeat: true })
  expect(await refusal(resolve(credit, null))).toBe('suspense_resolved')
  expect(payloadOf(await notifyCredit(service.client, credit.notice))).toMatchObject({ status: 'ACCEPTED' })
  expect(await brokenIn(service)).toEqual([])
})

test('a credit of the platform goes to a merchant by two journals, each within its tenant; it is the merchant’s payment', async () => {
  const merchant = await service.newMerchant()
  const credit = await stray()
  const { payment } = await resolve(credit, merchant.merchantId)
  const client = await service.as(merchant)
  const { data } = payloadOf(await client.get('/api/v0/payments'))
  expect(data).toMatchObject([
    { paymentId: payment.paymentId, utr: credit.utr, status: 'ACCEPTED', amount: 10 },
  ])
  expect(await balancesOf(service, merchant.merchantId)).toEqual({ inter_tenant: '-1000', payable: '1000' })
  const legs = await asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query(
      `select tenant_id, kind, debit_account_id as debit, credit_account_id as credit from ledger_transfers
       join journals using (tenant_id, journal_id, kind) where reference = $1 and reason = 'by phone' order by kind`,
      [credit.utr],
    )
    return rows
  })
  expect(legs).toEqual([
    { tenant_id: 'house', kind: 'suspense_assigned', debit: 'suspense:house', credit: 'inter_tenant:house' },
    {
      tenant_id: merchant.merchantId,
      kind: 'upi_credit',
      debit: `inter_tenant:${merchant.merchantId}`,
      credit: `payable:${merchant.merchantId}`,
    },
  ])
  // The bank sends its notice again, and later pays: the credit is known, and its money with the platform.
  expect(payloadOf(await notifyCredit(service.client, credit.notice)).paymentId).toBe(payment.paymentId)
  expect(await resolve(credit, merchant.merchantId)).toMatchObject({
    isRepeat: true,
    payment: { utr: credit.utr },
  })
  expect(await brokenIn(service)).toEqual([])
})

test('an assigned credit is paid out, although it is older than an earlier payout', async () => {
  const merchant = await service.newMerchant()
  await giveAccount(service, merchant.merchantId)
  const client = await service.as(merchant)
  const credit = await stray(merchant)
  await resolve(await stray(merchant), merchant.merchantId)
  payloadOf(await client.post('/sandbox/payouts', {}))
  await asSuperuser(service.db.database, (db) =>
    db.query(`update payout_positions set due_from = now() + interval '1 hour' where merchant_id = $1`, [
      merchant.merchantId,
    ]),
  )
  await resolve(credit, merchant.merchantId)
  await resolve(await stray(), merchant.merchantId)
  expect(payloadOf(await client.post('/sandbox/payouts', {})).payments).toEqual({ count: 2, amount: 20 })
  expect(await brokenIn(service)).toEqual([])
})

test('of credits assigned at the same instant, in any order, all are paid out', async () => {
  const merchants = [await service.newMerchant(), await service.newMerchant()]
  const waiting: [Stray, TestMerchant][] = []
  for (const [n, merchant] of merchants.entries()) {
    await giveAccount(service, merchant.merchantId)
    const credits: [Stray, TestMerchant][] = [
      [await stray(merchant), merchant],
      [await stray(merchant), merchant],
    ]
    waiting.push(...(n === 0 ? credits : credits.reverse()))
  }
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `insert into payout_positions (merchant_id, due_from) select unnest($1::text[]), now() + interval '1 hour'
       on conflict (merchant_id) do update set due_from = excluded.due_from`,
      [merchants.map(({ merchantId }) => merchantId)],
    ),
  )
  // The first goes alone; the others wait for it, and go together.
  await Promise.all([
    resolve(await stray(), merchants[0]!.merchantId),
    ...waiting.map(([credit, { merchantId }]) => resolve(credit, merchantId)),
  ])
  for (const [n, merchant] of merchants.entries()) {
    const { payments } = payloadOf(await (await service.as(merchant)).post('/sandbox/payouts', {}))
    expect(payments).toEqual({ count: n === 0 ? 3 : 2, amount: n === 0 ? 30 : 20 })
  }
  expect(await brokenIn(service)).toEqual([])
})

const troubles = async (trouble: string): Promise<number> => {
  const { values } = await service.app.services.metrics.batchTroubles.get()
  const of = values.find(({ labels }) => labels.queue === 'resolveSuspense' && labels.trouble === trouble)
  return of?.value ?? 0
}

test('while another transaction has an account of the merchant that a credit of the platform goes to, the assignment waits', async () => {
  const { merchantId } = await service.newMerchant()
  await resolve(await stray(), merchantId)
  const credit = await stray()
  const before = await troubles('held')
  await asSuperuser(service.db.database, async (holder) => {
    await holder.query('begin')
    await holder.query('select from ledger_accounts where account_id = $1 for update', [
      `inter_tenant:${merchantId}`,
    ])
    const resolving = resolve(credit, merchantId).catch((error: Error) => error)
    await expect.poll(() => troubles('held')).toBeGreaterThan(before)
    await holder.query('rollback')
    expect(await resolving).toMatchObject({ payment: { merchantId, status: 'ACCEPTED' } })
  })
  expect(await balancesOf(service, merchantId)).toEqual({ inter_tenant: '-2000', payable: '2000' })
  expect(await brokenIn(service)).toEqual([])
})

test('credits of the platform that are assigned to a new merchant at the same instant share a batch, which opens its accounts once', async () => {
  const { merchantId } = await service.newMerchant()
  const [first, ...others] = [await stray(), await stray(), await stray()]
  const before = await troubles('split')
  // The first goes alone; the others wait for it, and go together.
  await Promise.all([resolve(first!, null), ...others.map((credit) => resolve(credit, merchantId))])
  expect(await troubles('split')).toBe(before)
  expect(await balancesOf(service, merchantId)).toEqual({ inter_tenant: '-2000', payable: '2000' })
})

test('a credit is returned to its payer: the bank’s notice completes the return', async () => {
  const merchant = await service.newMerchant()
  for (const credit of [await stray(merchant), await stray()]) {
    expect((await resolve(credit, null)).payment).toMatchObject({ status: 'REFUND_PENDING' })
    expect(await refusal(resolve(credit, merchant.merchantId))).toBe('suspense_resolved')
    payloadOf(await notifyRefund(service, { utr: credit.utr }))
  }
  expect(await balancesOf(service, merchant.merchantId)).toEqual({})
  expect(await brokenIn(service)).toEqual([])
})

test('assigned to two merchants, returned and refunded at once, in two processes: one of them happens', async () => {
  const [one, two] = [await service.newMerchant(), await service.newMerchant()]
  for (let round = 0; round < 8; round++) {
    const credit = await stray()
    const outcomes = await Promise.all([
      refusal(resolve(credit, one.merchantId)),
      refusal(resolve(credit, two.merchantId, other)),
      refusal(resolve(credit, null, other)),
      notifyRefund(service, { utr: credit.utr }).then(({ status }) => String(status)),
    ])
    // The bank may confirm what was to be returned; what was assigned it cannot take back.
    expect(outcomes.slice(0, 3).filter((outcome) => outcome === 'none').length).toBeLessThanOrEqual(1)
    expect(['200', '202']).toContain(outcomes[3])
  }
  expect(await brokenIn(service)).toEqual([])
})

test('a refund notice whose credit is assigned while it waits debits nothing, in particular no other credit', async () => {
  const credit = await stray()
  // Another credit of the platform goes back: its money is in the account that refunds are taken from.
  const returning = await stray()
  await resolve(returning, null)
  await asSuperuser(service.db.database, async (db) => {
    await db.query('begin')
    await db.query(`update payments set status = 'ASSIGNED', resolved_at = now() where payment_id = $1`, [
      credit.paymentId,
    ])
    const refunded = notifyRefund(service, { utr: credit.utr })
    // It has looked the credit up, in suspense still, and waits for its row.
    await onceAwaited(db, 'commit')
    expect(await refunded).toMatchObject({ status: 202, json: { payload: { reason: 'payment_accepted' } } })
    await db.query(`update payments set status = 'SUSPENSE', resolved_at = null where payment_id = $1`, [
      credit.paymentId,
    ])
  })
  for (const { utr } of [credit, returning]) payloadOf(await notifyRefund(service, { utr }))
  expect(await brokenIn(service)).toEqual([])
})

test('commands accept platform for the tenant of credits that fit no merchant', async () => {
  const { utr } = await stray()
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const svc = async (...args: string[]) => (await runHere(['admin', ...args, '--json'], env)).stdout
  expect(JSON.parse(await svc('payments', 'list', 'platform'))).toContainEqual(
    expect.objectContaining({ utr, merchantId: 'house' }),
  )
  const owed = await svc('books', 'liabilities', '--tenant', 'platform')
  expect(owed).toContain('"tenantId": "house"')
  expect(owed).toBe(await svc('books', 'liabilities', '--tenant', 'house'))
})

test('operators resolve suspense on the command line and in the console, in their name', async () => {
  const merchant = await service.newMerchant()
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const svc = (...args: string[]) => runHere(['admin', 'suspense', ...args], env)
  const [first, second, third] = [await stray(), await stray(), await stray()]
  const listed = JSON.parse((await svc('list', '--json')).stdout)
  expect(listed).toContainEqual(expect.objectContaining({ utr: first.utr, merchantId: 'house' }))
  const assigned = await svc(
    'assign',
    first.utr,
    '--merchant',
    merchant.merchantId,
    '--reason',
    'till 4',
    '--json',
  )
  expect(JSON.parse(assigned.stdout)).toMatchObject({
    merchantId: merchant.merchantId,
    payment: { status: 'ACCEPTED' },
  })
  expect(await svc('assign', second.utr, '--merchant', 'mer_none', '--reason', 'x')).toMatchObject({
    code: 1,
  })
  expect(await svc('return', second.paymentId, '--reason', 'asked for')).toMatchObject({ code: 0 })
  const browser = new Browser(service)
  await browser.signIn((await newOperator(service, 'operator')).name)
  const path = `/payments/${third.paymentId}`
  const body = { merchantId: merchant.merchantId, reason: 'receipt 7' }
  expect((await browser.post(`${path}/assign`, { ...body, merchantId: 'mer_none' })).error).toBe(
    'merchant_not_found',
  )
  expect((await browser.post(`${path}/assign`, body)).json).toMatchObject({ merchantId: merchant.merchantId })
  expect((await browser.post(`${path}/return`, { reason: 'no' })).error).toBe('suspense_resolved')
  const audited = await asSuperuser(service.db.database, (db) =>
    db.query(`select 1 from audit_log where action like 'suspense.%' and target = any ($1)`, [
      [first.paymentId, second.paymentId, third.paymentId],
    ]),
  )
  expect(audited.rowCount).toBe(3)
  expect(await brokenIn(service)).toEqual([])
})
