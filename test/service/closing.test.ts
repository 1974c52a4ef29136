import { closePeriod } from '@svc/core/ledger/closing'
import { verifyClosings } from '@svc/core/ledger/verify-closings'
import { calendarDay } from '@svc/kernel/time'
import { recordAudit } from '@svc/platform/audit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { onceAwaited } from '../harness/lock-wait.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

const DAY_MS = 86_400_000

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

const daysAgo = (days: number) => calendarDay(new Date(Date.now() - days * DAY_MS), 'Asia/Kolkata')
/** The same for all tests: a day may end between two. */
const TWO_DAYS_AGO = daysAgo(2)
const close = (through: string) => {
  const { database, keyring } = service.app.services
  const requested = { through, by: 'operator asha', timeZone: 'Asia/Kolkata' }
  return database.operate((tx) => closePeriod(tx, keyring, requested))
}
const problems = async () => {
  const { database, keyring } = service.app.services
  return (await database.report((tx) => verifyClosings(tx, keyring))).map(({ problem }) => problem)
}
const sql = (text: string, values: unknown[] = []) =>
  asSuperuser(service.db.database, (db) => db.query(text, values))
/** An accepted payment that was entered so many days ago. */
async function pay(days: number): Promise<void> {
  const tenant = await service.as(await service.newMerchant())
  const { tr } = await newCode(service, tenant, { multipleUse: true })
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(tr)))
  await sql(`update ledger_transfers set created_at = now() - $2 * interval '1 day' where object_id = $1`, [
    paymentId,
    days,
  ])
  await sql(`update ledger_accounts set created_at = now() - interval '30 days'`)
}

test('a day that has not ended, or has just ended, is not closed', async () => {
  await expect(close(daysAgo(0))).rejects.toMatchObject({ code: 'period_not_over' })
  await expect(close(daysAgo(-1))).rejects.toMatchObject({ code: 'period_not_over' })
})

test('a closed period has signed totals, is closed once, and later payments do not change it', async () => {
  await pay(6)
  const through = daysAgo(5)
  const first = await close(through)
  expect(await close(through)).toEqual(first)
  await expect(close(daysAgo(7))).rejects.toMatchObject({ code: 'period_closed' })
  await pay(2)
  expect(await problems()).toEqual([null])
  await close(daysAgo(3))
  expect(await problems()).toEqual([null, null])
})

test('the database rejects entries in a closed period, from both logins', async () => {
  const { merchantId } = await service.newMerchant()
  for (const role of ['svc_service', 'svc_operator']) {
    const entered = sql(
      `begin; set local role ${role}; set local svc.tenants = '${merchantId}';
       insert into journals (tenant_id, journal_id, kind, effective_date, legs, at)
         values ('${merchantId}', 'jrn_late', 'upi_credit', current_date, 1, now() - interval '10 days');
       insert into ledger_transfers values ('trf_late', '${merchantId}', 'jrn_late', 1, 'upi_credit',
         'upi_clearing:${merchantId}', 'payable:${merchantId}', 100, 'INR', 'pay_late', now() - interval '10 days')`,
    )
    await expect(entered).rejects.toMatchObject({ constraint: 'period_is_open' })
  }
})

test('a change to a closed period in the database is detected, and so is another signature', async () => {
  const { rows } = await sql('select through::text, signed from book_closings order by through')
  await sql(`alter table ledger_transfers disable trigger all`)
  await sql(
    `update ledger_transfers set amount = amount + 100 where kind = 'upi_credit' and created_at < now() - interval '4 days'`,
  )
  expect(await problems()).toEqual([
    expect.stringMatching(/^the total of /),
    expect.stringMatching(/^the total of /),
  ])
  await sql(
    `update ledger_transfers set amount = amount - 100 where kind = 'upi_credit' and created_at < now() - interval '4 days'`,
  )
  await sql(`alter table ledger_transfers enable trigger all`)
  expect(await problems()).toEqual([null, null])
  await sql('update book_closings set signed = $1 where through = $2', [rows[1].signed, rows[0].through])
  expect((await problems())[1]).toMatch(/entries were signed|another day/)
  await sql(`update book_closings set signed = 'x.' || signed where through = $1`, [rows[0].through])
  expect((await problems())[1]).toContain('signature')
  await sql('update book_closings set signed = $1 where through = $2', [rows[0].signed, rows[0].through])
})

test('a period is closed although other entries are written to the audit while its totals are computed', async () => {
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const { database } = service.app.services
  const closed = await asSuperuser(service.db.database, async (outsider) => {
    await outsider.query('begin; lock table ledger_transfers')
    const closing = runHere(['admin', 'books', 'close', '--through', TWO_DAYS_AGO], env)
    await onceAwaited(outsider)
    await database.operate(async (tx) => recordAudit(tx, [{ action: 'noted', target: 'house' }]))
    await outsider.query('rollback')
    return closing
  })
  expect(closed).toMatchObject({ code: 0, stderr: '' })
})

test('on the command line a period is closed under an operator’s name, listed and verified', async () => {
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const svc = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHere(['admin', 'books', ...args, '--json'], env)
    return { code, out: stdout === '' ? undefined : JSON.parse(stdout), stderr }
  }
  expect((await svc('close', '--through', TWO_DAYS_AGO)).out).toMatchObject({ through: TWO_DAYS_AGO })
  expect((await svc('closings')).out).toHaveLength(3)
  expect(await svc('verify')).toMatchObject({ code: 0, out: [{ through: TWO_DAYS_AGO }, {}, {}] })
  expect((await svc('close', '--through', '31-10-2026')).stderr).toContain('must be a day')
  await sql(`update book_closings set signed = 'forged'`)
  expect((await svc('verify')).code).toBe(1)
})
