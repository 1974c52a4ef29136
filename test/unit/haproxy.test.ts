import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../harness/free-port.ts'
import { ROOT } from '../harness/sources.ts'

const isInstalled = spawnSync('sh', ['-c', 'command -v haproxy']).status === 0

/** HAProxy with the file of deploy/ in front of one process, which responds 200 to everything. Returns the port for callers. */
async function openBalancer(networkOfTheBank: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-haproxy-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [key, cert, pem, file] = ['key.pem', 'cert.pem', 'tls.pem', 'haproxy.cfg'].map((name) =>
    join(folder, name),
  )
  const options = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=svc'
  execFileSync('openssl', [...options.split(' '), '-keyout', key!, '-out', cert!], { stdio: 'ignore' })
  writeFileSync(pem!, readFileSync(cert!, 'utf8') + readFileSync(key!, 'utf8'))

  const service = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
  await once(service, 'listening')
  onTestFinished(() => service.close().closeAllConnections())
  const port = await freePort()
  const config = readFileSync(join(ROOT, 'deploy/haproxy/svc.cfg'), 'utf8')
    // It does not start where it may not open two files for each connection.
    .replace('maxconn 20000', 'maxconn 100')
    .replace('/etc/haproxy/tls.pem', pem!)
    .replace('bind :8443', `bind 127.0.0.1:${port}`)
    .replace('192.0.2.0/24', networkOfTheBank)
    .replace('svc1:8080', `127.0.0.1:${(service.address() as AddressInfo).port}`)
    .replace(/^ {2}server svc[23] .*\n/gm, '')
  writeFileSync(file!, config)
  const balancer = spawn('haproxy', ['-db', '-f', file!], { stdio: 'ignore' })
  onTestFinished(async () => {
    balancer.kill('SIGKILL')
    if (balancer.exitCode === null && balancer.signalCode === null) await once(balancer, 'exit')
  })
  await expect.poll(() => statusOf(port, '/livez').catch(() => 0)).toBe(200)
  return port
}

/** The path goes out as it is written. */
const statusOf = (port: number, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method: 'POST', rejectUnauthorized: false, agent: false }
    request(options, (response) => resolve(response.resume().statusCode!))
      .once('error', reject)
      .end()
  })

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
    const others = await openBalancer('192.0.2.0/24')
    for (const path of [...guarded, ...metrics])
      expect([path, await statusOf(others, path)]).toEqual([path, 404])
    for (const path of ['/api/v0/qr-code', '/api/v0/%72ails/x'])
      expect([path, await statusOf(others, path)]).toEqual([path, 200])
    const bank = await openBalancer('127.0.0.0/8')
    for (const path of guarded) expect([path, await statusOf(bank, path)]).toEqual([path, 200])
    for (const path of metrics) expect([path, await statusOf(bank, path)]).toEqual([path, 404])
  },
)
