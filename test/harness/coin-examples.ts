import type { Callers } from './card-examples.ts'
import { type Client, payloadOf } from './client.ts'
import type { Recorder } from './recorder.ts'

const NO_ALLOCATION = { params: { allocationId: 'cal_nothing' } }
const ALLOCATION_NOT_FOUND = ['coin_allocation_not_found', 'Not there, or not yours'] as const

const NO_CONFIG = { params: { coinConfigId: 'ccf_nothing' } }
const CONFIG_NOT_FOUND = ['coin_config_not_found', 'Not there, or not yours'] as const

interface OfUser {
  readonly userId: string
  readonly companyId: string
}

/** Examples of what events earn, and of coins that users get and spend. */
export async function recordCoins(
  recorder: Recorder,
  { issuer, open, partner: { companyId, userId } }: Callers,
): Promise<void> {
  const coinConfigId = await recordConfigurations(recorder, issuer, open)
  await recordAwards(recorder, issuer, { companyId, userId })
  await recordAllocations(recorder, issuer, { companyId, userId })
  await recorder.works('deactivateCoinConfig', 'No more coins for it', issuer, {
    params: { coinConfigId },
    body: {},
  })
  await recorder.fails('deactivateCoinConfig', ...CONFIG_NOT_FOUND, issuer, { ...NO_CONFIG, body: {} })
}

async function recordConfigurations(recorder: Recorder, issuer: Client, open: Client): Promise<string> {
  const body = {
    event: 'referral.completed',
    amount: 100,
    title: 'Thank you',
    perUserDailyLimit: 250,
    coinsExpireAfterDays: 365,
  }
  const { coinConfigId } = payloadOf(
    await recorder.works('createCoinConfig', 'What an event earns', issuer, { body }),
  )
  await recorder.fails('createCoinConfig', 'coin_config_overlaps', 'The event has an active one', issuer, {
    body,
  })
  const params = { coinConfigId }
  await recorder.works('getCoinConfig', 'One configuration', issuer, { params })
  await recorder.fails('getCoinConfig', ...CONFIG_NOT_FOUND, issuer, NO_CONFIG)
  await recorder.fails('getCoinConfig', 'invalid_token', 'Without a token', open, { params })
  const change = { params, headers: { 'If-Match': '"1"' }, body: { amount: 120 } }
  await recorder.works('updateCoinConfig', 'More coins from now on', issuer, change)
  const changed = ['revision_mismatch', 'Somebody changed it meanwhile'] as const
  await recorder.fails('updateCoinConfig', ...changed, issuer, change)
  await recorder.fails('updateCoinConfig', 'revision_required', 'Without If-Match', issuer, {
    params,
    body: { amount: 130 },
  })
  await recorder.works('searchCoinConfigs', 'Active ones', issuer, {
    body: { status: 'ACTIVE', event: 'referral.completed' },
  })
  await recorder.fails('searchCoinConfigs', 'validation_failed', 'A status that does not exist', issuer, {
    body: { status: 'ON' },
  })
  await recorder.works('listCoinConfigRevisions', 'What it said before', issuer, { params })
  await recorder.fails('listCoinConfigRevisions', ...CONFIG_NOT_FOUND, issuer, NO_CONFIG)
  return coinConfigId
}

async function recordAwards(
  recorder: Recorder,
  issuer: Client,
  { userId, companyId }: OfUser,
): Promise<void> {
  const award = { requestId: 'referral-77', event: 'referral.completed', userId, companyId }
  await recorder.works('allocateCoins', 'An event happened', issuer, { body: award })
  await recorder.fails('allocateCoins', 'no_coin_config', 'Nothing is set for the event', issuer, {
    body: { ...award, requestId: 'r-2', event: 'unknown.event' },
  })
  await recorder.fails('allocateCoins', 'request_id_conflict', 'The id of another request', issuer, {
    body: { ...award, event: 'other.event' },
  })
  const redeem = { requestId: 'voucher-9', userId, amount: 50 }
  await recorder.works('redeemCoins', 'The user spends coins', issuer, { body: redeem })
  await recorder.fails('redeemCoins', 'insufficient_coins', 'More than the user has', issuer, {
    body: { ...redeem, requestId: 'voucher-10', amount: 5_000 },
  })
}

/** Examples of what becomes of allocations: pending, confirmed, voided; and what all users hold. */
async function recordAllocations(recorder: Recorder, issuer: Client, user: OfUser): Promise<void> {
  const terms = { event: 'order.delivered', amount: 40, title: 'Order', activation: 'CONFIRMATION' }
  payloadOf(await issuer.post('/api/v0/svc-coins', { ...terms, coinsExpireAfterDays: 365 }))
  const award = { requestId: 'order-77', event: terms.event, ...user }
  const { allocationId } = payloadOf(await issuer.post('/api/v0/svc-coins/allocate', award))
  const own = { params: { allocationId } }
  await recorder.works('getCoinAllocation', 'A pending allocation', issuer, own)
  await recorder.fails('getCoinAllocation', ...ALLOCATION_NOT_FOUND, issuer, NO_ALLOCATION)
  await recorder.works('confirmCoinAllocation', 'The order is final', issuer, { ...own, body: {} })
  await recorder.fails('confirmCoinAllocation', ...ALLOCATION_NOT_FOUND, issuer, {
    ...NO_ALLOCATION,
    body: {},
  })
  const request = { requestId: 'return-77', reason: 'Order returned' }
  await recorder.works('voidCoinAllocation', 'The order was returned', issuer, { ...own, body: request })
  const body = { ...request, requestId: 'return-78' }
  await recorder.fails('voidCoinAllocation', 'coin_allocation_voided', 'A second void', issuer, {
    ...own,
    body,
  })
  await recorder.fails('voidCoinAllocation', ...ALLOCATION_NOT_FOUND, issuer, { ...NO_ALLOCATION, body })
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
