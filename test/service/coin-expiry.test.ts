import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { asCoinPartner, balanceOf, COINS, newConfig } from '../harness/coins.ts'
import { newPartner, type TestPartner } from '../harness/partner.ts'
import { MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let client: Client

beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service, { products: ['employee_rewards'] })
  client = await asCoinPartner(service.client, partner)
})
afterAll(() => service.close())

let requests = 0
/** Awards 10 coins that last so many days; without a number for good. Returns when they expire. */
async function award(days?: number): Promise<string | undefined> {
  const { event } = await newConfig(client, { amount: 10, ...(days && { coinsExpireAfterDays: days }) })
  const { userId, companyId } = partner
  const request = { requestId: `award-${++requests}`, event, userId, companyId }
  return payloadOf(await client.post(`${COINS}/allocate`, request)).expiresOn
}
const next = async (): Promise<Json> => (await balanceOf(client, partner.userId)).nextExpiry

test('a balance shows the coins that expire next, and when; redeemed coins are not among them', async () => {
  await award()
  expect(await next()).toBeUndefined()
  await award(30)
  const soon = await award(2)
  expect(await next()).toEqual({ coins: 10, expiresOn: soon ?? expect.any(String) })
  const redeem = { requestId: 'redeem', userId: partner.userId, amount: 4 }
  payloadOf(await client.post(`${COINS}/redeem`, redeem))
  expect((await next()).coins).toBe(6)
})

test('the liability of a partner is what its users can redeem, with the part that expires soon', async () => {
  const settings = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const { stdout } = await runHere(['admin', 'coins', 'liability', partner.partnerId, '--json'], settings)
  const { active } = await balanceOf(client, partner.userId)
  const [row] = JSON.parse(stdout).data as Json[]
  expect(row).toMatchObject({ partnerId: partner.partnerId, users: 1, coins: active, neverExpire: 10 })
  expect(row.expireWithin30Days).toBeGreaterThanOrEqual(6)
  expect(row.expireWithin90Days).toBe(active - 10)
})
