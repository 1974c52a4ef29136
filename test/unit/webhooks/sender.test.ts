import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Failure } from '@svc/contract/errors'
import { endpointUrl } from '@svc/core/webhooks/endpoint-url'
import { addressRule, LOOPBACK } from '@svc/core/webhooks/safe-address'
import { Sender } from '@svc/core/webhooks/sender'
import type { Resolve } from '@svc/platform/name-lookups'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebhookReceiver } from '../../harness/webhook-receiver.ts'

/** Listens where no webhook may go: every TCP connection to it is a failure of ours. */
let trap: WebhookReceiver
let trapSix: WebhookReceiver | undefined
beforeAll(async () => {
  trap = await WebhookReceiver.open('0.0.0.0')
  trapSix = await WebhookReceiver.open('::1').catch(() => undefined)
})
afterAll(async () => {
  await trap.close()
  await trapSix?.close()
})

/** Spellings of this host and of private ones, each of which some HTTP client falls for. */
const HOSTS = `
  127.0.0.1 127.1 127.0.1 0 0.0.0.0 0x7f.1 0x7f000001 0177.0.0.1 017700000001 2130706433 127.0.0.1.
  127.255.255.254 0x7f.0x0.0x0.0x1 ０x7f.1 ①②⑦.⓪.⓪.① 127。0。0。1 [::1] [::] [0:0:0:0:0:0:0:1]
  [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [0:0:0:0:0:ffff:127.0.0.1] [64:ff9b::127.0.0.1]
  [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001::1] [fe80::1] [fc00::1] [fd12:3456::1] [ff02::1] [100::1]
  [2001:db8::1] [3fff::1] 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1
  192.0.0.170 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 0xa9fea9fe 2852039166 025177524776
  localhost LOCALHOST localhost. app.localhost rebinding.test mixed.test mapped.test metadata.test
  private.test six.test zone.test nothing.test broken.test
`
  .trim()
  .split(/\s+/)

/** What the names of an attacker lead to; `rebinding.test` is public only when it is asked first. */
function hostileResolver(): Resolve {
  let lookups = 0
  const names: Record<string, () => string[]> = {
    'rebinding.test': () => [lookups++ === 0 ? '10.0.0.1' : '127.0.0.1'],
    'mixed.test': () => ['93.184.216.34', '127.0.0.1'],
    'mapped.test': () => ['::ffff:127.0.0.1'],
    'metadata.test': () => ['169.254.169.254'],
    'private.test': () => ['192.168.0.10'],
    'six.test': () => ['::1'],
    'zone.test': () => ['fe80::1%lo'],
    'nothing.test': () => [],
    'broken.test': () => ['not an address'],
  }
  return async (hostname) => {
    const addresses = names[hostname]?.() ?? ['127.0.0.1']
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
}

test(`none of ${HOSTS.length} hostile hosts is connected to, over http or https`, async () => {
  expect(HOSTS.length).toBeGreaterThanOrEqual(60)
  const ports = [trap.port, ...(trapSix ? [trapSix.port] : [])]
  const urls = HOSTS.flatMap((host) =>
    ['http', 'https'].flatMap((scheme) => ports.map((port) => `${scheme}://${host}:${port}/`)),
  )
  const outcomes = await Promise.all(
    urls
      .filter((url) => URL.canParse(url))
      .map(async (url) => {
        const sender = new Sender(url, {
          mayReach: addressRule([]),
          timeoutMs: 2_000,
          connections: 1,
          resolve: hostileResolver(),
        })
        const sent = await sender.post(Buffer.from('{}'), {})
        await sender.close()
        return [url, sent.status, sent.failure]
      }),
  )
  for (const [url, status, failure] of outcomes)
    expect([url, status, failure]).toEqual([url, undefined, 'the address is not public'])
  expect(trap.connections + (trapSix?.connections ?? 0)).toBe(0)
})

test('in live mode no hostile URL is accepted at all, in sandbox mode only loopback is', () => {
  const live = { sandbox: false, mayReach: addressRule([]) }
  const sandbox = { sandbox: true, mayReach: addressRule(LOOPBACK) }
  const refused = (url: string, rule: typeof live) => {
    try {
      return endpointUrl(url, rule) && false
    } catch (error) {
      return error instanceof Failure && error.code === 'webhook_url_refused'
    }
  }
  const dns = new Set(['mixed.test', 'metadata.test'])
  for (const host of HOSTS.filter((host) => !dns.has(host)))
    for (const scheme of ['http', 'https'])
      expect([host, refused(`${scheme}://${host}/`, live)]).toEqual([host, true])
  const bad = [
    'ftp://a.com/',
    'file:///etc/passwd',
    'gopher://a.com:70/',
    'javascript:1',
    '//a.com',
    'a.com',
    'https://',
  ]
  bad.push(
    'https://user:pass@a.com/',
    'https://user@a.com/',
    'https://a.com/#x',
    'https://a.com:22/',
    'https://a.com:25/',
  )
  bad.push(
    'https://a.com:6000/',
    'https://a.com:99999/',
    'http://a.com/',
    'https://intranet/',
    'https://db.internal/',
  )
  bad.push(`https://a.com/${'x'.repeat(3_000)}`, 'https://a_b/', 'https://[::1', 'https://a.com:0/')
  for (const url of bad) expect([url, refused(url, live)]).toEqual([url, true])
  expect(endpointUrl('https://hooks.shop.com/a?b=c', live)).toBe('https://hooks.shop.com/a?b=c')
  expect(endpointUrl('HTTPS://Hooks.Shop.com:8443', live)).toBe('https://hooks.shop.com:8443/')
  expect(endpointUrl('http://127.0.0.1:3000/hook', sandbox)).toBe('http://127.0.0.1:3000/hook')
  expect(endpointUrl('http://2130706433:3000/', sandbox)).toBe('http://127.0.0.1:3000/')
  expect(refused('http://10.0.0.1/', sandbox)).toBe(true)
  expect(refused('http://169.254.169.254/', sandbox)).toBe(true)
})

test('a name is looked up once for a connection, and the connection goes to the address that was checked', async () => {
  const good = await WebhookReceiver.open('127.0.0.2')
  const lookups: string[] = []
  // The second answer, which is never asked for, would lead to the trap.
  const resolve: Resolve = async (hostname) => {
    lookups.push(hostname)
    return [{ address: lookups.length === 1 ? '127.0.0.2' : '127.0.0.1', family: 4 }]
  }
  const mayReach = addressRule([{ address: '127.0.0.2', prefix: 32, family: 'ipv4' }])
  const options = { mayReach, timeoutMs: 2_000, connections: 1, resolve }
  const sender = new Sender(`http://rebinding.test:${good.port}/hook`, options)
  expect((await sender.post(Buffer.from('{}'), {})).status).toBe(204)
  expect(lookups).toEqual(['rebinding.test'])
  await sender.close()
  const again = new Sender(`http://rebinding.test:${trap.port}/hook`, options)
  expect((await again.post(Buffer.from('{}'), {})).failure).toBe('the address is not public')
  await again.close()
  expect(trap.connections).toBe(0)
  await good.close()
})

test('a redirect to the trap is not followed', async () => {
  const good = await WebhookReceiver.open('127.0.0.2')
  const mayReach = addressRule([{ address: '127.0.0.2', prefix: 32, family: 'ipv4' }])
  for (const status of [301, 302, 303, 307, 308]) {
    good.response = (_, response) =>
      void response.writeHead(status, { location: `http://127.0.0.1:${trap.port}/` }).end()
    const sender = new Sender(`http://127.0.0.2:${good.port}/`, {
      mayReach,
      timeoutMs: 2_000,
      connections: 1,
    })
    expect((await sender.post(Buffer.from('{}'), {})).status).toBe(status)
    await sender.close()
  }
  expect(trap.connections).toBe(0)
  await good.close()
})

test('an attempt ends in time although memory is collected meanwhile', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const collecting = setInterval(collect, 50)
  const hostile = createServer((_, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'), 100)
    response.on('close', () => clearInterval(timer))
  })
  await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve))
  const { port } = hostile.address() as AddressInfo
  const options = { mayReach: addressRule(LOOPBACK), timeoutMs: 500, connections: 1 }
  const sender = new Sender(`http://127.0.0.1:${port}/drip`, options)
  const { excerpt } = await sender.post(Buffer.from('{}'), {})
  // It would be cut off at 1,024, after a hundred seconds.
  expect(excerpt.length).toBeLessThan(500)
  clearInterval(collecting)
  await sender.close()
  hostile.closeAllConnections()
  hostile.close()
})

