import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newReference, openApprovers } from '../harness/approvals.ts'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { type Browser, newOperator, PASSWORD } from '../harness/console.ts'
import { closeAs } from '../harness/disputes.ts'
import { balancesOf, brokenIn } from '../harness/refunds.ts'
import { MASTER_KEY, type TestService } from '../harness/service.ts'
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
  const { name } = await newOperator(service, 'finance')
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
  const yesterday = calendarDay(new Date(Date.now() - 86_400_000), 'Asia/Kolkata')
  const run = await cli('payout', 'run', '--date', yesterday, '--json')
  expect(run.code, run.stderr).toBe(0)
  expect(JSON.parse(run.stdout)).toContainEqual({
    merchantId: shop.merchantId,
    payoutId: expect.stringMatching(/^pyo_/),
    amount: '60.00',
    result: 'prepared',
  })
  expect(await balancesOf(service, shop.merchantId)).not.toHaveProperty('merchant_advances')
})
