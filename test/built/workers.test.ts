import { isAlive } from '@svc/embedded-postgres/embedded-postmaster'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../harness/free-port.ts'
import { type Live, METRICS_TOKEN, openLive } from '../harness/live.ts'
import { runCli, type ServiceProcess, startProcess } from '../harness/processes.ts'

// The program that ships with WORKERS=2: one command, two processes that serve and one with jobs.
let live: Live
let service: ServiceProcess

beforeAll(async () => {
  live = await openLive()
  service = await startProcess({ ...live.settings, WORKERS: '2' })
})
afterAll(async () => {
  await service?.end('SIGTERM')
  await live?.close()
})

/** Over a connection of its own, so that any worker may get it. */
const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(service.baseUrl + path, {
    headers: { connection: 'close', ...headers },
    signal: AbortSignal.timeout(20_000),
  })

const figures = async () => (await ask('/metrics', { authorization: `Bearer ${METRICS_TOKEN}` })).text()

/** How often each worker was started. */
const starts = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    [...(await figures()).matchAll(/^svc_worker_starts_total\{worker="(\w+)"\} (\d+)$/gm)].map(
      ([, worker, count]) => [worker, Number(count)],
    ),
  )

interface Ready {
  readonly pid: number
  readonly roles: string[]
}
/** What each worker logged when it was ready, in their order. */
const ready = (): Ready[] =>
  service
    .written()
    .split('\n')
    .filter((line) => line.includes('"msg":"ready"'))
    .map((line) => JSON.parse(line) as Ready)

const allReady = () => expect.poll(() => ready().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(3)

test('requests are spread over the workers, and each of them reports the metrics of all, by a label', async () => {
  await allReady()
  const requests = 20
  for (let n = 0; n < requests; n++) expect((await ask('/livez')).status).toBe(200)
  const text = await figures()
  const served = [...text.matchAll(/^svc_http_request_seconds_count\{(.*operation="livez".*)\} (\d+)$/gm)]
  expect(served.map(([, labels]) => /worker="(\w+)"/.exec(labels!)![1]).sort()).toEqual(['1', '2'])
  expect(served.reduce((sum, [, , count]) => sum + Number(count), 0)).toBe(requests)
  const roles = [...text.matchAll(/^svc_role\{worker="(\w+)",role="(\w+)"\} 1$/gm)]
  expect(roles.map(([, worker, role]) => `${worker} ${role}`)).toEqual([
    '1 api',
    '1 console',
    '2 api',
    '2 console',
    'jobs jobs',
  ])
  // One head for a metric, before all its samples.
  expect(text.match(/^# TYPE svc_role gauge$/gm)).toHaveLength(1)
  expect(await starts()).toEqual({ 1: 1, 2: 1, jobs: 1 })
})

test('a worker that is killed is replaced, and no connection is refused meanwhile', async () => {
  let isOver = false
  const outcomes: string[] = []
  const callers = [1, 2, 3, 4].map(async () => {
    while (!isOver)
      outcomes.push(
        await ask('/livez', {}).then(
          async (response) => (await response.text(), `${response.status}`),
          (error: Error & { cause?: { code?: string } }) => error.cause?.code ?? error.name,
        ),
      )
  })
  for (const role of ['api', 'jobs']) {
    const before = ready().length
    process.kill(ready().findLast(({ roles }) => roles.includes(role))!.pid, 'SIGKILL')
    await expect.poll(() => ready().length, { timeout: 60_000 }).toBe(before + 1)
  }
  isOver = true
  await Promise.all(callers)
  expect(outcomes).toContain('200')
  expect(outcomes).not.toContain('ECONNREFUSED')
  const restarted = await starts()
  expect(restarted['jobs']).toBe(2)
  expect(restarted['1']! + restarted['2']!).toBe(3)
  expect(service.written().match(/a worker ended; another one takes its place/g)).toHaveLength(2)
})

test('svc admin doctor finds all roles, and counts the connections of all workers', async () => {
  const { findings } = await live.svc(['admin', 'doctor'], '', { WORKERS: '2' })
  const of = (name: string) => findings.filter(({ check }: { check: string }) => check === name)
  expect(of('roles')).toMatchObject([{ status: 'PASS' }])
  expect(of('connections')[0].detail).toMatch(/^the 3 processes of svc serve use up to \d+ connections/)
})

test('SIGTERM drains all workers: they report 503 and serve on, and end with code 0', async () => {
  process.kill(service.pid, 'SIGTERM')
  await expect.poll(async () => (await ask('/readyz')).status, { timeout: 30_000 }).toBe(503)
  expect((await ask('/livez')).status).toBe(200)
  expect(await service.ended).toEqual({ code: 0, signal: null })
  expect(service.written().match(/"msg":"drained"/g)).toHaveLength(3)
  await expect(ask('/livez')).rejects.toThrow('fetch failed')
  expect(ready().filter(({ pid }) => isAlive(pid))).toEqual([])
})

test('a start that cannot succeed is reported once, and leaves no process behind', async () => {
  const unreachable = `postgresql://svc@127.0.0.1:${await freePort()}/svc`
  const { code, stderr } = await runCli(['serve'], {
    ...live.settings,
    WORKERS: '2',
    DATABASE_URL: unreachable,
  })
  expect(code).toBe(1)
  expect(stderr.match(/The database cannot be reached/g)).toHaveLength(1)
})
