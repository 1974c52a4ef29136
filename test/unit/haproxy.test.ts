import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  asOfTheService,
  fetchPath,
  openProcess,
  type Process,
  proxyFolder,
  statusOf,
} from '../harness/behind-proxy.ts'
import { freePort } from '../harness/free-port.ts'
import { ROOT } from '../harness/sources.ts'

const isInstalled = spawnSync('sh', ['-c', 'command -v haproxy']).status === 0

/** HAProxy with the file of deploy/ in front of these processes. Returns the port for callers. */
async function openBalancer(
  processes: readonly Process[],
  networkOfTheBank = '192.0.2.0/24',
): Promise<number> {
  const folder = proxyFolder()
  const port = await freePort()
  const config = readFileSync(join(ROOT, 'deploy/haproxy/svc.cfg'), 'utf8')
    // It does not start where it may not open two files for each connection.
    .replace('maxconn 20000', 'maxconn 100')
    .replace('/etc/haproxy/tls.pem', join(folder, 'tls.pem'))
    .replace('bind :8443', `bind 127.0.0.1:${port}`)
    .replace('192.0.2.0/24', networkOfTheBank)
    .replace(/^ {2}server (svc(\d)) \S+(.*)\n/gm, (_, name: string, n: string, track: string) => {
      const process = processes[Number(n) - 1]
      return process ? `  server ${name} 127.0.0.1:${process.port}${track}\n` : ''
    })
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, config)
  const balancer = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
  onTestFinished(async () => {
    balancer.kill('SIGKILL')
    if (balancer.exitCode === null && balancer.signalCode === null) await once(balancer, 'exit')
  })
  await expect.poll(() => statusOf(port, '/livez').catch(() => 0)).toBe(200)
  return port
}

test.skipIf(!isInstalled)(
  'through HAProxy only the network of the bank reaches the rails, and no caller the metrics, however the path is written',
  async () => {
    const guarded = [
      '/rails/upi/credits',
      '/%72ails/upi/credits',
      '/r%61il%73/upi/credits',
      '/rails%2Fupi/credits',
    ]
    const metrics = ['/metrics', '/metric%73', '/%6Detrics?x=1']
    const process = await openProcess()
    const others = await openBalancer([process])
    for (const path of [...guarded, ...metrics])
      expect([path, await statusOf(others, path)]).toEqual([path, 404])
    for (const path of ['/api/v0/qr-code', '/api/v0/%72ails/x'])
      expect([path, await statusOf(others, path)]).toEqual([path, 200])
    const bank = await openBalancer([process], '127.0.0.0/8')
    for (const path of guarded) expect([path, await statusOf(bank, path)]).toEqual([path, 200])
    for (const path of metrics) expect([path, await statusOf(bank, path)]).toEqual([path, 404])
  },
)

/** As long as `/readyz` takes at most. */
const PROBE_MS = 2_000

test.skipIf(!isInstalled)(
  'a process whose readiness check takes as long as allowed, or fails once, stays behind HAProxy; two failed checks remove it',
  async () => {
    const process = await openProcess()
    const port = await openBalancer([process])
    const seen: number[] = []
    let checks = 0
    const checked = new Promise<void>((resolve) => {
      process.readiness = async () => {
        checks++
        const slow = checks <= 2 && new Promise((late) => setTimeout(late, PROBE_MS))
        // Before the response to this check: what the previous ones led to.
        seen.push(await statusOf(port, '/'))
        await slow
        if (checks === 6) resolve()
        return [3, 5, 6].includes(checks) ? 503 : 200
      }
    })
    await checked
    // Slow, slow, failed, ready, failed, failed.
    expect(seen).toEqual([200, 200, 200, 200, 200, 200])
    await expect.poll(() => statusOf(port, '/'), { timeout: 10_000 }).toBe(503)
  },
  30_000,
)

test.skipIf(!isInstalled)(
  'errors of HAProxy itself have the form of the service’s errors, and state whether a process got the request',
  async () => {
    const process = await openProcess()
    const port = await openBalancer([process])
    const broken = await fetchPath(port, '/break')
    expect(broken.status).toBe(502)
    expect(JSON.parse(broken.text)).toEqual(asOfTheService(broken, 'outcome_unknown'))
    process.readiness = () => 503
    await expect.poll(() => statusOf(port, '/'), { timeout: 10_000 }).toBe(503)
    const unavailable = await fetchPath(port, '/')
    expect(JSON.parse(unavailable.text)).toEqual(asOfTheService(unavailable, 'temporarily_unavailable'))
    for (const { headers } of [broken, unavailable])
      expect(headers).toMatchObject({ 'content-type': 'application/json', 'retry-after': '1' })
  },
  30_000,
)

test.skipIf(!isInstalled)(
  'HAProxy sends the requests of a page to one process and all others to every one, and to another one when that has gone',
  async () => {
    const processes = await Promise.all([openProcess(), openProcess(), openProcess()])
    const port = await openBalancer(processes)
    const served = (prefix: string) =>
      processes.filter(({ paths }) => paths.some((path) => path.startsWith(prefix)))
    for (let n = 0; n < 9; n++) await fetchPath(port, `/api/${n}`)
    for (let n = 0; n < 9; n++)
      for (const page of ['console', 'portal']) await fetchPath(port, `/${page}/assets/${n}.js`)
    expect(served('/api/')).toHaveLength(3)
    expect(served('/console/')).toHaveLength(1)
    expect(served('/portal/')).toEqual(served('/console/'))
    const [gone] = served('/console/')
    gone!.readiness = () => 503
    await expect
      .poll(
        async () => {
          await fetchPath(port, '/console/')
          return served('/console/').length
        },
        { timeout: 10_000 },
      )
      .toBe(2)
  },
  30_000,
)
