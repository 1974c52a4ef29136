import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { Browser, newOperator, PASSWORD } from '../harness/console.ts'
import { giveAccount, preparePayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { newShop } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService({ background: false, env: { GST_STATE: '29' } })
})
afterAll(() => service.close())

test('on the command line a bank account and fees are changed in the name of an operator who moves money', async () => {
  const { merchantId } = await service.newMerchant()
  const account = [
    'account',
    merchantId,
    '--holder',
    'Shop',
    '--number',
    '000012345678',
    '--ifsc',
    'HDFC0000001',
  ]
  const fee = ['fee', merchantId, '--percent', '1.5']
  const as = async (role: 'support' | 'finance', args: string[]) => {
    const { name } = await newOperator(service, role)
    const operator = { SVC_OPERATOR: name, SVC_OPERATOR_PASSWORD: PASSWORD }
    const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, ...operator }
    return { ...(await runHere(['admin', 'payout', ...args], env)), actor: `operator ${name}` }
  }
  for (const [noun, change] of [
    ['payout_details', account],
    ['merchant_fee', fee],
  ] as const) {
    const refused = await as('support', change)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('yours is support')])
    const { actor, code } = await as('finance', change)
    expect(code).toBe(0)
    const entries = await asSuperuser(service.db.database, (db) =>
      db.query(`select actor from audit_log where tenant_id = $1 and action = $2`, [
        merchantId,
        `${noun}.created`,
      ]),
    )
    expect(entries.rows).toEqual([{ actor }])
  }
  const past = await as('finance', [...fee, '--from', '2020-01-01'])
  expect([past.code, past.stderr]).toEqual([
    1,
    expect.stringContaining('--from must be today or a later day'),
  ])
  // A fee begins by the merchant's test clock (decision X27).
  const ahead = (await service.newMerchant()).merchantId
  const bySeconds = 40 * 86_400
  payloadOf(await service.client.post(`/sandbox/tenants/${ahead}/clock/advance`, { bySeconds }))
  const later = await as('finance', ['fee', ahead, '--percent', '1', '--json'])
  const inForce = calendarDay(new Date(Date.now() + bySeconds * 1_000), 'Asia/Kolkata')
  expect(JSON.parse(later.stdout)).toMatchObject({ fees: [{ validFrom: inForce }] })
  // Anyone may look.
  expect((await as('support', ['terms', merchantId])).code).toBe(0)
})

test('a payment keeps the fee that was in force when it was accepted, whatever is entered after it', async () => {
  const shop = await newShop(service)
  const finance = new Browser(service)
  await finance.signIn((await newOperator(service, 'finance')).name)
  const fees = `/merchants/${shop.merchantId}/fees`
  const set = (percent: string, validFrom?: string) =>
    finance.post(fees, { percent, fixed: '0.00', ...(validFrom && { validFrom }) })
  const today = calendarDay(new Date(), 'Asia/Kolkata')
  expect((await set('1.00')).json.fees).toEqual([{ validFrom: today, percent: '1.00', fixed: '0.00' }])
  const { tr } = await newCode(service, shop.client, { multipleUse: true })
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 1_000 })))
  // Today has a payment: the next fee begins tomorrow, and a day before is refused.
  const refused = await set('80.00', today)
  expect([refused.status, refused.error]).toEqual([400, 'validation_failed'])
  const tomorrow = calendarDay(new Date(Date.now() + 86_400_000), 'Asia/Kolkata')
  expect((await set('80.00')).json.fees.map(({ validFrom }: Json) => validFrom)).toEqual([tomorrow, today])
  const cli = ['admin', 'payout', 'fee', shop.merchantId, '--percent', '80', '--from', today]
  const { name } = await newOperator(service, 'finance')
  const operator = { SVC_OPERATOR: name, SVC_OPERATOR_PASSWORD: PASSWORD }
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, ...operator }
  expect((await runHere(cli, env)).stderr).toContain('--from must be')
  // By hand, as the operators' login: rows are added and never changed, and charge nothing that came before them.
  const asOperator = (sql: string) =>
    asSuperuser(service.db.database, async (db) => {
      await db.query('set role svc_operator')
      await db.query(sql, [shop.merchantId])
    })
  await expect(
    asOperator('update merchant_fees set basis_points = 8000 where merchant_id = $1'),
  ).rejects.toThrow('permission denied')
  await expect(asOperator('delete from merchant_fees where merchant_id = $1')).rejects.toThrow(
    'permission denied',
  )
  await expect(
    asSuperuser(service.db.database, (db) => db.query('update merchant_fees set basis_points = 8000')),
  ).rejects.toThrow('a fee is not changed')
  await asOperator(
    `insert into svc.merchant_fees (merchant_id, valid_from, basis_points, fixed_paise, created_at, charges_from)
     values ($1, '2020-01-01', 8000, 0, '2020-01-01', null)`,
  )
  await asOperator(
    `insert into svc.merchant_fees (merchant_id, valid_from, basis_points, fixed_paise, created_at)
     values ($1, (now() at time zone 'Asia/Kolkata')::date, 8000, 0, '2020-01-01')`,
  )
  await giveAccount(service, shop.merchantId)
  const payoutId = await preparePayoutOf(service, shop.merchantId)
  const { data } = payloadOf(await shop.client.get(`/api/v0/payouts/${payoutId}/lines`))
  expect(data).toMatchObject([{ kind: 'payment', amount: 1_000, fee: 10 }])
})
