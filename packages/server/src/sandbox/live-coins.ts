import { required } from '@svc/kernel/invariant'
import type { SelfCall } from '../http/operation.ts'
import type { SandboxFile } from './demo.ts'
import type { Props } from './live-values.ts'

type Call = (request: SelfCall) => Promise<{ payload: Record<string, string> }>

const COINS = '/api/v0/svc-coins'

/** A configuration to be deactivated, and pending allocations: one to be confirmed, one to be voided. */
export async function coinsForReference(call: Call, demo: SandboxFile, token: string, day: string) {
  const { partnerId, companyId } = demo.incentivePartner
  const post = async (path: string, key: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, partnerid: partnerId, 'idempotency-key': key }
    const request = { ...headers, 'content-type': 'application/json' }
    return (await call({ method: 'POST', path, headers: request, body: Buffer.from(JSON.stringify(body)) }))
      .payload
  }
  const config = await post(COINS, `reference-config-${day}`, {
    event: `example.${day}`,
    amount: 10,
    title: 'Example',
  })
  const event = `pending.${day}`
  const terms = { event, amount: 40, title: 'Order', activation: 'CONFIRMATION' }
  await post(COINS, `reference-pending-${day}`, terms)
  const allocate = async (which: string) => {
    const requestId = `reference-${which}-${day}`
    const award = { requestId, event, userId: demo.coinUserId, companyId }
    return required((await post(`${COINS}/allocate`, requestId, award))['allocationId'], 'an allocation')
  }
  return {
    otherConfigId: required(config['coinConfigId'], 'a configuration'),
    allocationId: await allocate('confirmed'),
    voidedAllocationId: await allocate('voided'),
  }
}

/** What the requests of coins have that the recorded ones have not. */
export const coinRequests = (demo: SandboxFile, props: Props, now: number) => ({
  updateCoinConfig: { headers: { 'If-Match': '*' } },
  createCoinConfig: {
    body: { event: `order.${now}`, amount: 100, title: 'Thank you', perUserDailyLimit: 250 },
  },
  deactivateCoinConfig: { params: { coinConfigId: props.otherConfigId } },
  allocateCoins: {
    body: {
      requestId: `referral-${now}`,
      event: 'referral.completed',
      userId: demo.coinUserId,
      companyId: demo.incentivePartner.companyId,
    },
  },
  getCoinAllocation: { params: { allocationId: props.allocationId } },
  confirmCoinAllocation: { params: { allocationId: props.allocationId } },
  // Of one id, so that the page sends it again and again.
  voidCoinAllocation: {
    params: { allocationId: props.voidedAllocationId },
    body: { requestId: `return/${props.voidedAllocationId}`, reason: 'Order returned' },
  },
  redeemCoins: { body: { requestId: `voucher-${now}`, userId: demo.coinUserId, amount: 1 } },
})
