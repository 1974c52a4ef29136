import { type Client, payloadOf } from './client.ts'
import type { Recorder } from './recorder.ts'

/** Examples of a merchant's payouts, which the sandbox makes. */
export async function recordPayouts(recorder: Recorder, shop: Client): Promise<void> {
  await recorder.works('sandboxPayOut', 'Everything until now', shop, { body: {} })
  await recorder.fails('sandboxPayOut', 'nothing_to_pay_out', 'Nothing is due', shop, { body: {} })
  await recorder.works('listPayouts', 'Newest first', shop, {})
  const [{ payoutId }] = payloadOf(await shop.get('/api/v0/payouts')).data
  await recorder.works('getPayout', 'One payout', shop, { params: { payoutId } })
  await recorder.works('listPayoutLines', 'Its payments and refunds', shop, { params: { payoutId } })
  await recorder.works('getPayoutStatement', 'As a file', shop, { params: { payoutId } })
  const none = { payoutId: 'pyo_nothing' }
  await recorder.fails('getPayout', 'payout_not_found', 'Not there, or not yours', shop, { params: none })
  await recorder.fails('listPayoutLines', 'payout_not_found', 'Not there, or not yours', shop, {
    params: none,
  })
  await recorder.fails('getPayoutStatement', 'payout_not_found', 'Not there, or not yours', shop, {
    params: none,
  })
}
