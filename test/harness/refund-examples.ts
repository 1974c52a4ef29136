import { type Client, payloadOf } from './client.ts'
import { recordClock } from './clock-examples.ts'
import { recordDisputes } from './dispute-examples.ts'
import { recordPayouts } from './payout-examples.ts'
import { giveAccount } from './payouts.ts'
import type { Recorder } from './recorder.ts'
import type { TestMerchant, TestService } from './service.ts'
import { recordTaxDocuments } from './tax-document-examples.ts'

/** Examples of refunds of a payment, and of payouts. */
interface MoneyOut {
  readonly service: TestService
  readonly merchant: TestMerchant
  readonly shop: Client
  readonly paymentId: string
}

export async function recordMoneyOut(
  recorder: Recorder,
  { service, merchant, shop, paymentId }: MoneyOut,
): Promise<void> {
  await recordRefunds(recorder, shop, paymentId)
  await recordDisputes(recorder, { service, shop, paymentId })
  await giveAccount(service, merchant.merchantId)
  await recordPayouts(recorder, shop)
  await recordTaxDocuments(recorder, { service, merchant, shop })
  await recordClock(recorder, service)
}

async function recordRefunds(recorder: Recorder, shop: Client, paymentId: string): Promise<void> {
  const params = { paymentId }
  const body = { amount: 49.5, referenceNumber: 'return-17', reason: 'Damaged in transit' }
  await recorder.works('createRefund', 'A part of a payment', shop, { params, body })
  await recorder.fails('createRefund', 'refund_reference_in_use', 'The reference of another refund', shop, {
    params,
    body: { ...body, amount: 50 },
  })
  await recorder.fails('createRefund', 'refund_over_payment', 'More than is left', shop, {
    params,
    body: { amount: 1e5, referenceNumber: 'return-18' },
  })
  await recorder.works('listRefunds', 'Of one payment', shop, { params })
  await recorder.works('findRefunds', 'Of all payments, only open ones', shop, {
    query: { status: 'PENDING' },
  })
  const [{ refundId }] = payloadOf(await shop.get(`/api/v0/payments/${paymentId}/refunds`)).data
  await recorder.works('getRefund', 'One refund', shop, { params: { paymentId, refundId } })
  const none = { paymentId, refundId: 'rfd_nothing' }
  await recorder.fails('getRefund', 'refund_not_found', 'Not there, or not yours', shop, { params: none })
  await recorder.fails('listRefunds', 'payment_not_found', 'Not there, or not yours', shop, {
    params: { paymentId: 'pay_nothing' },
  })
}
