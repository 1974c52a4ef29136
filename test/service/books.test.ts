import { join, resolve } from 'node:path'
import { expireDueCoins } from '@svc/core/coins/expire-coins'
import { accountStatement, liabilities, type StatementLine, trialBalance } from '@svc/core/ledger/books'
import { type AccountKind, kindOf } from '@svc/core/ledger/chart-of-accounts'
import { formatRupees, paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { notifyTransfer, numberOf, transferTo, withdraw } from '../harness/bank-rail.ts'
import { Terminal } from '../harness/card-rail.ts'
import { runHere } from '../harness/cli.ts'
import { type Client, payloadOf } from '../harness/client.ts'
import { COINS, newConfig, newUsers } from '../harness/coins.ts'
import { merchantFlows } from '../harness/merchant-flows.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { cancel, creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import {
  asSuperuser,
  MASTER_KEY,
  openService,
  RAIL_KEY,
  type TestMerchant,
  type TestService,
} from '../harness/service.ts'
import { recordSettlement } from '../harness/settlements.ts'

// The flows of the reference, each as it happens here. `npm run generate:books` records them anew.
const RECORDED = join(resolve(import.meta.dirname, '../..'), 'docs/reference/flows.md')

let service: TestService
let merchant: TestMerchant
let shop: Client
let partner: TestPartner
let issuer: Client
beforeAll(async () => {
  // Without the simulated bank, which would return refused credits meanwhile.
  service = await openService({ background: false })
  merchant = await service.newMerchant()
  shop = await service.as(merchant)
})
afterAll(() => service.close())

const report = <T>(work: (tx: Tx) => Promise<T>) =>
  service.app.services.database.report(work, 'repeatable read')

interface Leg {
  debit: AccountKind
  credit: AccountKind
  amount: string
  unit: string
}

let seen: string[] = []
/** What moved since the last time, leg by leg. */
async function moved(): Promise<Leg[]> {
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query<Leg & { id: string }>(
      `select t.transfer_id as id, d.kind as debit, c.kind as credit, t.amount::text as amount, t.unit
       from ledger_transfers t
         join ledger_accounts d on d.account_id = t.debit_account_id
         join ledger_accounts c on c.account_id = t.credit_account_id
       where t.transfer_id <> all ($1) order by t.created_at, t.tenant_id <> 'house', t.kind <> 'fee_accrual', t.journal_id, t.leg`,
      [seen],
    ),
  )
  seen = [...seen, ...rows.map(({ id }) => id)]
  return rows
}

const amountText = ({ amount, unit }: Leg) =>
  unit === 'INR' ? formatRupees(BigInt(amount)) : `${amount} coins`

async function flow(title: string, work: () => Promise<unknown>): Promise<string> {
  await moved()
  await work()
  const legs = await moved()
  expect(legs, title).not.toEqual([])
  const rows = legs.flatMap((leg) => [
    `| ${kindOf(leg.debit).title} | ${amountText(leg)} | |`,
    `| ${kindOf(leg.credit).title} | | ${amountText(leg)} |`,
  ])
  return `## ${title}\n\n| Account | Debit | Credit |\n|---|---:|---:|\n${rows.join('\n')}\n`
}

const credit = async (tr: string, rest: object = {}) =>
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 249.5, ...rest })))
const confirmRefund = async (utr: string) =>
  payloadOf(await service.client.notify('/rails/upi/refunds', { utr }, RAIL_KEY))
let refundId = ''
async function refund(referenceNumber: string, amount: number): Promise<void> {
  const [{ paymentId }] = payloadOf(await shop.get('/api/v0/payments')).data
  const request = { amount, referenceNumber }
  ;({ refundId } = payloadOf(await shop.post(`/api/v0/payments/${paymentId}/refunds`, request)))
}
const refunded = async (status: string) =>
  payloadOf(await service.client.notify('/rails/upi/refunds', { refundId, status }, RAIL_KEY))
const atCard = async (path: string, amount: number) =>
  payloadOf(
    await service.client.post(`/sandbox/cards/${path}`, {
      amount,
      ...(path.endsWith('spend') && { channel: 'pos' }),
    }),
  )

/** An authorisation alone moves nothing: it holds. */
async function cardRailFlows(svcCardId: string): Promise<string[]> {
  const { token } = payloadOf(await issuer.get(`/api/v0/partner/svcCard/${svcCardId}`))
  const terminal = new Terminal(service.client, token)
  const { authorizationId } = await terminal.authorize(100)
  let captureId = ''
  return [
    await flow('The card network captures an authorisation', async () => {
      ;({ messageId: captureId } = await terminal.capture(100, { authorizationId }))
    }),
    await flow('It refunds more than the capture', () => terminal.refund(120, { captureId })),
    await flow('It captures more than the card has, by a forced post', () =>
      terminal.advise('forced_post', 450),
    ),
    ...(await bankTransferFlows()),
  ]
}

