import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EmbeddedServer, openEmbedded } from '@svc/embedded-postgres/embedded'
import { Database } from '@svc/platform/db/database'
import { migrate } from '@svc/platform/db/migrate'
import { DatabaseClient } from '@svc/platform/db/server-locator'
import { openLog } from '@svc/platform/log'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { CuttingProxy } from '../harness/cutting-proxy.ts'
import { newDatabase, openService, type TestService } from '../harness/service.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

/** Promise N11. */
const READY_MS_MAX = 2_000
/** How long each fault lasts at least: several times as long as anything that is known of a commit. */
const FAULT_MS = 5_000
const soon = { timeout: 60_000, interval: 50 }

// A server of their own, which the tests stop and freeze.
let dataDir: string
let server: EmbeddedServer
let proxy: CuttingProxy
/** One that only probes reach, and one with commands under way. */
const services: TestService[] = []
let isOver = false
let load: Promise<unknown>

const start = async () => (server = await openEmbedded({ dataDir, binaries: 'package' }))

async function run<Row>(text: string, database = 'svc'): Promise<Row[]> {
  const { host, port } = server
  const client = new pg.Client({ host, port, user: 'postgres', database })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(text)).rows as Row[]
  } finally {
    await client.end()
  }
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'svc-ready-'))
  const { host, port } = await start()
  await run('create database svc', 'postgres')
  await migrate({ host, port, database: 'svc' })
  proxy = await CuttingProxy.open({ host, port })
  const db = {
    host: '127.0.0.1',
    port: proxy.port,
    database: 'svc',
    url: `postgresql://postgres@127.0.0.1:${proxy.port}/svc`,
  }
  for (let n = 0; n < 2; n++) services.push(await openService({ db, env: { COMMAND_TIMEOUT_MS: '3000' } }))
  const busy = services[1]!
  const client = await busy.as(await busy.newMerchant())
  const callers = [1, 2, 3, 4].map(async () => {
    while (!isOver) await client.post('/api/v0/qr-code', {}).then(() => sleep(20))
  })
  load = Promise.all(callers)
})

afterAll(async () => {
  isOver = true
  await load
  await Promise.all(services.map((service) => service.close()))
  await proxy.close()
  await server.release()
  await rm(dataDir, { recursive: true, force: true })
})

interface Probed {
  readonly atMs: number
  readonly status: number
  readonly text: string
}

async function probe({ client }: TestService): Promise<Probed> {
  const atMs = performance.now()
  const response = await fetch(`${client.baseUrl}/readyz`)
  return { atMs, status: response.status, text: await response.text() }
}

/** Probes one after the other until it is stopped. */
function watch(service: TestService): { stop(): Promise<Probed[]> } {
  const all: Probed[] = []
  let stopped = false
  const watching = (async () => {
    for (; !stopped; await sleep(25)) all.push(await probe(service))
  })()
  return {
    stop: async () => {
      stopped = true
      await watching
      return all
    },
  }
}

/** The server's processes, the postmaster first. */
const signal = (name: 'STOP' | 'CONT'): void => {
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', `${server.pid}`], { encoding: 'utf8' })
  execFileSync('kill', [`-${name}`, `${server.pid}`, ...children.trim().split(/\s+/)])
}

const change = async (statement: string) => {
  await run(statement)
  await run('select pg_reload_conf()')
}

interface Fault {
  /** Resolves once nothing can be committed. */
  readonly begin: () => Promise<void>
  readonly end: () => Promise<void>
  /** What the response says. */
  readonly reason: RegExp
  /** What else is true meanwhile. */
  readonly meanwhile?: () => Promise<void>
}

