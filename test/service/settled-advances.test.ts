import { accrueDueFees } from '@svc/core/payments/fees/accrue-fees'
import { sharesToSweep } from '@svc/core/payments/own-funds/shares'
import { formatRupees } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newReference, openApprovers, sqlOn } from '../harness/approvals.ts'
import { importLines } from '../harness/bank-statements.ts'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser, newOperator, PASSWORD } from '../harness/console.ts'
import { closeAs } from '../harness/disputes.ts'
import { newBilled, payAt } from '../harness/invoices.ts'
import { newUtr } from '../harness/qr-codes.ts'
import { balancesOf, brokenIn } from '../harness/refunds.ts'
import { CARD_RAIL_KEY, MASTER_KEY, RAIL_KEY, type TestService } from '../harness/service.ts'
import {
  advancesOf,
  balanceOn,
  exceptedOn,
  exceptionsOf,
  indebtedOn,
  payOn,
  payOut,
  settle,
} from '../harness/settled-outside.ts'

let service: TestService
let other: TestService
let asha: Browser
beforeAll(async () => {
  ;({ service, other, asha } = await openApprovers())
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
})

const advances = advancesOf
const exceptions = exceptionsOf
const balanceOf = (accountId: string) => balanceOn(service, accountId)
const indebted = (amount: number) => indebtedOn(service, amount)
const excepted = (message: 'taken' | 'given', amount: number) => exceptedOn(service, message, amount)

test('an advance that the merchant repaid to the bank is no longer deducted from any payout', async () => {
  const shop = await indebted(900)
  const bank = await balanceOf(`bank:${shop.merchantId}`)
  const over = await settle(asha, advances(shop), { amount: '900.01' })
  expect(over.error).toBe('balance_not_open')
  expect((await settle(asha, advances(shop), { amount: '600.00' })).json.open).toBe('300.00')
  expect(Number(await balanceOf(`bank:${shop.merchantId}`))).toBe(Number(bank) - 600_00)
  await payOn(service, shop, 1_000)
  const payout = await payOut(service, shop)
  expect(payout).toMatchObject({
    paymentPaise: 1_000_00n,
    refundPaise: 900_00n,
    adjustmentPaise: 600_00n,
    advancePaise: 300_00n,
    amountPaise: 700_00n,
  })
  const { data } = payloadOf(await shop.client.get(`/api/v0/payouts/${payout!.payoutId}/lines`))
  expect(data).toContainEqual(
    expect.objectContaining({ kind: 'advance_settled', amount: 600, journalId: expect.any(String) }),
  )
  expect(await balancesOf(service, shop.merchantId)).not.toHaveProperty('merchant_advances')
  expect(await balancesOf(service, shop.merchantId)).not.toHaveProperty('payable')
  expect(await brokenIn(service)).toEqual([])
})

test('an incorrectly entered repayment is reversed, and a payout that included it counts it back', async () => {
  const shop = await indebted(500)
  const reference = newReference()
  const { journalId } = (await settle(asha, advances(shop), { amount: '500.00', reference })).json
  await payOn(service, shop, 800)
  expect(await payOut(service, shop)).toMatchObject({ amountPaise: 800_00n, advancePaise: 0n })
  const reversed = await asha.post(`/ledger/journals/${journalId}/reverse`, { reason: 'of another merchant' })
  expect(reversed.json).toMatchObject({ kind: 'journal_reversal', reverses: journalId })
  expect(await balanceOf(advances(shop))).toBe('-50000')
  expect(await brokenIn(service)).toEqual([])
  await payOn(service, shop, 600)
  expect(await payOut(service, shop)).toMatchObject({ amountPaise: 100_00n, advancePaise: 500_00n })
  expect(await balanceOf(advances(shop))).toBe('0')
  // Reversed before a payout has it, it is in none.
  const other = await indebted(100)
  const again = (await settle(asha, advances(other), { amount: '100.00' })).json.journalId
  await asha.post(`/ledger/journals/${again}/reverse`, { reason: 'twice' })
  await payOn(service, other, 300)
  expect(await payOut(service, other)).toMatchObject({ amountPaise: 200_00n, adjustmentCount: 0 })
  expect((await settle(asha, advances(shop), { amount: '1.00', reference })).error).toBe('balance_not_open')
})

