import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { Client } from '../harness/client.ts'
import { REDIS, RedisServer } from '../harness/redis.ts'
import { openService, type TestService, tokenOf } from '../harness/service.ts'

// So long a window that none ends within a test.
const [PER_SECOND, BURST] = [1, 60]

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function openStore(password?: string): Promise<RedisServer> {
  const store = await RedisServer.open(password)
  closing.push(() => store.kill())
  return store
}

/** What is left to a credential that has asked one of them for its token. */
const LEFT = BURST - 1

/** Two of the service on one database and one store; a credential's client of each. */
async function openTwo(url: string): Promise<readonly [TestService, TestService]> {
  const env = {
    SVC_MODE: 'live',
    PUBLIC_URL: 'https://svc.example.com',
    METRICS_TOKEN: 'figures-0123456789',
    RATE_LIMIT_PER_SECOND: String(PER_SECOND),
    RATE_LIMIT_BURST: String(BURST),
    RATE_LIMIT_URL: url,
  }
  const first = await openService({ env, background: false })
  closing.push(() => first.close())
  const second = await openService({ env, background: false, db: first.db })
  closing.push(() => second.close())
  return [first, second]
}

async function clientsOf([first, second]: readonly [TestService, TestService]): Promise<[Client, Client]> {
  const { apiKey } = await first.newMerchant()
  const authorization = `Bearer ${await tokenOf(first.client, apiKey)}`
  return [first.client.with({ authorization }), second.client.with({ authorization })]
}

