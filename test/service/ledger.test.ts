import { type Journal, journalOf, saveJournals } from '@svc/core/ledger/journals'
import { type Difference, reconcile } from '@svc/core/ledger/reconcile'
import type { AnyTransfer } from '@svc/core/ledger/transfers'
import { PAYMENT_CHECKS } from '@svc/core/payments/reconcile-payments'
import type { Writes } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `insert into ledger_accounts (account_id, tenant_id, kind, unit, balance, created_at)
       values ('merchant_advances:' || $1, $1, 'merchant_advances', 'INR', 0, now())`,
      [merchant.merchantId],
    ),
  )
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

test('each credit is on the account of its outcome, to the paisa', async () => {
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

test('a credit that matches no code can be returned from suspense', async () => {
  payloadOf(await service.client.notify('/rails/upi/refunds', { utr: 'SUSPENSE01' }, RAIL_KEY))
  expect(await balances()).toMatchObject({ 'suspense:house': '0', 'upi_clearing:house': '0' })
  expect((await books()).ok).toBe(true)
})

test('the service can neither change nor delete transfers, nor open accounts', async () => {
  const { database } = service.app.services
  for (const [name, text] of [
    ['test_edit', 'update ledger_transfers set amount = 1'],
    ['test_delete', 'delete from ledger_transfers'],
    ['test_journal_edit', `update journals set reason = 'x'`],
    ['test_journal_delete', 'delete from journals'],
    ['test_owner', `update ledger_accounts set tenant_id = 'house'`],
    ['test_drop', 'delete from payments'],
  ] as const)
    await expect(database.write([merchant.merchantId], (tx) => tx.query({ name, text }))).rejects.toThrow(
      'permission denied',
    )
})

test('a transfer over an account of another tenant is rejected whole', async () => {
  const other = await service.newMerchant()
  const before = await balances()
  const transfer = {
    transferId: 'trf_foreign',
    tenantId: merchant.merchantId,
    kind: 'upi_credit' as const,
    debitAccountId: `upi_clearing:${merchant.merchantId}`,
    creditAccountId: `payable:${other.merchantId}`,
    amountPaise: 1n,
    objectId: 'x',
    createdAt: new Date(),
  }
  const write = service.app.services.database.write([merchant.merchantId, other.merchantId], async (tx) =>
    saveJournals(tx, 'UTC', [journalOf(transfer)]),
  )
  await expect(write).rejects.toThrow(/foreign key constraint/)
  expect(await balances()).toEqual(before)
})

const at = new Date()
let entered = 0
/** A journal of credits to the merchant's own accounts, in as many legs as there are amounts. */
function newJournal(more: Partial<Journal> = {}, amounts = [1n], moves: Partial<AnyTransfer> = {}): Journal {
  const { merchantId: tenantId } = merchant
  const number = ++entered
  const transfers = amounts.map((amountPaise, i) => ({
    transferId: `trf_test${number}${i}`,
    tenantId,
    kind: 'opening_balance' as const,
    debitAccountId: `bank:${tenantId}`,
    creditAccountId: `payable:${tenantId}`,
    amountPaise,
    objectId: 'x',
    createdAt: at,
    ...moves,
  }))
  return { ...journalOf(transfers[0]!), transfers, ...more }
}
/** By a login that may enter journals of every kind. */
const enter = (...made: Journal[]) =>
  asSuperuser(service.db.database, async (db) => {
    const written: Promise<unknown>[] = []
    const write: Writes['write'] = ({ text }, values) =>
      void written.push(db.query(text, [...(values ?? [])]))
    saveJournals({ write } as Writes, 'Asia/Kolkata', made)
    await Promise.all(written)
  })
const journalsNow = (ids: readonly string[]) =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query(
      `select journal_id, effective_date::text as day, reference, legs,
         (select sum(amount)::text from ledger_transfers t where t.journal_id = j.journal_id) as amount
       from journals j where journal_id = any ($1) order by journal_id`,
      [ids],
    )
    return rows
  })