const FAULTS: Record<string, Fault> = {
  'is stopped': {
    begin: async () => void (await server.release()),
    end: async () => void (await start()),
    reason: /does not respond/,
  },
  'stands still (SIGSTOP)': {
    begin: async () => signal('STOP'),
    end: async () => signal('CONT'),
    reason: /does not respond/,
  },
  'is cut off, and nothing says so': {
    begin: async () => proxy.pause(),
    end: async () => proxy.resume(),
    reason: /does not respond/,
  },
  'is read-only, as a standby is': {
    async begin() {
      await run('alter database svc set default_transaction_read_only = on')
      await run(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = 'svc' and pid <> pg_backend_pid()`,
        'postgres',
      )
    },
    end: async () => void (await run('set transaction read write; alter database svc reset all')),
    reason: /read-only/,
  },
  'waits for a standby that is gone': {
    async begin() {
      await change(`alter system set synchronous_standby_names = 'gone'`)
      void run(`select pg_logical_emit_message(true, 'test', '')`).catch(() => undefined)
      const waiting = `select from pg_stat_activity where wait_event = 'SyncRep' and query like '%''test''%'`
      await vi.waitUntil(async () => (await run(waiting)).length > 0, soon)
    },
    end: () => change('alter system reset synchronous_standby_names'),
    reason: /commits nothing/,
    // However long it lasts, attempts fill up no server: one of each process waits.
    async meanwhile() {
      const waiting = `select from pg_stat_activity where wait_event = 'SyncRep' and query like '%commit watch%'`
      expect((await run(waiting)).length).toBeLessThanOrEqual(services.length)
    },
  },
}

test.each(Object.entries(FAULTS))(
  'while the database %s, /readyz is not 200 for longer than two seconds, and turns once to 503 and once back, idle and under load',
  async (_, { begin, end, reason, meanwhile }) => {
    for (const service of services)
      await vi.waitUntil(async () => (await probe(service)).status === 200, soon)
    const watches = services.map(watch)
    await begin()
    const sinceMs = performance.now()
    await sleep(FAULT_MS)
    await meanwhile?.()
    const untilMs = performance.now()
    const probed = await Promise.all(watches.map((each) => each.stop()))
    await end()
    for (const all of probed) {
      const during = all.filter(({ atMs }) => atMs > sinceMs && atMs < untilMs)
      const unready = during.filter(({ status }) => status === 503)
      expect(during.at(-1)?.text).toMatch(reason)
      expect(during.filter(({ status }) => status === 200).map(({ atMs }) => atMs - sinceMs)).toEqual(
        during.slice(0, during.length - unready.length).map(({ atMs }) => atMs - sinceMs),
      )
      expect(unready[0]!.atMs - sinceMs).toBeLessThan(READY_MS_MAX)
    }
    for (const service of services) {
      await vi.waitUntil(async () => (await probe(service)).status === 200, soon)
      for (let n = 0; n < 20; n++) expect((await probe(service)).status).toBe(200)
    }
  },
)

test('connections that fell silent one by one do not make a process unready: an attempt on another one commits', async () => {
  const [idle] = services
  await vi.waitUntil(async () => (await probe(idle!)).status === 200, soon)
  proxy.freeze()
  const startMs = performance.now()
  for (; performance.now() - startMs < FAULT_MS; await sleep(25))
    expect((await probe(idle!)).status).toBe(200)
})

test('however many ask, a process makes one empty commit in 300 ms at most, and none beside the commits of batches or unasked', async () => {
  const db = await newDatabase()
  let commits = 0
  class Client extends DatabaseClient {
    override query(...given: unknown[]): never {
      if (String(given[0]).includes('pg_logical_emit_message')) commits++
      return super.query(...(given as [string])) as never
    }
  }
  const database = new Database({ url: db.url }, 4, openLog('silent'), { Client })
  onTestFinished(() => database.close())
  const startMs = performance.now()
  for (let round = 0; round < 40; round++) {
    await Promise.all(Array.from({ length: 50 }, () => database.commits.check()))
    await sleep(50)
  }
  const most = 1 + (performance.now() - startMs) / 300
  expect(commits).toBeGreaterThan(1)
  expect(commits).toBeLessThanOrEqual(most)
  await sleep(1_000)
  const before = commits
  expect(before).toBeLessThanOrEqual(most + 1)
  for (let round = 0; round < 20; round++) {
    database.commits.saw()
    await database.commits.check()
    await sleep(50)
  }
  expect(commits).toBe(before)
})
