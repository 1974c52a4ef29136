import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Client } from '../harness/client.ts'
import { HttpProxy } from '../harness/http-proxy.ts'
import { FORM } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const TOKEN = '/api/v0/merchant/token'
/** Documentation addresses (RFC 5737): the one who calls, somebody else, and those that the caller invents. */
const CALLER = '203.0.113.7'
const OTHER = '203.0.113.8'
/** The least that REQUESTS_MAX may be. */
const MOST = 50
const invented = (n: number) => `198.51.100.${n}`

let service: TestService
let proxies: HttpProxy[]
let client: Client

/** The service behind so many proxies in a row, of which the first one sees the caller. */
async function behind(count: number, trust: string, env: Record<string, string> = {}) {
  service = await openService({ env: { TRUST_PROXY: trust, ...env } })
  for (let n = 0; n < count; n++) {
    const proxy = await HttpProxy.open(proxies.at(-1)?.baseUrl ?? service.client.baseUrl)
    proxy.reports = '127.0.0.1'
    proxies.push(proxy)
  }
  proxies.at(-1)!.reports = CALLER
  client = await Client.open(proxies.at(-1)!.baseUrl)
}

beforeEach(() => {
  proxies = []
})
afterEach(async () => {
  await Promise.all(proxies.map((proxy) => proxy.close()))
  await service?.close()
})

/** A wrong key of a prefix of its own, so that only the address counts. */
const guess = (n: number, forged = `${invented(n)}, ${invented(n + 1)}`) =>
  client.post(TOKEN, undefined, {
    'api-key': `svc_test_wrong${n}`,
    'x-forwarded-for': forged,
  })

/** An unknown client, which is looked up. */
const requestPartnerToken = (n: number) =>
  client.send('POST', '/oauth/token', `client_id=cli_${String(n).padStart(26, '0')}&client_secret=x`, {
    ...FORM,
    'x-forwarded-for': invented(n),
  })

/** The addresses that the request log has, once it has so many requests. */
async function loggedAddresses(requests: number): Promise<string[]> {
  return asSuperuser(service.db.database, async (db) => {
    const rows = async () => (await db.query<{ address: string }>('select address from request_log')).rows
    await expect.poll(async () => (await rows()).length, { timeout: 20_000 }).toBe(requests)
    return [...new Set((await rows()).map(({ address }) => address))]
  })
}

const SETTINGS: [setting: string, proxies: number, caller: string][] = [
  ['1', 1, CALLER],
  ['2', 2, CALLER],
  ['127.0.0.1', 1, CALLER],
  ['127.0.0.0/8, ::1', 2, CALLER],
  ['false', 1, '127.0.0.1'],
]

describe.each(SETTINGS)('with TRUST_PROXY=%s behind %i', (trust, count, caller) => {
  test('an invented X-Forwarded-For changes neither the address that failed attempts count for nor the logged address', async () => {
    await behind(count, trust, { FAILED_ATTEMPTS_PER_MINUTE: '5' })
    const statuses: number[] = []
    for (let n = 1; n <= 10; n++) statuses.push((await guess(n)).status)
    expect(statuses).toEqual([...Array<number>(5).fill(401), ...Array<number>(5).fill(429)])
    const strange = ['unknown', '"', `${CALLER}:80`, ', ,', '::1', '127.0.0.1', '127.0.0.1, 127.0.0.1']
    for (const forged of strange) expect([forged, (await guess(20, forged)).status]).toEqual([forged, 429])
    expect(await loggedAddresses(10 + strange.length)).toEqual([caller])
  })

  test('an invented X-Forwarded-For gives no caller a larger share of a full process', async () => {
    await behind(count, trust, { REQUESTS_MAX: String(MOST), FAILED_ATTEMPTS_PER_MINUTE: '1000' })
    await asSuperuser(service.db.database, async (db) => {
      await db.query('begin')
      await db.query('lock table oauth_clients in access exclusive mode')
      // All that are let in wait for the table; what is over the share of one caller is refused at once.
      const all = Array.from({ length: 2 * MOST }, (_, n) => requestPartnerToken(n))
      const first = await Promise.race(all)
      expect([first.status, first.error]).toEqual([503, 'overloaded'])
      await db.query('rollback')
      const others = (await Promise.all(all)).filter(({ error }) => error !== 'overloaded')
      expect(new Set(others.map(({ status }) => status))).toEqual(new Set([401]))
    })
  })
})

test('callers behind one proxy are distinguished', async () => {
  await behind(1, '1', { FAILED_ATTEMPTS_PER_MINUTE: '5' })
  for (let n = 1; n <= 6; n++) await guess(n)
  expect((await guess(7)).status).toBe(429)
  proxies[0]!.reports = OTHER
  expect((await guess(8)).status).toBe(401)
})