test('a journal is entered with all its legs on its business day', async () => {
  const [one, other] = [
    newJournal({ reference: 'r1', at: new Date('2026-03-31T20:00:00Z') }, [2n, 3n]),
    newJournal({ effectiveDate: '2026-01-31' }),
  ]
  await enter(one, other)
  expect(await journalsNow([one.journalId, other.journalId])).toEqual([
    { journal_id: one.journalId, day: '2026-04-01', reference: 'r1', legs: 2, amount: '5' },
    { journal_id: other.journalId, day: '2026-01-31', reference: null, legs: 1, amount: '1' },
  ])
  expect((await books()).ok).toBe(true)
})

test('an external reference names one journal of a kind and tenant, and a journal is reversed once', async () => {
  const first = newJournal({ reference: 'once' })
  await enter(first)
  await expect(enter(newJournal({ reference: 'once' }))).rejects.toMatchObject({
    constraint: 'journals_one_per_reference',
  })
  const move = {
    kind: 'advance_repaid',
    creditAccountId: `merchant_advances:${merchant.merchantId}`,
  } as const
  await enter(newJournal({ reference: 'once', kind: move.kind }, [1n], move))
  const reversal = () => {
    const kind = 'journal_reversal'
    const made = newJournal({ kind, reverses: first.journalId, reason: 'entered by mistake' })
    const transfers = made.transfers.map((leg) => ({
      ...leg,
      kind: kind as 'journal_reversal',
      debitAccountId: leg.creditAccountId,
      creditAccountId: leg.debitAccountId,
    }))
    return { ...made, transfers }
  }
  await enter(reversal())
  await expect(enter(reversal())).rejects.toMatchObject({ constraint: 'journals_reversed_once' })
  await expect(enter(newJournal({ reverses: 'jrn_none' }))).rejects.toMatchObject({
    constraint: 'reversed_journal_is_the_tenants',
  })
  expect((await books()).ok).toBe(true)
})

test.each([
  ['a leg too few', 2, [1]],
  ['a leg too many', 1, [1, 2]],
  ['legs that are numbered otherwise', 2, [1, 3]],
  ['no journal', undefined, [1]],
])('PostgreSQL rejects transfers with %s, regardless of who writes them', async (_, legs, numbers) => {
  const { merchantId } = merchant
  const write = asSuperuser(service.db.database, async (db) => {
    await db.query('begin')
    if (legs !== undefined)
      await db.query(
        `insert into journals (tenant_id, journal_id, kind, effective_date, legs, at)
         values ($1, 'jrn_wrong', 'upi_credit', now(), $2, now())`,
        [merchantId, legs],
      )
    await db.query(
      `insert into ledger_transfers (transfer_id, tenant_id, journal_id, leg, kind, debit_account_id, credit_account_id,
         amount, unit, object_id, created_at)
       select 'trf_wrong' || leg, $1::text, 'jrn_wrong', leg, 'upi_credit', 'upi_clearing:' || $1, 'payable:' || $1, 1, 'INR', 'x', now()
       from unnest($2::integer[]) leg`,
      [merchantId, numbers],
    )
  })
  await expect(write).rejects.toMatchObject({ constraint: 'journals_are_whole' })
})

test('a balance below its minimum cannot be written, regardless of who writes it', async () => {
  const write = asSuperuser(service.db.database, (db) =>
    db.query(`update ledger_accounts set balance = -1 where account_id = 'payable:${merchant.merchantId}'`),
  )
  await expect(write).rejects.toThrow('balance_not_under_floor')
})

test('the check of the books may take longer than any request', async () => {
  const limited = statement<Difference>(
    'reconcile_time_limit',
    `select 'statement_timeout' as subject, setting as detail from pg_settings
     where name = 'statement_timeout' and setting <> '0'`,
  )
  const { database } = service.app.services
  const checks = [{ check: 'no statement of it is timed out', differences: limited }]
  expect((await reconcile(database, checks)).checks.at(-1)).toMatchObject({ differences: [] })
  expect(await database.report((tx) => tx.query(limited))).toHaveLength(1)
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
    // Its foreign keys would refuse it.
    `set session_replication_role = replica;
     update ledger_transfers set tenant_id = 'house' where object_id = (select payment_id from payments where utr = 'ACCEPTED01');
     set session_replication_role = origin`,
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
])('reconcile detects a violation of: %s', async (check, damage) => {
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
