import { adjustPayment } from '@svc/core/payments/adjustments/adjust-payment'
import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newReference, sqlOn } from '../harness/approvals.ts'
import { utrOf } from '../harness/disputes.ts'
import { operatorsOf } from '../harness/operators.ts'
import { balancesOf, brokenIn, type Shop, shopWith } from '../harness/refunds.ts'
import { openService, type TestService } from '../harness/service.ts'
import { recordSettlement } from '../harness/settlements.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  service = await openService({ background: false })
  other = await openService({ background: false, db: service.db })
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
})

const adjust = ({ merchantId, paymentId }: Shop, amount: bigint, on = service) =>
  operatorsOf(on.app.services.commands)
    .open(adjustPayment)
    .run({
      merchantId,
      paymentId,
      amountPaise: paise(amount),
      reference: newReference(),
      reason: 'letter of the bank',
    })

const times = (status: string, count: number) => Array.from({ length: count }, () => status)

/** Imports a file with one line for each of these payments of a merchant. */
async function imported(name: string, lines: readonly (readonly [Shop, bigint])[], on = service) {
  const { merchantId } = lines[0]![0]
  const settledOn = calendarDay(new Date(), 'Asia/Kolkata')
  const { matched, differing, unknown, conflicting, repeated } = await recordSettlement(
    on.app.services.commands,
    `stf_${name}_${merchantId}`,
    await Promise.all(
      lines.map(async ([{ paymentId }, amount], i) => ({
        utr: await utrOf(service, paymentId),
        line: i + 1,
        amountPaise: paise(amount),
        settledOn,
      })),
    ),
  )
  const recorded = [
    ...times('DIFFERS', differing),
    ...times('MATCHED', matched),
    ...times('UNKNOWN', unknown),
  ]
  return { recorded, conflicting: conflicting.length, repeated }
}

const statusOf = async ({ paymentId }: Shop) =>
  (
    await sqlOn<{ status: string; amount: string }>(
      service,
      'select status, amount_paise::text as amount from settlement_lines where payment_id = $1',
      [paymentId],
    )
  )[0]

test('an adjustment to a line that the bank corrects later is undone by another adjustment, which settles the payment', async () => {
  const shop = await shopWith(service, 2_495)
  expect((await imported('first', [[shop, 249_50n]])).recorded).toEqual(['DIFFERS'])
  await adjust(shop, 249_50n)
  expect(await balancesOf(service, shop.merchantId)).toEqual({ bank: '-24950', payable: '24950' })
  expect((await imported('second', [[shop, 2_495_00n]])).recorded).toEqual(['DIFFERS'])
  expect(await statusOf(shop)).toEqual({ status: 'DIFFERS', amount: '249500' })
  expect(await balancesOf(service, shop.merchantId)).toEqual({ upi_clearing: '-24950', payable: '24950' })
  expect(await brokenIn(service)).toEqual([])
  for (const file of ['first', 'second'] as const) {
    const again = await imported(file, [[shop, file === 'first' ? 249_50n : 2_495_00n]])
    expect(again).toEqual({ recorded: [], conflicting: 0, repeated: 1 })
  }
  await adjust(shop, 2_495_00n)
  expect(await statusOf(shop)).toEqual({ status: 'MATCHED', amount: '249500' })
  expect(await balancesOf(service, shop.merchantId)).toEqual({ bank: '-249500', payable: '249500' })
  await expect(adjust(shop, 249_50n)).rejects.toMatchObject({ code: 'adjustment_refused' })
})