async function bankTransferFlows(): Promise<string[]> {
  const leaving = await newPartner(service, { fundsPaise: 0n })
  const transfer = transferTo(await numberOf(service, leaving))
  return [
    await flow('The bank notifies a transfer to a card account', async () =>
      payloadOf(await notifyTransfer(service.client, transfer)),
    ),
    await flow('What is left on a card account is paid back to its partner', () =>
      withdraw(service, leaving, 400_00n),
    ),
  ]
}

test('each flow moves money between the accounts stated in the reference', async () => {
  const code = await newCode(service, shop, { multipleUse: true })
  const cancelled = await newCode(service, shop)
  payloadOf(await cancel(shop, cancelled.qrCodeId))
  let [svcCardId, userId, event] = ['', '', '']
  const flows = [
    await flow('A payment is accepted', () => credit(code.tr)),
    await flow('The bank has paid for a payment', async () => {
      const { utr } = await credit((await newCode(service, shop)).tr, { utr: 'SETTLED001' })
      await moved()
      const lines = [{ utr, line: 1, amountPaise: paise(249_50n), settledOn: '2026-04-01' }]
      await recordSettlement(service.app.services.commands, 'stf_example', lines)
    }),
    await flow('The merchant refunds a part of it to the payer', () => refund('1', 49.5)),
    await flow('The bank has made the refund', () => refunded('REFUNDED')),
    await flow('The merchant refunds another part', () => refund('2', 100)),
    await flow('The bank cannot make that refund', () => refunded('FAILED')),
    await flow('A credit for a cancelled QR code arrives', () => credit(cancelled.tr, { utr: 'LATE000001' })),
    await flow('The bank has returned it to its payer', () => confirmRefund('LATE000001')),
    await flow('A credit arrives that fits no QR code', () =>
      credit('NOSUCHCODE', { utr: 'LOST000001', payeeVpa: merchant.vpa }),
    ),
    await flow('The bank has returned it to its payer, out of suspense', () => confirmRefund('LOST000001')),
    ...(await merchantFlows({ service, merchant, flow, credit })),
    await flow('A card account is funded', async () => {
      partner = await newPartner(service, { fundsPaise: 1_000_00n })
      issuer = await asPartner(service.client, partner)
    }),
    await flow('A gift card is issued', async () => {
      ;({ svcCardId } = payloadOf(await createCard(issuer, partner, { loadAmount: 500 })))
    }),
    await flow('The card is spent from', () => atCard(`${svcCardId}/spend`, 120.5)),
    await flow('A shop refunds a part of it', () => atCard(`${svcCardId}/refund`, 20)),
    ...(await cardRailFlows(svcCardId)),
    await flow('Coins are awarded', async () => {
      ;[userId] = (await newUsers(service, partner, 1)) as [string]
      ;({ event } = await newConfig(issuer, { amount: 25, coinsExpireAfterDays: 10 }))
      const { companyId } = partner
      payloadOf(await issuer.post(`${COINS}/allocate`, { requestId: 'award-1', userId, event, companyId }))
    }),
    await flow('Coins are redeemed', async () =>
      payloadOf(await issuer.post(`${COINS}/redeem`, { requestId: 'redeem-1', userId, amount: 10 })),
    ),
    await flow('Coins expire', async () => {
      await asSuperuser(service.db.database, (db) =>
        db.query(`update coin_lots set expires_at = now() - interval '1 minute'`),
      )
      await expireDueCoins(service.app.services)
    }),
  ]
  const text = `# Flows of money

<!-- Recorded from the service by \`npm run generate:books\`; do not edit. -->

What each event enters in the ledger, as T-accounts. [The chart of accounts](chart-of-accounts.md) says what each account is for.

${flows.join('\n')}`
  await expect(text).toMatchFileSnapshot(RECORDED)
})