/** A few at once: a process that is busy for a quarter of a second gives the store up. */
const AT_ONCE = 5
const statuses = async (client: Client, times: number): Promise<Record<number, number>> => {
  const counts: Record<number, number> = {}
  for (let left = times; left > 0; left -= AT_ONCE) {
    const responses = await Promise.all(
      Array.from({ length: Math.min(left, AT_ONCE) }, () => client.post('/api/v0/qr-code/search', {})),
    )
    for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

const isShared = async ({ client }: TestService): Promise<boolean> => {
  const { text } = await client.get('/metrics', { authorization: 'Bearer figures-0123456789' })
  return /^svc_rate_limit_shared 1$/m.test(text)
}

/** How it told that it counts, each time that it did, in order. */
const saidOf = ({ logged }: TestService): string[] =>
  [...logged().matchAll(/counted in the store .*(for all)|each process counts (for itself)/g)].map(
    ([, all, itself]) => (all ?? itself)!,
  )

/** It counts for itself, and said so once. */
function expectLost(service: TestService): void {
  const said = saidOf(service)
  expect(said.at(-1)).toBe('for itself')
  // On a machine that stood still the store may have been lost before; never is the same said twice.
  expect(said.filter((word, i) => word === said[i - 1])).toEqual([])
}

/** Until all of them count in the store, or none does. */
const sharing = (services: readonly TestService[], wanted: boolean) =>
  expect
    .poll(() => Promise.all(services.map(isShared)), { timeout: 20_000 })
    .toEqual(services.map(() => wanted))

test.skipIf(!REDIS)(
  'processes with one store share a credential’s limit, and no other credential’s',
  async () => {
    const store = await openStore()
    const services = await openTwo(`redis://127.0.0.1:${store.port}`)
    await sharing(services, true)
    const [here, there] = await clientsOf(services)
    expect(await statuses(here, BURST / 2)).toEqual({ 200: BURST / 2 })
    expect(await statuses(there, LEFT - BURST / 2)).toEqual({ 200: LEFT - BURST / 2 })
    expect(await statuses(here, 5)).toEqual({ 429: 5 })
    expect(await statuses(there, 5)).toEqual({ 429: 5 })
    const [modest] = await clientsOf(services)
    expect(await statuses(modest, LEFT)).toEqual({ 200: LEFT })
  },
)

test.skipIf(!REDIS)(
  'a store that dies rejects no request: each process counts for itself, reports it once, and shares again when it is back',
  async () => {
    const store = await openStore()
    const services = await openTwo(`redis://127.0.0.1:${store.port}`)
    await sharing(services, true)
    await store.kill()
    await sharing(services, false)
    const [here, there] = await clientsOf(services)
    expect(await statuses(here, LEFT)).toEqual({ 200: LEFT })
    expect(await statuses(there, BURST)).toEqual({ 200: BURST })
    expect(await statuses(here, 5)).toEqual({ 429: 5 })
    for (const service of services) expectLost(service)
    await store.start()
    await sharing(services, true)
    const [later, elsewhere] = await clientsOf(services)
    expect(await statuses(later, LEFT)).toEqual({ 200: LEFT })
    expect(await statuses(elsewhere, 5)).toEqual({ 429: 5 })
  },
  60_000,
)

test.skipIf(!REDIS)(
  'a store that hangs is disconnected, rejects no request, and is shared again when it resumes',
  async () => {
    const store = await openStore()
    const services = await openTwo(`redis://127.0.0.1:${store.port}`)
    await sharing(services, true)
    const clients = await clientsOf(services)
    store.hang()
    for (const client of clients) expect(await statuses(client, 5)).toEqual({ 200: 5 })
    await sharing(services, false)
    store.goOn()
    await sharing(services, true)
  },
)

test.skipIf(!REDIS).each([
  ['is full', 'config set maxmemory 1', 'config set maxmemory 0', 'OOM'],
  ['is a replica', 'replicaof 127.0.0.1 1', 'replicaof no one', 'READONLY'],
  ['permits no counting', 'acl setuser default -eval -evalsha', 'acl setuser default +@all', 'NOPERM'],
])(
  'a store that %s rejects no request: each process counts for itself, reports why once, and shares again afterwards',
  async (_, breaks, mends, reason) => {
    const store = await openStore()
    const services = await openTwo(`redis://127.0.0.1:${store.port}`)
    await sharing(services, true)
    await store.run(breaks)
    const [here, there] = await clientsOf(services)
    expect(await statuses(here, LEFT)).toEqual({ 200: LEFT })
    expect(await statuses(there, BURST)).toEqual({ 200: BURST })
    expect(await statuses(here, 5)).toEqual({ 429: 5 })
    await sharing(services, false)
    for (const service of services) {
      expectLost(service)
      const lost = service
        .logged()
        .split('\n')
        .filter((line) => line.includes('counts for itself'))
      expect(lost.filter((line) => line.includes(reason))).not.toEqual([])
    }
    await store.run(mends)
    const shares = async () => {
      for (const client of await clientsOf(services)) await statuses(client, 1)
      return Promise.all(services.map(isShared))
    }
    await expect.poll(shares, { timeout: 20_000 }).toEqual([true, true])
    const [later, elsewhere] = await clientsOf(services)
    expect(await statuses(later, LEFT)).toEqual({ 200: LEFT })
    expect(await statuses(elsewhere, 5)).toEqual({ 429: 5 })
  },
  60_000,
)

test.skipIf(!REDIS)(
  'after a failover the processes leave the store that became a replica, and share at the one that its address resolves to',
  async () => {
    const [first, second] = [await openStore(), await openStore()]
    let primary = first.port
    const address = createServer((caller) => {
      const store = connect(primary, '127.0.0.1')
      caller.pipe(store).pipe(caller)
      for (const [one, other] of [
        [caller, store],
        [store, caller],
      ] as const)
        one.on('error', () => undefined).on('close', () => other.destroy())
    }).listen(0, '127.0.0.1')
    await once(address, 'listening')
    closing.push(async () => void address.close())
    const services = await openTwo(`redis://127.0.0.1:${(address.address() as AddressInfo).port}`)
    await sharing(services, true)
    primary = second.port
    await first.run(`replicaof 127.0.0.1 ${second.port}`)
    const shares = async () => {
      for (const client of await clientsOf(services)) await statuses(client, 1)
      return Promise.all(services.map(isShared))
    }
    await expect.poll(shares, { timeout: 20_000 }).toEqual([true, true])
    const [here, there] = await clientsOf(services)
    expect(await statuses(here, LEFT)).toEqual({ 200: LEFT })
    expect(await statuses(there, 5)).toEqual({ 429: 5 })
  },
  60_000,
)

test.skipIf(!REDIS)(
  'a store that rejects the password is treated as one that does not respond; the password is in no log',
  async () => {
    const store = await openStore('the-right-password')
    const services = await openTwo(`redis://:a-wrong-password@127.0.0.1:${store.port}`)
    await expect.poll(() => services[0].logged()).toContain('each process counts for itself')
    const [here] = await clientsOf(services)
    expect(await statuses(here, 5)).toEqual({ 200: 5 })
    for (const { logged } of services) expect(logged()).not.toContain('a-wrong-password')
  },
)

test.each(['redis://:%zz@127.0.0.1:6379', 'redis://127.0.0.1:6379?replyMapping=resp3&protocol=2'])(
  'a store that cannot be opened stops no process and rejects no request: each process counts for itself (%s)',
  async (url) => {
    const services = await openTwo(url)
    const clients = await clientsOf(services)
    for (const client of clients) expect(await statuses(client, 5)).toEqual({ 200: 5 })
    for (const service of services) {
      expect(saidOf(service)).toEqual(['for itself'])
      expect(await isShared(service)).toBe(false)
    }
  },
)
