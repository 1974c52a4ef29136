import { expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { asCoinPartner, COINS, historyOf, newConfig } from '../harness/coins.ts'
import { newPartner } from '../harness/partner.ts'
import { openService } from '../harness/service.ts'

test.each([
  ['expiry', ['day', 'month', 'oldest', 'newest']],
  ['fifo', ['oldest', 'month', 'day', 'newest']],
])('with COIN_LOT_ORDER=%s coins are spent in this order: %s', async (order, expected) => {
  const service = await openService({ env: { COIN_LOT_ORDER: order } })
  try {
    const partner = await newPartner(service, { products: ['employee_rewards'] })
    const client = await asCoinPartner(service.client, partner)
    const { userId, companyId } = partner
    const names = new Map<string, string>()
    for (const [name, days] of [
      ['oldest', undefined],
      ['month', 30],
      ['day', 1],
      ['newest', undefined],
    ] as const) {
      const { event } = await newConfig(client, {
        amount: 10,
        ...(days && { coinsExpireAfterDays: days }),
      })
      const award = await client.post(`${COINS}/allocate`, { requestId: name, event, userId, companyId })
      names.set(payloadOf(award).allocationId, name)
    }
    for (let n = 0; n < 4; n++)
      payloadOf(await client.post(`${COINS}/redeem`, { requestId: `redeem-${n}`, userId, amount: 10 }))
    const spent = (await historyOf(client, userId)).filter(({ kind }) => kind === 'REDEEMED')
    expect(
      spent.flatMap(({ allocations }) =>
        allocations.map(({ allocationId }: { allocationId: string }) => names.get(allocationId)),
      ),
    ).toEqual(expected)
  } finally {
    await service.close()
  }
})