test('a line that matched a previously adjusted amount is withdrawn alone, not with the others of its file', async () => {
  const shop = await shopWith(service, 100)
  const { client, merchantId } = shop
  const code = (await client.post('/api/v0/qr-code', { multipleUse: true })).json.payload
  const paid = (await client.post('/sandbox/upi/pay', { qrCodeId: code.qrCodeId, amount: 40 })).json.payload
  const second: Shop = { ...shop, paymentId: paid.payment.paymentId }
  await adjust(shop, 90_00n)
  const first = [
    [shop, 90_00n],
    [second, 40_00n],
  ] as const
  expect((await imported('both', first)).recorded).toEqual(['MATCHED', 'MATCHED'])
  expect((await imported('later', [[shop, 100_00n]])).recorded).toEqual(['DIFFERS'])
  expect(await balancesOf(service, merchantId)).toMatchObject({ bank: '-4000', upi_clearing: '-9000' })
  expect(await imported('both', first)).toEqual({ recorded: [], conflicting: 0, repeated: 2 })
  await adjust(shop, 100_00n)
  expect(await balancesOf(service, merchantId)).toEqual({ bank: '-14000', payable: '14000' })
})

test('a file that corrects a line and an adjustment that reverts it, in two processes at once, end with one settlement', async () => {
  for (let round = 0; round < 10; round++) {
    const shop = await shopWith(service, 100)
    await imported('first', [[shop, 10_00n]])
    await adjust(shop, 10_00n)
    await Promise.allSettled([
      imported('second', [[shop, 100_00n]]),
      imported('second', [[shop, 100_00n]], other),
      adjust(shop, 100_00n, other),
    ])
    if ((await statusOf(shop))!.status === 'DIFFERS') await adjust(shop, 100_00n)
    expect(await balancesOf(service, shop.merchantId)).toEqual({ bank: '-10000', payable: '10000' })
  }
})

test('a payment that was never adjusted keeps its settlement, whatever a later file contains', async () => {
  const shop = await shopWith(service, 50)
  await imported('first', [[shop, 50_00n]])
  expect(await imported('second', [[shop, 49_00n]])).toEqual({ recorded: [], conflicting: 1, repeated: 0 })
  expect(await balancesOf(service, shop.merchantId)).toEqual({ bank: '-5000', payable: '5000' })
})

test('a line that differed and was corrected changes nothing when its file is imported again, nor does the file that corrected it', async () => {
  const shop = await shopWith(service, 100)
  await adjust(shop, 120_00n)
  expect((await imported('old', [[shop, 100_00n]])).recorded).toEqual(['DIFFERS'])
  expect((await imported('new', [[shop, 120_00n]])).recorded).toEqual(['MATCHED'])
  for (const [file, amount] of [
    ['old', 100_00n],
    ['new', 120_00n],
    ['old', 100_00n],
  ] as const)
    expect(await imported(file, [[shop, amount]])).toEqual({ recorded: [], conflicting: 0, repeated: 1 })
  expect(await statusOf(shop)).toEqual({ status: 'MATCHED', amount: '12000' })
  expect(await balancesOf(service, shop.merchantId)).toEqual({ bank: '-12000', payable: '12000' })
})

test('a file that corrects its own line changes nothing when it is imported again', async () => {
  const shop = await shopWith(service, 100)
  await adjust(shop, 120_00n)
  const lines = [
    [shop, 100_00n],
    [shop, 120_00n],
  ] as const
  expect((await imported('both', lines)).recorded).toEqual(['DIFFERS', 'MATCHED'])
  expect(await imported('both', lines)).toEqual({ recorded: [], conflicting: 0, repeated: 2 })
  expect(await statusOf(shop)).toEqual({ status: 'MATCHED', amount: '12000' })
})

test('two imports of an old file and the new one, in two processes at once, end with the line that matches', async () => {
  for (let round = 0; round < 10; round++) {
    const shop = await shopWith(service, 100)
    await adjust(shop, 120_00n)
    await imported('old', [[shop, 100_00n]])
    await Promise.all([
      imported('new', [[shop, 120_00n]], other),
      imported('old', [[shop, 100_00n]]),
      imported('old', [[shop, 100_00n]], other),
    ])
    expect(await statusOf(shop)).toEqual({ status: 'MATCHED', amount: '12000' })
    expect(await balancesOf(service, shop.merchantId)).toEqual({ bank: '-12000', payable: '12000' })
  }
})
