import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import {
  balanceOf,
  COINS,
  differencesOf,
  eventsOf,
  historyOf,
  newCoinPartner,
  newConfig,
  newUsers,
} from '../harness/coins.ts'
import type { TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

let requests = 0

describe.each(['lot', 'wallet'] as const)('COIN_CLAWBACK=%s', (clawback) => {
  let service: TestService
  let partner: TestPartner
  let client: Client
  let userId: string

  beforeAll(async () => {
    service = await openService({ env: { COIN_CLAWBACK: clawback } })
    ;({ partner, client } = await newCoinPartner(service))
  })
  afterAll(async () => {
    expect(await differencesOf(service)).toEqual([])
    await service.close()
  })

  const allocate = async (amount: number, more: object = {}): Promise<string> => {
    const { event } = await newConfig(client, { amount, ...more })
    const { companyId } = partner
    const body = { requestId: `a-${requests++}`, event, userId, companyId }
    return payloadOf(await client.post(`${COINS}/allocate`, body)).allocationId
  }
  const spend = async (amount: number): Promise<void> =>
    void payloadOf(await client.post(`${COINS}/redeem`, { requestId: `r-${requests++}`, userId, amount }))
  const voids = (allocationId: string, request: object = {}) =>
    client.post(`${COINS}/allocations/${allocationId}/void`, {
      requestId: `v-${requests++}`,
      reason: 'order returned',
      ...request,
    })
  const stateOf = async (allocationId: string): Promise<Json> =>
    payloadOf(await client.get(`${COINS}/allocations/${allocationId}`))
  const newUser = async () => {
    ;[userId] = (await newUsers(service, partner, 1)) as [string]
  }

  test('what remains of an allocation is taken back; the history, the ledger and an event say so', async () => {
    await newUser()
    const allocationId = await allocate(10)
    await allocate(5)
    const done = payloadOf(await voids(allocationId))
    expect(done).toMatchObject({
      allocationId,
      userId,
      reason: 'order returned',
      pending: false,
      amount: 10,
      shortfall: 0,
      balance: 5,
    })
    expect(done.allocations).toEqual([{ allocationId, amount: 10 }])
    expect(await balanceOf(client, userId)).toMatchObject({ active: 5, voided: 10 })
    expect((await historyOf(client, userId)).at(-1)).toMatchObject({
      kind: 'VOIDED',
      amount: 10,
      balance: 5,
      voidId: done.voidId,
      allocationId,
      reason: 'order returned',
      shortfall: 0,
      allocations: done.allocations,
    })
    expect(await eventsOf(service, 'coins.voided', userId)).toEqual([done])
  })

  test(
    clawback === 'wallet'
      ? 'what was spent is taken from other allocations, the soonest to expire first, as far as there are'
      : 'what was spent stays spent, and is the shortfall',
    async () => {
      await newUser()
      const first = await allocate(10, { coinsExpireAfterDays: 1 })
      await spend(8)
      const late = await allocate(4, { coinsExpireAfterDays: 30 })
      const soon = await allocate(3, { coinsExpireAfterDays: 2 })
      const done = payloadOf(await voids(first))
      if (clawback === 'lot') {
        expect(done).toMatchObject({ amount: 2, shortfall: 8, balance: 7 })
        expect(await stateOf(late)).toMatchObject({ remaining: 4, voided: 0 })
      } else {
        expect(done).toMatchObject({ amount: 9, shortfall: 1, balance: 0 })
        expect(await stateOf(soon)).toMatchObject({ remaining: 0, voided: 3 })
        expect(await stateOf(late)).toMatchObject({ remaining: 0, voided: 4 })
        expect(done.allocations).toHaveLength(3)
        expect(done.allocations[0]).toEqual({ allocationId: first, amount: 2 })
      }
      expect(await stateOf(first)).toMatchObject({ remaining: 0, spent: 8, voided: 2, voidId: done.voidId })
      expect((await historyOf(client, userId)).at(-1)).toMatchObject({
        kind: 'VOIDED',
        amount: done.amount,
        shortfall: done.shortfall,
      })
    },
  )

  test('an allocation of which nothing is left is voided too: nothing is taken, the shortfall says how much is missing', async () => {
    await newUser()
    const allocationId = await allocate(6)
    await spend(6)
    expect(payloadOf(await voids(allocationId))).toMatchObject({
      amount: 0,
      shortfall: 6,
      balance: 0,
      allocations: [],
    })
    expect((await historyOf(client, userId)).at(-1)).toMatchObject({ kind: 'VOIDED', amount: 0, shortfall: 6 })
  })

  test('a repeat of the requestId gets the first response for ever, another request with it 409, another void 409', async () => {
    await newUser()
    const [allocationId, other] = [await allocate(10), await allocate(10)]
    await spend(3)
    const request = { requestId: `same-${clawback}` }
    const first = await voids(allocationId, request)
    payloadOf(first)
    await allocate(20)
    expect((await voids(allocationId, request)).text).toBe(first.text)
    expect((await voids(allocationId, { ...request, reason: 'fraud' })).error).toBe('request_id_conflict')
    expect((await voids(other, request)).error).toBe('request_id_conflict')
    expect((await voids(allocationId)).error).toBe('coin_allocation_voided')
    expect((await voids('cal_nothing')).error).toBe('coin_allocation_not_found')
    expect((await voids(other, { reason: '   ' })).error).toBe('validation_failed')
  })
})
