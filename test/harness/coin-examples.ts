import { type Client, payloadOf } from './client.ts'
import type { Recorder } from './recorder.ts'

const NOBODYS = { params: { allocationId: 'cal_nothing' } }
const NOT_FOUND = ['coin_allocation_not_found', 'Not there, or not yours'] as const

interface OfUser {
  readonly userId: string
  readonly companyId: string
}

/** Examples of what becomes of allocations: pending, confirmed, voided; and what all users hold. */
export async function recordAllocations(recorder: Recorder, issuer: Client, user: OfUser): Promise<void> {
  const terms = { event: 'order.delivered', amount: 40, title: 'Order', activation: 'CONFIRMATION' }
  payloadOf(await issuer.post('/api/v0/svc-coins', { ...terms, coinsExpireAfterDays: 365 }))
  const award = { requestId: 'order-77', event: terms.event, ...user }
  const { allocationId } = payloadOf(await issuer.post('/api/v0/svc-coins/allocate', award))
  const own = { params: { allocationId } }
  await recorder.works('getCoinAllocation', 'A pending allocation', issuer, own)
  await recorder.fails('getCoinAllocation', ...NOT_FOUND, issuer, NOBODYS)
  await recorder.works('confirmCoinAllocation', 'The order is final', issuer, { ...own, body: {} })
  await recorder.fails('confirmCoinAllocation', ...NOT_FOUND, issuer, { ...NOBODYS, body: {} })
  const request = { requestId: 'return-77', reason: 'Order returned' }
  await recorder.works('voidCoinAllocation', 'The order was returned', issuer, { ...own, body: request })
  const body = { ...request, requestId: 'return-78' }
  await recorder.fails('voidCoinAllocation', 'coin_allocation_voided', 'A second void', issuer, {
    ...own,
    body,
  })
  await recorder.fails('voidCoinAllocation', ...NOT_FOUND, issuer, { ...NOBODYS, body })
  await recordRefusal(recorder, issuer, user)
  await recordBalance(recorder, issuer, user.userId)
  const rupees = { query: { rupeesPerCoin: '0.25' } }
  await recorder.works('getCoinLiability', 'What all users hold, in coins and rupees', issuer, rupees)
  const free = { query: { rupeesPerCoin: 'free' } }
  await recorder.fails('getCoinLiability', 'validation_failed', 'Not an amount', issuer, free)
}

async function recordRefusal(recorder: Recorder, issuer: Client, user: OfUser): Promise<void> {
  const award = { requestId: 'referral-78', event: 'referral.completed', ...user }
  const { allocationId } = payloadOf(await issuer.post('/api/v0/svc-coins/allocate', award))
  const refused = ['coin_allocation_not_awaiting_confirmation', 'It was active at once'] as const
  await recorder.fails('confirmCoinAllocation', ...refused, issuer, { params: { allocationId }, body: {} })
}

/** Examples of what a user has, and how it came to be so. */
async function recordBalance(recorder: Recorder, issuer: Client, userId: string): Promise<void> {
  const user = { params: { userId } }
  const nobody = { params: { userId: 'usr_nothing' } }
  await recorder.works('getCoinBalance', 'What a user has', issuer, user)
  await recorder.fails('getCoinBalance', 'user_not_found', 'Not there, or not yours', issuer, nobody)
  await recorder.works('listCoinHistory', 'What a user earned and spent', issuer, user)
  await recorder.fails('listCoinHistory', 'user_not_found', 'Not there, or not yours', issuer, nobody)
}
