import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { giveAccount, giveFee, preparePayoutOf } from '../harness/payouts.ts'
import { memberBrowser } from '../harness/portal.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

test('a member sees the fee and GST of a payment before its payout as after it, and its payout then', async () => {
  const merchant = await service.newMerchant()
  await giveAccount(service, merchant.merchantId)
  await giveFee(service, merchant.merchantId, { basisPoints: 200, fixedPaise: 100n })
  const code = await newCode(service, await service.as(merchant), { multipleUse: true, qrName: 'Counter 1' })
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(code.tr, { amount: 1_000 })))
  const member = await memberBrowser(service, merchant.merchantId, 'viewer')
  const shown = async () => (await member.get(`/payments/${paymentId}/arrival`)).json
  const charged = { fee: '21.00', tax: '3.78', net: '975.22' }
  expect(await shown()).toEqual({ qrName: 'Counter 1', arrival: charged, disputes: [] })
  const payoutId = await preparePayoutOf(service, merchant.merchantId)
  expect((await shown()).arrival).toMatchObject({ ...charged, payout: { payoutId, status: 'PREPARED' } })
  const stranger = await memberBrowser(service, (await service.newMerchant()).merchantId, 'viewer')
  expect((await stranger.get(`/payments/${paymentId}/arrival`)).error).toBe('payment_not_found')
})
