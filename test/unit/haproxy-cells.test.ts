import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setRoutes } from '@svc/app/cells/router'
import { expect, onTestFinished, test } from 'vitest'
import { fetchPath, openProcess, type Process, proxyFolder, statusOf } from '../harness/behind-proxy.ts'
import { freePort } from '../harness/free-port.ts'
import { ROOT } from '../harness/sources.ts'

const isInstalled = spawnSync('sh', ['-c', 'command -v haproxy']).status === 0

const MAPS: Readonly<Record<string, string>> = {
  'tenants.map': 'mer_moved b\n',
  'keys.map': 'svc_live_moved0 b\nsvc_live_b_back00 a\n',
  'references.map':
    'cli_0000000000000000000000moved b\nSVC0MOVED b\nmak_moved b\nSVCP000000000001 b\ncrd_moved b\n',
  'ranges.map': '99991201 a\n99991202 b\n',
}

interface Router {
  readonly port: number
  readonly folder: string
  readonly socket: string
  readonly start: () => void
  readonly kill: () => Promise<void>
}

/** HAProxy with the file of deploy/, in front of one process for each cell. */
async function openRouter(a: Process, b: Process): Promise<Router> {
  const folder = proxyFolder()
  const port = await freePort()
  const socket = join(folder, 'admin.sock')
  for (const [name, text] of Object.entries(MAPS)) writeFileSync(join(folder, name), text)
  const config = readFileSync(join(ROOT, 'deploy/haproxy/cells.cfg'), 'utf8')
    // It does not start where it may not open two files for each connection.
    .replace('maxconn 20000', 'maxconn 100')
    .replace('/run/haproxy/admin.sock', socket)
    .replaceAll('/etc/haproxy/maps', folder)
    .replace('/etc/haproxy/tls.pem', join(folder, 'tls.pem'))
    .replace('bind :8443', `bind 127.0.0.1:${port}`)
    .replace('192.0.2.0/24', '127.0.0.0/8')
    .replace(/^ {2}server [ab]2 .*\n/gm, '')
    .replace('a1:8080', `127.0.0.1:${a.port}`)
    .replace('b1:8080', `127.0.0.1:${b.port}`)
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, config)
  let router: ChildProcess | undefined
  const start = (): void => void (router = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' }))
  const kill = async () => {
    router!.kill('SIGKILL')
    if (router!.exitCode === null && router!.signalCode === null) await once(router!, 'exit')
  }
  start()
  onTestFinished(kill)
  await expect.poll(() => statusOf(port, '/livez').catch(() => 0)).toBe(200)
  return { port, folder, socket, start, kill }
}

const bearer = (claims: object) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return { authorization: `Bearer ${part({ alg: 'EdDSA', typ: 'at+jwt' })}.${part(claims)}.c2lnbmF0dXJl` }
}
const basic = (client: string) => ({
  authorization: `Basic ${Buffer.from(`${client}:x`).toString('base64')}`,
})
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const random = '0'.repeat(26)

