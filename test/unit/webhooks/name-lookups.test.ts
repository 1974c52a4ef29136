import { setMaxListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { addressRule } from '@svc/core/webhooks/safe-address'
import { Sender } from '@svc/core/webhooks/sender'
import { NameLookups } from '@svc/platform/name-lookups'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NameServer } from '../../harness/name-server.ts'

const OF_TENANT_MAX = 8
const OF_PROCESS_MAX = 256
const LIVE = ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946']

let server: NameServer
let names: NameLookups
let ending: AbortController
beforeEach(async () => {
  server = await NameServer.open({
    'live.test': LIVE,
    'four.test': ['93.184.216.34'],
    'inside.test': ['93.184.216.34', '10.0.0.1'],
  })
  names = new NameLookups({ ownNames: false, servers: [server.address] })
  ending = new AbortController()
  setMaxListeners(0, ending.signal)
})
afterEach(async () => {
  ending.abort()
  await server.close()
})

const addressesOf = async (looking: ReturnType<NameLookups['resolve']>) =>
  (await looking).map(({ address }) => address)

/** Lookups of names whose server never responds, until `ending`; each ends as it rejects. */
const silent = (tenantId: string, count: number) =>
  Array.from({ length: count }, (_, n) =>
    names
      .resolve(tenantId, `${tenantId}-${n}.silent.test`, ending.signal)
      .catch((error: Error) => error.name),
  )

test('names whose server never responds occupy no thread of the process, and delay no name of another tenant', async () => {
  const hanging = silent('a', 100)
  await expect.poll(() => server.silentNames()).toBe(OF_TENANT_MAX)
  expect(process.getActiveResourcesInfo().filter((one) => one.startsWith('GetAddrInfo'))).toEqual([])
  expect(await addressesOf(names.resolve('b', 'live.test', ending.signal))).toEqual(LIVE)
  expect(server.silentNames()).toBe(OF_TENANT_MAX)
  ending.abort()
  expect(new Set(await Promise.all(hanging))).toEqual(new Set(['AbortError']))
})

test('a process looks up a limited number of names at a time, and the others when those have ended', async () => {
  const tenants = OF_PROCESS_MAX / OF_TENANT_MAX
  const hanging = Array.from({ length: tenants }, (_, n) => silent(`t${n}`, OF_TENANT_MAX)).flat()
  await expect.poll(() => server.silentNames()).toBe(OF_PROCESS_MAX)
  const next = names.resolve('next', 'live.test', new AbortController().signal)
  const first = names.resolve('next', 'other.silent.test', ending.signal)
  first.catch(() => undefined)
  ending.abort()
  await Promise.all(hanging)
  expect(await addressesOf(next)).toEqual(LIVE)
  // Its turn would have come after `next`, and it was given up before.
  expect([server.silentNames(), server.queried.has('other.silent.test')]).toEqual([OF_PROCESS_MAX, false])
})

test('an abandoned lookup makes room for the next one of its tenant', async () => {
  const hanging = silent('a', OF_TENANT_MAX)
  await expect.poll(() => server.silentNames()).toBe(OF_TENANT_MAX)
  const next = names.resolve('a', 'live.test', new AbortController().signal)
  ending.abort()
  await Promise.all(hanging)
  expect(await addressesOf(next)).toEqual(LIVE)
})

test('concurrent waits for one name share its lookup, which ends with the last of them', async () => {
  const [one, other] = [new AbortController(), new AbortController()]
  const first = names.resolve('a', 'x.silent.test', one.signal).catch((error: Error) => error.name)
  const second = names.resolve('a', 'x.silent.test', other.signal).catch((error: Error) => error.name)
  const hanging = silent('a', OF_TENANT_MAX - 1)
  await expect.poll(() => server.silentNames()).toBe(OF_TENANT_MAX)
  one.abort()
  expect(await first).toBe('AbortError')
  const next = names.resolve('a', 'live.test', ending.signal)
  other.abort()
  expect(await second).toBe('AbortError')
  expect(await addressesOf(next)).toEqual(LIVE)
  ending.abort()
  await Promise.all(hanging)
})

test('a name without one kind of address has those of the other, and an unknown one has none', async () => {
  expect(await addressesOf(names.resolve('a', 'four.test', ending.signal))).toEqual(['93.184.216.34'])
  await expect(names.resolve('a', 'none.test', ending.signal)).rejects.toMatchObject({ code: 'ENOTFOUND' })
})

test('one private address among those of the name servers rejects the connection', async () => {
  const sender = new Sender('https://inside.test/', {
    mayReach: addressRule([]),
    timeoutMs: 5_000,
    connections: 1,
    resolve: (hostname, signal) => names.resolve('a', hostname, signal),
  })
  expect((await sender.post(Buffer.from('{}'), {})).failure).toBe('the address is not public')
  await sender.close()
})

test('an attempt whose name server never responds ends in time, and its lookup with it', async () => {
  let signal: AbortSignal | undefined
  const sender = new Sender('https://x.silent.test/', {
    mayReach: addressRule([]),
    timeoutMs: 500,
    connections: 1,
    resolve: (hostname, given) => {
      signal = given
      return names.resolve('a', hostname, given)
    },
  })
  expect((await sender.post(Buffer.from('{}'), {})).failure).toBe('no response in time')
  await expect.poll(() => signal?.aborted).toBe(true)
  await sender.close()
})

/** A name that only the hosts file of this machine knows. */
const ownName = readFileSync('/etc/hosts', 'utf8')
  .split('\n')
  .map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
  .flatMap(([address = '', ...known]) => (address.startsWith('127.') ? known : []))
  .find((name) => !/localhost/.test(name))

test.runIf(ownName !== undefined)(
  'a name of the machine itself resolves only where webhooks may go to such names',
  async () => {
    const inside = new NameLookups({ ownNames: true, servers: [server.address] })
    expect(await addressesOf(inside.resolve('a', ownName!, ending.signal))).toContain('127.0.0.1')
    expect(await addressesOf(inside.resolve('a', 'localhost', ending.signal))).toContain('127.0.0.1')
    await expect(names.resolve('a', ownName!, ending.signal)).rejects.toMatchObject({ code: 'ENOTFOUND' })
  },
)