test('a write-off goes to the write-off account, not to the bank or the network', async () => {
  const shop = await indebted(70)
  const partner = await excepted('taken', 35)
  for (const [accountId, amount, tenantId] of [
    [advances(shop), '70.00', shop.merchantId],
    [exceptions(partner), '35.00', partner.partnerId],
  ] as const) {
    const { json } = await settle(asha, accountId, { amount, outcome: 'WRITTEN_OFF' })
    expect(json).toMatchObject({ open: '0.00' })
    expect(await balanceOf(`write_offs:${tenantId}`)).toBe(String(-Number(amount) * 100))
  }
  await payOn(service, shop, 100)
  expect(await payOut(service, shop)).toMatchObject({ amountPaise: 100_00n, advancePaise: 0n })
})

test('a payout run pays a merchant whose only money is an advance in its favour, and the open balance names the run', async () => {
  const { name } = await newOperator(service, 'admin')
  const env = {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    SVC_OPERATOR: name,
    SVC_OPERATOR_PASSWORD: PASSWORD,
  }
  const cli = (...args: string[]) => runHere(['admin', ...args], env)
  const shop = await indebted(60)
  await payOn(service, shop, 100)
  expect(await payOut(service, shop)).toMatchObject({ amountPaise: 40_00n })
  await closeAs(service, shop.disputeId, 'WON')
  expect(await balancesOf(service, shop.merchantId)).toMatchObject({ merchant_advances: '6000' })
  expect(await balancesOf(service, shop.merchantId)).not.toHaveProperty('payable')
  await cli('tenant', 'close', shop.merchantId, '--reason', 'contract ended')
  const open = await cli('tenant', 'closing', shop.merchantId)
  expect(open.stdout).toMatch(/advances_in_credit +60\.00 +svc admin payout run/)
  expect(open.stdout).not.toContain('books settle')
  const twoDaysAgo = calendarDay(new Date(Date.now() - 2 * 86_400_000), 'Asia/Kolkata')
  const run = await cli('payout', 'run', '--date', twoDaysAgo, '--json')
  expect(run.code, run.stderr).toBe(0)
  expect(JSON.parse(run.stdout)).toContainEqual({
    merchantId: shop.merchantId,
    payoutId: expect.stringMatching(/^pyo_/),
    amount: '60.00',
  })
  expect(await balancesOf(service, shop.merchantId)).not.toHaveProperty('merchant_advances')
})

test('accrued fees that a merchant paid to the bank are ours to sweep, and its payout gives back what it deducts', async () => {
  const of = await newBilled(service, '29')
  await payAt(service, of, 300, new Date(Date.now() - 2 * 86_400_000).toISOString())
  await accrueDueFees(service.app.services)
  const [fees, bank] = [`accrued_fees:${of.merchantId}`, `bank:${of.merchantId}`]
  const open = 0 - Number(await balanceOf(fees))
  expect(open).toBeGreaterThan(2_00)
  const before = Number(await balanceOf(bank))
  expect((await settle(asha, fees, { amount: formatRupees(BigInt(open + 1)) })).error).toBe(
    'balance_not_open',
  )
  const wrong = (await settle(asha, fees, { amount: '1.00' })).json
  expect(Number(await balanceOf(bank))).toBe(before - 1_00)
  expect(await brokenIn(service)).toEqual([])
  // Taken back as long as no payout has it.
  await asha.post(`/ledger/journals/${wrong.journalId}/reverse`, { reason: 'of another merchant' })
  expect(Number(await balanceOf(fees))).toBe(-open)
  const paid = (await settle(asha, fees, { amount: '2.00' })).json
  const rest = formatRupees(BigInt(open - 2_00))
  expect((await settle(asha, fees, { amount: rest, outcome: 'WRITTEN_OFF' })).json.open).toBe('0.00')
  expect(await balanceOf(`write_offs:${of.merchantId}`)).toBe(String(-(open - 2_00)))
  expect(await toSweep(of.merchantId)).toBe(2_00n)
  expect(await brokenIn(service)).toEqual([])
  const payout = await payOut(service, of)
  expect(payout).toMatchObject({
    settledFeesPaise: BigInt(open),
    adjustmentPaise: BigInt(open),
    amountPaise: 300_00n,
  })
  const lines = await sqlOn<Json>(
    service,
    `select object_id as id, amount_paise as amount from payout_lines where payout_id = $1 and kind = 'fees_settled' order by 2`,
    [payout!.payoutId],
  )
  expect(lines).toContainEqual({ id: paid.journalId, amount: '200' })
  expect(lines).toHaveLength(2)
  expect([await balanceOf(fees), await toSweep(of.merchantId)]).toEqual(['0', 2_00n])
  const late = await asha.post(`/ledger/journals/${paid.journalId}/reverse`, {
    reason: 'of another merchant',
  })
  expect(late.text).toContain(payout!.payoutId)
  expect(await brokenIn(service)).toEqual([])
})

