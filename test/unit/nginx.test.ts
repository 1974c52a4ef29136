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

const isInstalled = spawnSync('sh', ['-c', 'command -v nginx']).status === 0

/** nginx with the file of deploy/ in front of these three processes. Returns the port for callers. */
async function openBalancer(processes: readonly Process[]): Promise<number> {
  const folder = proxyFolder()
  const port = await freePort()
  const site = readFileSync(join(ROOT, 'deploy/nginx/svc.conf'), 'utf8')
    .replace('/etc/svc/tls/fullchain.pem', join(folder, 'cert.pem'))
    .replace('/etc/svc/tls/privkey.pem', join(folder, 'key.pem'))
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace(/10\.0\.0\.1(\d):8080/g, (_, n: string) => `127.0.0.1:${processes[Number(n) - 1]!.port}`)
  const file = join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n')
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${site}\n}\n`,
  )
  const balancer = spawn('nginx', ['-c', file, '-p', folder], { stdio: 'ignore' })
  onTestFinished(async () => {
    balancer.kill('SIGKILL')
    if (balancer.exitCode === null && balancer.signalCode === null) await once(balancer, 'exit')
  })
  await expect.poll(() => statusOf(port, '/livez').catch(() => 0)).toBe(200)
  return port
}

const openProcesses = () => Promise.all([openProcess(), openProcess(), openProcess()])

test.skipIf(!isInstalled)(
  'nginx sends the requests of a page to one process and all others to every one',
  async () => {
    const processes = await openProcesses()
    const port = await openBalancer(processes)
    const served = (prefix: string) =>
      processes.filter(({ paths }) => paths.some((path) => path.startsWith(prefix)))
    for (let n = 0; n < 9; n++) await fetchPath(port, `/api/${n}`)
    for (let n = 0; n < 9; n++)
      for (const page of ['console', 'portal']) await fetchPath(port, `/${page}/assets/${n}.js`)
    expect(served('/api/')).toHaveLength(3)
    expect(served('/console/')).toHaveLength(1)
    expect(served('/portal/')).toEqual(served('/console/'))
  },
)

test.skipIf(!isInstalled)(
  'where no process responds, nginx returns 503 in the form of the service’s errors; other responses pass unchanged',
  async () => {
    const port = await openBalancer(await openProcesses())
    for (const path of ['/break', '/break']) {
      const broken = await fetchPath(port, path)
      expect(broken).toMatchObject({
        status: 503,
        headers: { 'content-type': 'application/json', 'retry-after': '1' },
      })
      expect(JSON.parse(broken.text)).toEqual(asOfTheService(broken, 'outcome_unknown'))
    }
    expect((await fetchPath(port, '/rails/upi/credits')).status).toBe(403)
    expect((await fetchPath(port, '/metrics')).status).toBe(404)
    expect(await fetchPath(port, '/readyz')).toMatchObject({ status: 200 })
  },
)
