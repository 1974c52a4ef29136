import { randomUUID } from 'node:crypto'
import type { EventType } from '@svc/contract/events'
import type { ApiPath } from './tenant-session.ts'
import { asPartner, byTime, type Sandbox, type Trigger } from './trigger.ts'

const COINS: ApiPath = '/api/v0/svc-coins'

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
  return asPartner(sandbox).call('POST', COINS, sandbox.override(request))
}

async function allocate(
  sandbox: Sandbox,
  terms: object = {},
): Promise<{ userId: string; allocationId: string }> {
  const { event } = await newCoinConfig(sandbox, terms)
  const { companyId, userId } = sandbox.incentivePartner
  const request = { requestId: randomUUID(), event, userId, companyId }
  return asPartner(sandbox).call('POST', `${COINS}/allocate`, sandbox.override(request))
}

type CoinEvent = Extract<EventType, `coin${string}`>

export const COIN_TRIGGERS: Record<CoinEvent, Trigger> = {
  'coins.allocated': async (sandbox) => `gave coins to ${(await allocate(sandbox)).userId}`,
  'coins.pending': async (sandbox) =>
    `gave pending coins to ${(await allocate(sandbox, { activation: 'CONFIRMATION' })).userId}`,
  async 'coins.activated'(sandbox) {
    const { allocationId } = await allocate(sandbox, { activation: 'CONFIRMATION' })
    await asPartner(sandbox).call('POST', `${COINS}/allocations/${allocationId}/confirm`, {})
    return `confirmed ${allocationId}`
  },
  async 'coins.voided'(sandbox) {
    const { allocationId } = await allocate(sandbox)
    const request = sandbox.override({ requestId: randomUUID(), reason: 'Made by svc trigger' })
    await asPartner(sandbox).call('POST', `${COINS}/allocations/${allocationId}/void`, request)
    return `voided ${allocationId}`
  },
  async 'coins.redeemed'(sandbox) {
    const { userId } = await allocate(sandbox)
    const request = { requestId: randomUUID(), userId, amount: 5 }
    await asPartner(sandbox).call('POST', `${COINS}/redeem`, request)
    return `took coins from ${userId}`
  },
  'coins.expiring': byTime,
  'coins.expired': byTime,
  'coin_config.changed': async (sandbox) => `made ${(await newCoinConfig(sandbox)).coinConfigId}`,
}
