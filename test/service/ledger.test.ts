import { afterAll, beforeAll, expect, test } from 'vitest'
import { reconcile } from '../../src/ledger/reconcile.ts'
import { saveTransfers } from '../../src/ledger/transfers.ts'
import { PAYMENT_CHECKS } from '../../src/qr-codes/reconcile-payments.ts'
import { type Client, payloadOf } from '../harness/client.ts'
import { creditOf, newCode, notifyCredit, type TestCode } from '../harness/qr-codes.ts'
import {
  asSuperuser,
  openService,
  RAIL_KEY,
  type TestMerchant,
  type TestService,
} from '../harness/service.ts'

let service: TestService
let merchant: TestMerchant
let client: Client
let code: TestCode

beforeAll(async () => {
  // Live mode has no simulated bank, which would return the refused credits meanwhile.
  service = await openService({ env: { SVC_MODE: 'live' } })
  merchant = await service.newMerchant()
  client = await service.as(merchant)
  code = await newCode(service, client, { multipleUse: true, fixedAmount: true, amount: 10.01 })
  const pay = (amount: number, utr: string) =>
    notifyCredit(service.client, creditOf(code.tr, { amount, utr }))
  for (const utr of ['ACCEPTED01', 'ACCEPTED02', 'ACCEPTED03'])
    expect(payloadOf(await pay(10.01, utr)).status).toBe('ACCEPTED')
  expect(payloadOf(await pay(10, 'PENDING001')).status).toBe('REFUND_PENDING')
  expect(payloadOf(await pay(10.02, 'REFUNDED01')).status).toBe('REFUND_PENDING')
  expect(
    payloadOf(await notifyCredit(service.client, creditOf('NOSUCHCODE', { amount: 7, utr: 'SUSPENSE01' })))
      .status,
  ).toBe('SUSPENSE')
  payloadOf(await service.client.notify('/rails/upi/refunds', { utr: 'REFUNDED01' }, RAIL_KEY))
})
afterAll(() => service.close())

const books = () => reconcile(service.app.services.database, PAYMENT_CHECKS)

async function balances(): Promise<Record<string, string>> {
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query<{ account_id: string; balance: string }>(
      'select account_id, balance::text from ledger_accounts',
    ),
  )
  return Object.fromEntries(rows.map((row) => [row.account_id, row.balance]))
}

test('each credit lies on the account of what became of it, to the paisa', async () => {
  const { merchantId } = merchant
  expect(await balances()).toMatchObject({
    [`payable:${merchantId}`]: '3003',
    [`upi_refunds:${merchantId}`]: '1000',
    [`upi_clearing:${merchantId}`]: '-4003',
    'suspense:house': '700',
    'upi_clearing:house': '-700',
  })
  expect(await books()).toMatchObject({ ok: true, transfers: 7 })
})

test('a credit that fits no code can be returned from suspense', async () => {
  payloadOf(await service.client.notify('/rails/upi/refunds', { utr: 'SUSPENSE01' }, RAIL_KEY))
  expect(await balances()).toMatchObject({ 'suspense:house': '0', 'upi_clearing:house': '0' })
  expect((await books()).ok).toBe(true)
})

test('the service may neither change nor delete what was moved, nor open accounts', async () => {
  const { database } = service.app.services
  for (const [name, text] of [
    ['test_edit', 'update ledger_transfers set amount = 1'],
    ['test_delete', 'delete from ledger_transfers'],
    ['test_owner', `update ledger_accounts set tenant_id = 'house'`],
    ['test_drop', 'delete from payments'],
  ] as const)
    await expect(database.write([merchant.merchantId], (tx) => tx.query({ name, text }))).rejects.toThrow(
      'permission denied',
    )
})

test('a transfer over an account of another tenant is refused whole', async () => {
  const other = await service.newMerchant()
  const before = await balances()
  const transfer = {
    transferId: 'trf_foreign',
    tenantId: merchant.merchantId,
    kind: 'upi_credit',
    debitAccountId: `upi_clearing:${merchant.merchantId}`,
    creditAccountId: `payable:${other.merchantId}`,
    amountPaise: 1n,
    objectId: 'x',
    createdAt: new Date(),
  }
  const write = service.app.services.database.write([merchant.merchantId, other.merchantId], async (tx) =>
    saveTransfers(tx, [transfer]),
  )
  await expect(write).rejects.toThrow('a transfer names an account that does not exist or has another unit')
  expect(await balances()).toEqual(before)
})

test('a balance under its floor cannot be written, whoever writes it', async () => {
  const write = asSuperuser(service.db.database, (db) =>
    db.query(`update ledger_accounts set balance = -1 where account_id = 'payable:${merchant.merchantId}'`),
  )
  await expect(write).rejects.toThrow('balance_not_under_floor')
})

// Each is a way in which books can be wrong, done behind the service's back; reconcile must name it.
test.each([
  [
    'All balances of a unit add up to zero',
    `update ledger_accounts set balance = balance + 1 where account_id like 'payable:mer%'`,
  ],
  [
    'Every balance equals the transfers of its account',
    `update ledger_accounts set balance = balance + 1 where account_id like 'payable:mer%'`,
  ],
  [
    'Both sides of a transfer have its unit and its tenant',
    `update ledger_transfers set tenant_id = 'house' where object_id = (select payment_id from payments where utr = 'ACCEPTED01')`,
  ],
  [
    'Every payment has its one credit in the ledger, of the same amount and on the right account',
    `update payments set amount_paise = amount_paise + 1 where utr = 'ACCEPTED01'`,
  ],
  [
    'A refund is in the ledger once if the payment is refunded, and not at all otherwise',
    `update payments set status = 'REFUNDED' where utr = 'PENDING001'`,
  ],
  [
    'The counters of a code equal its accepted payments',
    'update qr_codes set accepted_count = accepted_count + 1',
  ],
  [
    'A single-use code has at most one accepted payment',
    'update qr_codes set multiple_use = false, accepted_count = 1',
  ],
  [
    'No payment was accepted after its code was cancelled',
    `update qr_codes set status = 'CANCELLED', modified_at = created_at - interval '1 second'`,
  ],
])('reconcile finds it when this does not hold: %s', async (check, damage) => {
  await asSuperuser(service.db.database, async (db) => {
    const saved = ['ledger_accounts', 'ledger_transfers', 'payments', 'qr_codes']
    for (const table of saved) await db.query(`create temporary table saved_${table} as table ${table}`)
    await db.query(damage)
    const { ok, checks } = await books()
    expect(ok).toBe(false)
    expect(checks.filter((c) => !c.ok).map((c) => c.check)).toContain(check)
    await db.query(`set session_replication_role = replica`)
    for (const table of saved)
      await db.query(`delete from ${table}; insert into ${table} select * from saved_${table}`)
  })
  expect((await books()).ok).toBe(true)
})