test('endless bodies, slowly dripping responses, silence and giant headers are ended, and little of them is kept', async () => {
  let written = 0
  const hostile = createServer((request, response) => {
    const block = Buffer.alloc(65_536, 120)
    if (request.url === '/endless') {
      response.writeHead(200)
      const push = () => {
        while (!response.destroyed && response.write(block)) written += block.length
      }
      response.on('drain', push)
      push()
    } else if (request.url === '/drip') {
      response.writeHead(200)
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    } else if (request.url === '/headers') {
      response.socket!.write(`HTTP/1.1 200 OK\r\nx-big: ${'y'.repeat(1_000_000)}\r\n\r\n`)
    } else if (request.url === '/garbage') response.socket!.end('nonsense\r\n\r\n')
    else if (request.url === '/control') response.writeHead(200).end('a\u0000b\u001b[31m')
  })
  await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve))
  const { port } = hostile.address() as AddressInfo
  const post = async (path: string) => {
    const options = { mayReach: addressRule(LOOPBACK), timeoutMs: 700, connections: 1 }
    const sender = new Sender(`http://127.0.0.1:${port}${path}`, options)
    const sent = await sender.post(Buffer.from('{}'), {})
    await sender.close()
    return sent
  }
  expect(await post('/endless')).toMatchObject({ status: 200, excerpt: 'x'.repeat(1_024) })
  expect(written).toBeLessThan(20_000_000)
  const drip = await post('/drip')
  expect(drip.status).toBe(200)
  expect(drip.excerpt.length).toBeLessThan(200)
  expect(await post('/silence')).toMatchObject({ failure: 'no response in time', excerpt: '' })
  expect((await post('/headers')).failure).toBe('the headers of the response are too large')
  expect((await post('/garbage')).failure).toBe('no valid response')
  expect((await post('/control')).excerpt).toBe('a\u{fffd}b\u{fffd}[31m')
  hostile.closeAllConnections()
  await new Promise((resolve) => hostile.close(resolve))
})