const UNMATCHED = [
  ['settlement_unmatched:house', '/rails/upi/settlements', RAIL_KEY, 'payment', 'refund', 'bank:house'],
  [
    'network_unmatched:house',
    '/rails/cards/settlements',
    CARD_RAIL_KEY,
    'refund',
    'capture',
    'ppi_bank:house',
  ],
] as const
test.each(UNMATCHED)(
  'what is open of %s is paid back, or given up: an expense where it is owed to us, income where it is not',
  async (accountId, path, key, credit, debit, bank) => {
    const stated = async (kind: string, amount: string) => {
      const lines = [{ kind, reference: newUtr(), amount }]
      const valueDate = calendarDay(new Date(), 'Asia/Kolkata')
      const batch = { batchUtr: newUtr(), valueDate, netAmount: amount, lines }
      payloadOf(await service.client.notify(path, batch, key))
    }
    await endsOnBothSides(accountId, bank, {
      ofOurs: () => stated(debit, '-12.00'),
      ofTheirs: () => stated(credit, '12.00'),
    })
  },
)

test('what is open of bank exceptions is paid back by the bank of any account, or given up', async () => {
  await importLines(service, [-12_00, 12_00])
  const lines = await sqlOn<{ id: string }>(
    service,
    `select line_id as id from statement_lines order by amount_paise`,
  )
  const excepted = async (i: number) => {
    const { status } = await asha.post(`/statement-lines/${lines[i]!.id}/resolve`, {
      as: 'exception',
      reason: 'not known',
    })
    expect(status).toBe(200)
  }
  await endsOnBothSides('bank_exceptions:house', 'own_funds:house', {
    ofOurs: () => excepted(0),
    ofTheirs: () => excepted(1),
    against: 'own_funds',
  })
  const named = await settle(asha, advances(await indebted(10)), { amount: '1.00', against: 'own_funds' })
  expect([named.error, named.text]).toEqual(['account_not_settled', expect.stringContaining('against bank')])
  const givenUp = { amount: '1.00', outcome: 'WRITTEN_OFF', against: 'bank' } as const
  const refused = await settle(asha, advances(await indebted(10)), givenUp)
  expect([refused.error, refused.text]).toEqual([
    'account_not_settled',
    expect.stringContaining('no account'),
  ])
})

interface BothSides {
  /** Each opens 12.00: of what is owed to us, of what we owe. */
  readonly ofOurs: () => Promise<void>
  readonly ofTheirs: () => Promise<void>
  readonly against?: string
}
async function endsOnBothSides(accountId: string, bank: string, { ofOurs, ofTheirs, against }: BothSides) {
  const ends = async (open: () => Promise<void>, to: string, sign: 1 | -1) => {
    await open()
    const before = [await balanceOf(bank), (await balanceOf(to)) ?? 0].map(Number)
    const more = against === undefined ? {} : { against }
    const { open: stated } = (await asha.get(`/ledger/accounts/${accountId}`)).json
    expect(stated).toMatchObject({ amount: '12.00', owedTo: sign > 0 ? 'us' : stated.by })
    expect(stated.against?.includes(against)).toBe(against && true)
    const first = await settle(asha, accountId, { amount: '5.00', ...more })
    expect([first.status, first.json]).toMatchObject([200, { open: '7.00' }])
    const taken = (await settle(asha, accountId, { amount: '7.00', outcome: 'WRITTEN_OFF' })).json
    expect(taken.open).toBe('0.00')
    await asha.post(`/ledger/journals/${taken.journalId}/reverse`, { reason: 'it is claimed' })
    expect((await settle(asha, accountId, { amount: '7.01', outcome: 'WRITTEN_OFF' })).error).toBe(
      'balance_not_open',
    )
    expect((await settle(asha, accountId, { amount: '7.00', outcome: 'WRITTEN_OFF' })).json.open).toBe('0.00')
    const after = [await balanceOf(bank), await balanceOf(to)].map(Number)
    expect(after.map((each, i) => each - before[i]!)).toEqual([sign * -5_00, sign * -7_00])
    expect(await brokenIn(service)).toEqual([])
  }
  await ends(ofOurs, 'write_offs:house', 1)
  await ends(ofTheirs, 'other_income:house', -1)
}

/** What of fees a sweep would move for a merchant. */
async function toSweep(merchantId: string): Promise<bigint | undefined> {
  const today = calendarDay(new Date(), 'Asia/Kolkata')
  const shares = await service.app.services.database.operate((tx) => sharesToSweep(tx, today))
  return shares.find(({ tenantId }) => tenantId === merchantId)?.paise
}