/** Each way to name a tenant: where requests lead of one that has moved, of another cell, and of the time before cells. */
const REQUESTS: readonly (readonly [
  cell: 'a' | 'b',
  path: string,
  headers: Record<string, string>,
  body?: string,
])[] = [
  ['b', '/api/v0/qr-code', bearer({ sub: 'mer_moved', cell: 'a' })],
  ['b', '/api/v0/qr-code', bearer({ sub: 'mer_of_b', cell: 'b' })],
  ['a', '/api/v0/qr-code', bearer({ sub: 'mer_of_a', cell: 'a' })],
  ['a', '/api/v0/qr-code', bearer({ sub: 'mer_before' })],
  ['a', '/api/v0/qr-code', { authorization: 'Bearer changed' }],
  ['b', '/api/v0/merchant/token', { 'api-key': 'svc_live_moved0000000000000000000000000_000000' }],
  ['b', '/api/v0/merchant/token', { 'api-key': 'svc_live_b_00000000000000000000000000000000_000000' }],
  ['a', '/api/v0/merchant/token', { 'api-key': 'svc_live_b_back0000000000000000000000000000_000000' }],
  ['a', '/api/v0/merchant/token', { 'api-key': 'svc_live_00000000000000000000000000000000_000000' }],
  ['b', '/oauth/token', basic('cli_0000000000000000000000moved')],
  ['b', '/oauth/token', basic(`cli_b_${random}`)],
  ['a', '/oauth/token', basic(`cli_${random}`)],
  ['b', '/oauth/token', FORM, `grant_type=client_credentials&client_id=cli_b_${random}`],
  ['a', '/oauth/token', FORM, `grant_type=client_credentials&client_id=cli_a_${random}`],
  ['b', '/api/v0/qr-code/cancel', { merchantaccesskey: 'mak_moved' }],
  ['b', '/rails/upi/credits', {}, '{"tr":"SVC0MOVED"}'],
  ['b', '/rails/upi/credits', {}, '{"tr":"SVCB01J0"}'],
  ['a', '/rails/upi/credits', {}, '{"tr":"SVC01J0"}'],
  ['b', '/rails/bank/credits', {}, '{"virtualAccount":"SVCPB000000000000"}'],
  ['b', '/rails/bank/credits', {}, '{"virtualAccount":"SVCP000000000001"}'],
  ['a', '/rails/bank/credits', {}, '{"virtualAccount":"SVCP000000000002"}'],
  ['b', '/rails/cards/authorizations', {}, '{"card":{"token":"crd_moved"}}'],
  ['b', '/rails/cards/authorizations', {}, '{"card":{"cardNumber":"9999120200000000"}}'],
  ['a', '/rails/cards/authorizations', {}, '{"card":{"cardNumber":"9999129900000000"}}'],
]

test.skipIf(!isInstalled)('HAProxy sends each request to the cell in which its tenant lives', async () => {
  const [a, b] = [await openProcess(), await openProcess()]
  const { port } = await openRouter(a, b)
  const led: unknown[] = []
  for (const [, path, headers, body] of REQUESTS) {
    const before = b.paths.length
    expect((await fetchPath(port, path, { headers, ...(body !== undefined && { body }) })).status).toBe(200)
    led.push([b.paths.length > before ? 'b' : 'a', path, headers, body])
  }
  expect(led).toEqual(REQUESTS.map(([cell, path, headers, body]) => [cell, path, headers, body]))
})

test.skipIf(!isInstalled)('a move changes the maps of a running HAProxy, there and back', async () => {
  const [a, b] = [await openProcess(), await openProcess()]
  const { port, folder, socket } = await openRouter(a, b)
  const headers = bearer({ sub: 'mer_1', cell: 'a' })
  const counts = async () => {
    await fetchPath(port, '/api/v0/qr-code', { headers })
    return [a, b].map(({ paths }) => paths.filter((path) => path.startsWith('/api/')).length)
  }
  expect(await counts()).toEqual([1, 0])
  for (const [cell, expected] of [
    ['b', [1, 1]],
    ['a', [2, 1]],
    ['b', [2, 2]],
  ] as const) {
    await setRoutes({ sockets: [socket], maps: folder }, { 'tenants.map': [['mer_1', cell]] })
    expect(await counts()).toEqual(expected)
  }
})

test.skipIf(!isInstalled)(
  'a move waits for an HAProxy that is being started again, and changes its maps',
  async () => {
    const [a, b] = [await openProcess(), await openProcess()]
    const { port, folder, socket, start, kill } = await openRouter(a, b)
    await kill()
    const set = setRoutes({ sockets: [socket], maps: folder }, { 'tenants.map': [['mer_1', 'b']] })
    await new Promise((resolve) => setTimeout(resolve, 300))
    start()
    await set
    await expect.poll(() => statusOf(port, '/livez').catch(() => 0)).toBe(200)
    await fetchPath(port, '/api/v0/qr-code', { headers: bearer({ sub: 'mer_1', cell: 'a' }) })
    expect(b.paths).toContain('/api/v0/qr-code')
  },
)
