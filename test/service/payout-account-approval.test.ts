import { setPayoutDetails } from '@svc/core/payments/payouts/payout-terms'
import { calendarDay } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { Browser, newOperator, PASSWORD } from '../harness/console.ts'
import { preparePayoutOf } from '../harness/payouts.ts'
import { shopWith } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

const ACCOUNT = { holder: 'Corner Shop', number: '000012345678', ifsc: 'HDFC0000001' }

let service: TestService
let asha: { readonly actor: string; readonly browser: Browser }
let ravi: typeof asha
let meera: typeof asha
beforeAll(async () => {
  service = await openService({ background: false, env: { PAYOUT_REQUIRES_SETTLEMENT: 'false' } })
  ;[asha, ravi, meera] = [await finance(), await finance(), await finance()]
})
afterAll(() => service.close())

async function finance() {
  const { name } = await newOperator(service, 'finance')
  const browser = new Browser(service)
  await browser.signIn(name)
  return { actor: `operator ${name}`, browser }
}

const sql = async (text: string, values: unknown[] = []) =>
  (await asSuperuser(service.db.database, (db) => db.query(text, values))).rows
const setAccount = ({ browser }: typeof asha, merchantId: string, number = ACCOUNT.number) =>
  browser.send('PUT', `/merchants/${merchantId}/bank-account`, { ...ACCOUNT, number })
const approve = ({ browser }: typeof asha, payoutId: string) =>
  browser.post(`/payouts/${payoutId}/approve`, {})

test('the operator who set the bank account of a payout cannot approve it, even if others prepared it and set the account later', async () => {
  const { merchantId, paymentId } = await shopWith(service, 100)
  await sql(`update payments set created_at = created_at - interval '2 days' where payment_id = $1`, [
    paymentId,
  ])
  expect((await setAccount(asha, merchantId, '999999999999')).status).toBe(200)
  const businessDay = calendarDay(new Date(Date.now() - 2 * 86_400_000), 'Asia/Kolkata')
  const { data } = (await ravi.browser.post('/payouts/run', { businessDay })).json
  const { payoutId } = data.find((each: { merchantId: string }) => each.merchantId === merchantId)
  const refused = await approve(asha, payoutId)
  expect([refused.status, refused.error]).toEqual([403, 'payout_same_person'])
  expect(refused.text).toContain('You set the bank account')
  // The payout keeps the account and who set it.
  expect((await setAccount(ravi, merchantId)).status).toBe(200)
  expect((await approve(asha, payoutId)).error).toBe('payout_same_person')
  expect((await approve(ravi, payoutId)).error).toBe('payout_same_person')
  const shown = (await meera.browser.get(`/payouts/${payoutId}`)).json
  expect(shown.history[0].detail).toContain(`account set by ${asha.actor}`)
  expect((await approve(meera, payoutId)).json).toMatchObject({
    status: 'APPROVED',
    approvedBy: meera.actor,
  })
})

test('the database rejects an approval by the operator who set the account, and the service cannot change who that was', async () => {
  const { merchantId } = await shopWith(service, 100)
  await setAccount(asha, merchantId)
  const payoutId = await preparePayoutOf(service, merchantId, ravi.actor)
  expect(await sql('select account_set_by from payouts where payout_id = $1', [payoutId])).toEqual([
    { account_set_by: asha.actor },
  ])
  const forced = `update payouts set status = 'APPROVED', approved_by = $2 where payout_id = $1`
  await expect(sql(forced, [payoutId, asha.actor])).rejects.toThrow(
    'approved_by_another_than_set_the_account',
  )
  const change = asSuperuser(service.db.database, (db) =>
    db.query(`begin; set local role svc_service; update payouts set account_set_by = null`),
  )
  await expect(change).rejects.toThrow('permission denied')
})

test('an account that a process of the previous version sets has the name of who set it, too', async () => {
  const { merchantId } = await shopWith(service, 100)
  await setAccount(meera, merchantId)
  const PREVIOUS = statement(
    'payout_details_set_previous',
    `insert into payout_details (merchant_id, account_holder, account_number, ifsc, gst_state, updated_at)
     values ($1, 'Corner Shop', '999999999999', 'HDFC0000001', null, clock_timestamp())
     on conflict (merchant_id) do update set account_number = excluded.account_number`,
  )
  await service.app.services.database.operate(
    (tx) => tx.query(PREVIOUS, [merchantId]),
    'read committed',
    asha,
  )
  const payoutId = await preparePayoutOf(service, merchantId, ravi.actor)
  expect((await approve(asha, payoutId)).error).toBe('payout_same_person')
  expect((await approve(meera, payoutId)).status).toBe(200)
})

test('for an account that was set before names were recorded, only the operator who prepared the payout cannot approve it', async () => {
  const { merchantId } = await shopWith(service, 100)
  await service.app.services.database.operate(
    (tx) =>
      setPayoutDetails(tx, {
        merchantId,
        accountHolder: ACCOUNT.holder,
        accountNumber: ACCOUNT.number,
        ifsc: ACCOUNT.ifsc,
        gstState: null,
      }),
    'read committed',
    asha,
  )
  await sql(
    `begin; set local session_replication_role = replica; update payout_details set set_by = null; commit`,
  )
  const payoutId = await preparePayoutOf(service, merchantId, ravi.actor)
  expect((await approve(ravi, payoutId)).error).toBe('payout_same_person')
  expect((await approve(asha, payoutId)).status).toBe(200)
})

test('the same holds on the command line', async () => {
  const { merchantId } = await shopWith(service, 100)
  const as = ({ actor }: typeof asha, ...args: string[]) =>
    runHere(['admin', 'payout', ...args], {
      DATABASE_URL: service.db.url,
      SVC_MASTER_KEY: MASTER_KEY,
      SVC_OPERATOR: actor.slice('operator '.length),
      SVC_OPERATOR_PASSWORD: PASSWORD,
    })
  const { holder, ifsc, number } = ACCOUNT
  const set = await as(asha, 'account', merchantId, '--holder', holder, '--number', number, '--ifsc', ifsc)
  expect(set.code, set.stderr).toBe(0)
  const payoutId = await preparePayoutOf(service, merchantId, ravi.actor)
  const refused = await as(asha, 'approve', payoutId)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('You set the bank account')])
  const approved = await as(meera, 'approve', payoutId, '--json')
  expect(approved.code, approved.stderr).toBe(0)
  expect(approved.stdout).toContain('APPROVED')
})
