import { randomUUID } from 'node:crypto'
import type { EventType } from '@svc/contract/events'
import type { ApiPath } from './tenant-session.ts'
import {
  type Advice,
  AT_THE_END_OF_COINS,
  asPartner,
  type Sandbox,
  type Trigger,
  trigger,
} from './trigger.ts'

const COINS: ApiPath = '/api/v0/svc-coins'

/** Of a configuration whose coins are awarded as the event needs them. */
const CONFIG = [
  'configuration',
  'companyId',
  'event',
  'amount',
  'title',
  'description',
  'validFrom',
  'validTo',
  'perUserDailyLimit',
  'coinsExpireAfterDays',
]
const AWARD = ['companyId', 'userId', 'requestId']
const AWARDED = [...CONFIG, ...AWARD]

async function newCoinConfig(
  sandbox: Sandbox,
  terms: object = {},
): Promise<{ coinConfigId: string; event: string }> {
  const event = `trigger_${randomUUID().slice(0, 8)}`
  const request = {
    configuration: 'DEFAULT',
    event,
    amount: 10,
    title: 'Trigger',
    description: 'Made by svc trigger',
    ...terms,
  }
  return asPartner(sandbox).call('POST', COINS, sandbox.override(CONFIG, request))
}

async function allocate(
  sandbox: Sandbox,
  terms: object = {},
): Promise<{ userId: string; allocationId: string }> {
  const { event } = await newCoinConfig(sandbox, terms)
  const { companyId, userId } = sandbox.incentivePartner
  const request = { ...sandbox.override(AWARD, { requestId: randomUUID(), userId, companyId }), event }
  return asPartner(sandbox).call('POST', `${COINS}/allocate`, request)
}

type CoinEvent = Extract<EventType, `coin${string}`>

export const COIN_TRIGGERS: Record<CoinEvent, Trigger | Advice> = {
  'coins.allocated': trigger(AWARDED, async (sandbox) => `gave coins to ${(await allocate(sandbox)).userId}`),
  'coins.pending': trigger(
    AWARDED,
    async (sandbox) =>
      `gave pending coins to ${(await allocate(sandbox, { activation: 'CONFIRMATION' })).userId}`,
  ),
  'coins.activated': trigger(AWARDED, async (sandbox) => {
    const { allocationId } = await allocate(sandbox, { activation: 'CONFIRMATION' })
    await asPartner(sandbox).call('POST', `${COINS}/allocations/${allocationId}/confirm`, {})
    return `confirmed ${allocationId}`
  }),
  'coins.voided': trigger([...AWARDED, 'reason'], async (sandbox) => {
    const { allocationId } = await allocate(sandbox)
    const request = sandbox.override(['reason'], { reason: 'Made by svc trigger' })
    await asPartner(sandbox).call('POST', `${COINS}/allocations/${allocationId}/void`, {
      requestId: randomUUID(),
      ...request,
    })
    return `voided ${allocationId}`
  }),
  'coins.redeemed': trigger(AWARDED, async (sandbox) => {
    const { userId } = await allocate(sandbox)
    const request = { requestId: randomUUID(), userId, ...sandbox.override(['amount'], { amount: 5 }) }
    await asPartner(sandbox).call('POST', `${COINS}/redeem`, request)
    return `took coins from ${userId}`
  }),
  'coins.expiring': AT_THE_END_OF_COINS,
  'coins.expired': AT_THE_END_OF_COINS,
  'coin_config.changed': trigger(
    CONFIG,
    async (sandbox) => `made ${(await newCoinConfig(sandbox)).coinConfigId}`,
  ),
}
