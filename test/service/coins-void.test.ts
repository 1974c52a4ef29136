import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
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

const CLAWBACKS = ['lot', 'wallet'] as const
type Clawback = (typeof CLAWBACKS)[number]

/** A user of a partner of a service with this setting. */
class Bed {
  readonly service: TestService
  readonly client: Client
  readonly #partner: TestPartner
  userId = ''

  private constructor(service: TestService, partner: TestPartner, client: Client) {
    this.service = service
    this.#partner = partner
    this.client = client
  }

  static async open(clawback: Clawback): Promise<Bed> {
    const service = await openService({ env: { COIN_CLAWBACK: clawback } })
    const { partner, client } = await newCoinPartner(service)
    return new Bed(service, partner, client)
  }

  async newUser(): Promise<void> {
    this.userId = (await newUsers(this.service, this.#partner, 1))[0]!
  }

  async allocate(amount: number, more: object = {}): Promise<string> {
    const { event } = await newConfig(this.client, { amount, ...more })
    const { companyId } = this.#partner
    const body = { requestId: `a-${requests++}`, event, userId: this.userId, companyId }
    return payloadOf(await this.client.post(`${COINS}/allocate`, body)).allocationId
  }

  async spend(amount: number): Promise<void> {
    const body = { requestId: `r-${requests++}`, userId: this.userId, amount }
    payloadOf(await this.client.post(`${COINS}/redeem`, body))
  }

  voids(allocationId: string, request: object = {}) {
    const body = { requestId: `v-${requests++}`, reason: 'order returned', ...request }
    return this.client.post(`${COINS}/allocations/${allocationId}/void`, body)
  }

  async stateOf(allocationId: string): Promise<Json> {
    return payloadOf(await this.client.get(`${COINS}/allocations/${allocationId}`))
  }

  async lastLine(): Promise<Json> {
    return (await historyOf(this.client, this.userId)).at(-1)!
  }
}

let beds: Record<Clawback, Bed>

beforeAll(async () => {
  beds = { lot: await Bed.open('lot'), wallet: await Bed.open('wallet') }
})
beforeEach(() => Promise.all(CLAWBACKS.map((clawback) => beds[clawback].newUser())))
afterAll(async () => {
  for (const { service } of Object.values(beds)) {
    expect(await differencesOf(service)).toEqual([])
    await service.close()
  }
})

test.each(CLAWBACKS)(
  'COIN_CLAWBACK=%s: what remains is reversed; history, ledger and an event record it',
  async (clawback) => {
    const bed = beds[clawback]
    const { client, userId } = bed
    const allocationId = await bed.allocate(10)
    await bed.allocate(5)
    const done = payloadOf(await bed.voids(allocationId))
    const taken = { reason: 'order returned', amount: 10, shortfall: 0, balance: 5 }
    expect(done).toMatchObject({ allocationId, userId, pending: false, ...taken })
    expect(done.allocations).toEqual([{ allocationId, amount: 10 }])
    expect(await balanceOf(client, userId)).toMatchObject({ active: 5, voided: 10 })
    const { voidId, allocations } = done
    expect(await bed.lastLine()).toMatchObject({
      kind: 'VOIDED',
      voidId,
      allocationId,
      allocations,
      ...taken,
    })
    expect(await eventsOf(bed.service, 'coins.voided', userId)).toEqual([done])
  },
)

/** An allocation of which little remains, and two others that expire later. */
async function spent(bed: Bed) {
  const first = await bed.allocate(10, { coinsExpireAfterDays: 1 })
  await bed.spend(8)
  const late = await bed.allocate(4, { coinsExpireAfterDays: 30 })
  const soon = await bed.allocate(3, { coinsExpireAfterDays: 2 })
  const done = payloadOf(await bed.voids(first))
  const { voidId, amount, shortfall } = done
  expect(await bed.stateOf(first)).toMatchObject({ remaining: 0, spent: 8, voided: 2, voidId })
  expect(await bed.lastLine()).toMatchObject({ kind: 'VOIDED', amount, shortfall })
  return { first, late, soon, done }
}

test('COIN_CLAWBACK=lot: spent coins stay spent, and are the shortfall', async () => {
  const { late, done } = await spent(beds.lot)
  expect(done).toMatchObject({ amount: 2, shortfall: 8, balance: 7 })
  expect(await beds.lot.stateOf(late)).toMatchObject({ remaining: 4, voided: 0 })
})

test('COIN_CLAWBACK=wallet: spent coins are taken from other allocations, as far as available', async () => {
  const { first, late, soon, done } = await spent(beds.wallet)
  expect(done).toMatchObject({ amount: 9, shortfall: 1, balance: 0 })
  expect(await beds.wallet.stateOf(soon)).toMatchObject({ remaining: 0, voided: 3 })
  expect(await beds.wallet.stateOf(late)).toMatchObject({ remaining: 0, voided: 4 })
  expect(done.allocations).toHaveLength(3)
  expect(done.allocations[0]).toEqual({ allocationId: first, amount: 2 })
})

test('COIN_CLAWBACK=wallet: coins that expire soonest are taken first', async () => {
  const bed = beds.wallet
  const first = await bed.allocate(10, { coinsExpireAfterDays: 1 })
  await bed.spend(4)
  const late = await bed.allocate(4, { coinsExpireAfterDays: 30 })
  const soon = await bed.allocate(3, { coinsExpireAfterDays: 2 })
  expect(payloadOf(await bed.voids(first))).toMatchObject({ amount: 10, shortfall: 0, balance: 3 })
  expect(await bed.stateOf(soon)).toMatchObject({ remaining: 0, voided: 3 })
  expect(await bed.stateOf(late)).toMatchObject({ remaining: 3, voided: 1 })
})

test.each(CLAWBACKS)(
  'COIN_CLAWBACK=%s: nothing is taken from an empty allocation; the shortfall states the missing amount',
  async (clawback) => {
    const bed = beds[clawback]
    const allocationId = await bed.allocate(6)
    await bed.spend(6)
    const nothing = { amount: 0, shortfall: 6, balance: 0 }
    expect(payloadOf(await bed.voids(allocationId))).toMatchObject({ ...nothing, allocations: [] })
    expect(await bed.lastLine()).toMatchObject({ kind: 'VOIDED', ...nothing })
  },
)

test.each(CLAWBACKS)(
  'COIN_CLAWBACK=%s: a repeat of the requestId gets the first response forever; another request with it, or another void, is 409',
  async (clawback) => {
    const bed = beds[clawback]
    const [allocationId, other] = [await bed.allocate(10), await bed.allocate(10)]
    await bed.spend(3)
    const request = { requestId: 'same' }
    const first = await bed.voids(allocationId, request)
    payloadOf(first)
    await bed.allocate(20)
    expect((await bed.voids(allocationId, request)).text).toBe(first.text)
    expect((await bed.voids(allocationId, { ...request, reason: 'fraud' })).error).toBe('request_id_conflict')
    expect((await bed.voids(other, request)).error).toBe('request_id_conflict')
    expect((await bed.voids(allocationId)).error).toBe('coin_allocation_voided')
    expect((await bed.voids('cal_nothing')).error).toBe('coin_allocation_not_found')
    expect((await bed.voids(other, { reason: '   ' })).error).toBe('validation_failed')
  },
)
