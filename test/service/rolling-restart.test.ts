import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { Client } from '../harness/client.ts'
import { freePort } from '../harness/free-port.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { MASTER_KEY, openService, tokenOf } from '../harness/service.ts'

const CALLERS = 4
const PROBE_MS = 100

/** A process as a load balancer sees it. */
interface Target {
  readonly process: ServiceProcess
  readonly pool: Pool
  /** What its `/readyz` said last. */
  isReady: boolean
}

/** Sends each request once, to a process that is ready, and asks for that every 100 ms. */
class Balancer {
  readonly targets: Target[] = []
  #next = 0
  readonly #timer = setInterval(() => {
    for (const target of this.targets) void this.#probe(target).then((isReady) => (target.isReady = isReady))
  }, PROBE_MS)

  #probe({ process: { baseUrl } }: Target): Promise<boolean> {
    return fetch(`${baseUrl}/readyz`).then(
      async (response) => (await response.arrayBuffer(), response.status === 200),
      () => false,
    )
  }

  add(process: ServiceProcess): Target {
    const target = { process, pool: new Pool(process.baseUrl, { connections: CALLERS }), isReady: true }
    this.targets.push(target)
    return target
  }

  async remove(target: Target): Promise<void> {
    this.targets.splice(this.targets.indexOf(target), 1)
    await target.pool.close()
  }

  /** What became of the request: its status, or that there was no response. */
  async send(method: 'GET' | 'POST', path: string, headers: Record<string, string>): Promise<string> {
    const ready = this.targets.filter(({ isReady }) => isReady)
    const choice = ready.length > 0 ? ready : this.targets
    const { pool } = choice[this.#next++ % choice.length]!
    const body = method === 'POST' ? { body: '{"multipleUse":true}' } : {}
    try {
      const response = await pool.request({ method, path, headers, ...body })
      await response.body.dump()
      return String(response.statusCode)
    } catch (error) {
      return String(error)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    for (const target of this.targets.slice()) {
      await this.remove(target)
      await target.process.end('SIGTERM')
    }
  }
}

test('processes that are restarted one after the other under load, behind a load balancer that checks /readyz, fail no request', async () => {
  const service = await openService()
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-rolling-'))
  const balancer = new Balancer()
  let stopped = false
  onTestFinished(async () => {
    stopped = true
    await balancer.close()
    await service.close()
    await rm(dataDir, { recursive: true, force: true })
  })
  const start = async () =>
    balancer.add(
      await startProcess({
        SVC_MODE: 'live',
        RATE_LIMIT_PER_SECOND: '0',
        DATABASE_URL: service.db.url,
        DATABASE_OPERATOR_URL: service.db.url,
        SVC_MASTER_KEY: MASTER_KEY,
        // The same issuer for all, so that a token of the one is good for the others.
        PUBLIC_URL: 'https://svc.example.com',
        PORT: `${await freePort()}`,
        DATA_DIR: dataDir,
      }),
    )
  await start()
  await start()
  const { apiKey } = await service.newMerchant()
  const token = await tokenOf(await Client.open(balancer.targets[0]!.process.baseUrl), apiKey)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }

  const outcomes = new Map<string, number>()
  const caller = async (_: unknown, n: number) => {
    while (!stopped) {
      const outcome =
        n % 2
          ? await balancer.send('POST', '/api/v0/qr-code', headers)
          : await balancer.send('GET', '/api/v0/events', headers)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      if (outcome !== '200') return
    }
  }
  const callers = Array.from({ length: CALLERS }, caller)
  for (const target of balancer.targets.slice()) {
    const { code } = await target.process.end('SIGTERM')
    expect(code, target.process.written()).toBe(0)
    await balancer.remove(target)
    await start()
  }
  stopped = true
  await Promise.all(callers)
  expect([...outcomes.keys()]).toEqual(['200'])
}, 240_000)