test('in the trial balance debits equal credits in each unit; as of a past instant it shows what it showed then', async () => {
  const databaseNow = () =>
    asSuperuser(
      service.db.database,
      async (db) => (await db.query('select clock_timestamp() as at')).rows[0].at,
    )
  const before = await report((tx) => trialBalance(tx))
  const owed = await report((tx) => liabilities(tx))
  const asOf: Date = await databaseNow()
  const code = await newCode(service, await service.as(merchant), { multipleUse: true })
  await credit(code.tr)
  await createCard(issuer, partner, { loadAmount: 30 })
  const now = await report((tx) => trialBalance(tx))
  for (const lines of [before, now])
    for (const unit of ['INR', 'COIN']) {
      const of = lines.filter((line) => line.unit === unit)
      const sum = (side: 'debit' | 'credit') => of.reduce((total, line) => total + line[side], 0n)
      expect(sum('debit')).toBe(sum('credit'))
      expect(sum('debit')).toBeGreaterThan(0n)
    }
  expect(now).not.toEqual(before)
  expect(await report((tx) => trialBalance(tx, { asOf }))).toEqual(before)
  expect(await report((tx) => liabilities(tx, { asOf }))).toEqual(owed)
  const { merchantId: tenantId } = merchant
  expect(await report((tx) => liabilities(tx, { tenantId }))).toEqual([
    { tenantId, kind: 'output_cgst', amountPaise: 45n },
    { tenantId, kind: 'output_sgst', amountPaise: 45n },
    { tenantId, kind: 'payable', amountPaise: 998_00n },
  ])
})

test('an account created a moment after its first transfer counts at an instant in between', async () => {
  const asOf = new Date()
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `update ledger_accounts set created_at = $1::timestamptz + interval '1 second' where kind = 'payable'`,
      [asOf],
    ),
  )
  expect(await report((tx) => trialBalance(tx, { asOf }))).toEqual(await report((tx) => trialBalance(tx)))
})

test('an account’s statement runs from its opening to its closing balance, in pages of any size and for any period', async () => {
  const accountId = `card_funding:${partner.cardAccountId}`
  const period = { accountId, from: new Date(0), to: new Date(Date.now() + 60_000) }
  const whole = await report((tx) => accountStatement(tx, { ...period, limit: 100 }))
  expect(whole!.opening).toBe(0n)
  expect(whole!.lines.map(({ kind, debit, credit, balance }) => [kind, debit, credit, balance])).toEqual([
    ['card_funding', 0n, 1_000_00n, 1_000_00n],
    ['card_load', 500_00n, 0n, 500_00n],
    ['card_load', 30_00n, 0n, 470_00n],
  ])
  expect(whole!.closing).toBe(470_00n)
  const paged: StatementLine[] = []
  for (let after: StatementLine | undefined; ; after = paged.at(-1)) {
    const page = await report((tx) => accountStatement(tx, { ...period, limit: 1, after }))
    paged.push(...page!.lines)
    if (!page!.hasMore) break
  }
  expect(paged).toEqual(whole!.lines)
  const [, second] = whole!.lines
  const later = await report((tx) => accountStatement(tx, { ...period, from: second!.at, limit: 100 }))
  expect(later).toMatchObject({ opening: 1_000_00n, closing: 470_00n, lines: whole!.lines.slice(1) })
  expect(
    await report((tx) => accountStatement(tx, { ...period, accountId: 'card:none', limit: 1 })),
  ).toBeUndefined()
})

test('svc admin books prints the same as a table, as CSV and as JSON; an asset’s balance has no minus sign', async () => {
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const books = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHere(['admin', 'books', ...args], env)
    expect(code, stderr).toBe(0)
    return stdout
  }
  expect(await books('trial-balance', '--tenant', merchant.merchantId)).toBe(
    `account              kind                accounts  unit  debit    credit
UPI clearing         upi_clearing        1         INR   699.00
Escrow of merchants  bank                1         INR   55.39
Accrued fees         accrued_fees        1         INR
Payable to merchant  payable             1         INR            998.00
Refunds to payers    upi_refunds         1         INR
Suspense             suspense            1         INR
Disputed payments    disputes            1         INR
Between tenants      inter_tenant        1         INR   249.50
Payouts in transit   payouts_in_transit  1         INR
Fee income           fee_income          1         INR            4.99
Output CGST          output_cgst         1         INR            0.45
Output SGST          output_sgst         1         INR            0.45
Output IGST          output_igst         1         INR
Total                                              INR   1003.89  1003.89
`,
  )
  expect(await books('liabilities', '--tenant', merchant.merchantId, '--csv')).toBe(
    `tenantId,account,kind,amount\r\n${merchant.merchantId},"Output CGST",output_cgst,0.45\r\n${merchant.merchantId},"Output SGST",output_sgst,0.45\r\n${merchant.merchantId},"Payable to merchant",payable,998.00\r\n`,
  )
  const lines = JSON.parse(await books('statement', `upi_clearing:${merchant.merchantId}`, '--json'))
  expect(lines.at(0)).toMatchObject({ what: 'Opening balance', balance: '0.00' })
  expect(lines.at(1)).toMatchObject({ debit: '249.50', credit: '', balance: '249.50' })
  expect(lines.at(-1)).toMatchObject({ what: 'Closing balance', balance: '699.00' })
  const wrong = await runHere(['admin', 'books', 'trial-balance', '--as-of', '2026-04-01'], env)
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('with a time zone') })
})
