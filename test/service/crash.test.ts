import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbedded } from '@svc/embedded-postgres/embedded'
import { signNotice } from '@svc/server/http/notice-signature'
import pg from 'pg'
import { Pool } from 'undici'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Client, payloadOf } from '../harness/client.ts'
import { LONG } from '../harness/long.ts'
import { runCli, type ServiceProcess, startProcess } from '../harness/processes.ts'
import { creditOf, newUtr } from '../harness/qr-codes.ts'
import { RAIL_KEY } from '../harness/service.ts'

const KILLS_EACH = 3
const CALLERS = 16

// Processes of their own take long to start on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let dataDir: string
let env: Record<string, string>
let service: ServiceProcess
let trs: string[]

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'svc-crash-'))
  env = { DATA_DIR: dataDir, UPI_RAIL_KEYS: RAIL_KEY }
  service = await startProcess(env)
  const client = await Client.open(service.baseUrl)
  const { merchant } = JSON.parse(await readFile(join(dataDir, 'sandbox.json'), 'utf8'))
  const token = await client.post('/api/v0/merchant/token', undefined, { 'api-key': merchant.apiKey })
  const own = client.with({ authorization: `Bearer ${token.json.token}` })
  for (let i = 0; i < 4; i++) payloadOf(await own.post('/api/v0/qr-code', { multipleUse: true }))
  trs = (await onDatabase('select tr from qr_codes where multiple_use')).map((row) => String(row['tr']))
})
afterAll(async () => {
  await service?.end('SIGTERM')
  await rm(dataDir, { recursive: true, force: true })
})

async function onDatabase(text: string): Promise<Record<string, unknown>[]> {
  const { host, port, release } = await openEmbedded({ dataDir })
  const client = new pg.Client({
    host,
    port,
    user: 'postgres',
    database: 'svc',
    options: '-c search_path=svc',
  })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
    await release()
  }
}

/** Callers that pay until told to stop; what was answered 200 is acknowledged, anything else may have happened or not. */
function pay(baseUrl: string) {
  const pool = new Pool(baseUrl, { connections: CALLERS, pipelining: 1 })
  const acknowledged: string[] = []
  let stopped = false
  let report: () => void
  const enough = new Promise<void>((resolve) => (report = resolve))
  const caller = async () => {
    while (!stopped) {
      const credit = creditOf(trs[acknowledged.length % trs.length]!, { utr: newUtr() })
      const body = Buffer.from(JSON.stringify(credit))
      const headers = {
        'content-type': 'application/json',
        'x-rail-signature': signNotice(body, RAIL_KEY, Date.now()),
      }
      const status = await pool.request({ method: 'POST', path: '/rails/upi/credits', headers, body }).then(
        async (response) => (await response.body.dump(), response.statusCode),
        () => 0,
      )
      if (status === 200) acknowledged.push(credit.utr)
      else if (status === 0) return
      if (acknowledged.length >= 200) report()
    }
  }
  const callers = Array.from({ length: CALLERS }, caller)
  return {
    acknowledged,
    /** Resolves when the load is well under way. */
    enough,
    async stop() {
      stopped = true
      await Promise.all(callers)
      await pool.destroy()
    },
  }
}

async function expectAll(acknowledged: readonly string[]): Promise<void> {
  const rows = await onDatabase(
    `select utr, count(*)::int as n from payments p join ledger_transfers t on t.object_id = p.payment_id and t.kind = 'upi_credit' group by utr`,
  )
  const found = new Map(rows.map((row) => [row['utr'], row['n']]))
  expect(acknowledged.filter((utr) => found.get(utr) !== 1)).toEqual([])
  const { code, stdout, stderr } = await runCli(['admin', 'reconcile', '--json'], env)
  expect(code, stdout + stderr).toBe(0)
}

test('kill -9 of the service under load loses no acknowledged payment and duplicates none', async () => {
  const acknowledged: string[] = []
  for (let kill = 0; kill < KILLS_EACH; kill++) {
    const load = pay(service.baseUrl)
    await load.enough
    await service.end('SIGKILL')
    await load.stop()
    acknowledged.push(...load.acknowledged)
    service = await startProcess(env)
  }
  await expectAll(acknowledged)
})

if (LONG)
  test('kill -9 of PostgreSQL under load: nothing acknowledged is lost, and the same process is ready again', async () => {
    const acknowledged: string[] = []
    for (let kill = 0; kill < KILLS_EACH; kill++) {
      const load = pay(service.baseUrl)
      await load.enough
      const [pid] = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')
      process.kill(Number(pid), 'SIGKILL')
      const before = load.acknowledged.length
      // The load goes on: as soon as payments are acknowledged again, the database is back.
      while (load.acknowledged.length < before + 50) await new Promise((resolve) => setTimeout(resolve, 20))
      await load.stop()
      acknowledged.push(...load.acknowledged)
      const ready = await fetch(`${service.baseUrl}/readyz`)
      expect(ready.status).toBe(200)
    }
    await expectAll(acknowledged)
  })

if (LONG)
  test('SIGTERM under load: what was committed got its response, the exit code is 0, and nothing listens any more', async () => {
    const before = new Set((await onDatabase('select utr from payments')).map((row) => row['utr']))
    const load = pay(service.baseUrl)
    await load.enough
    const { code } = await service.end('SIGTERM')
    await load.stop()
    expect(code, service.written()).toBe(0)
    const rows = await onDatabase('select utr from payments')
    const committed = rows.map((row) => row['utr']).filter((utr) => !before.has(utr))
    expect(committed.sort()).toEqual(load.acknowledged.toSorted())
    await expect(fetch(service.baseUrl)).rejects.toThrow()
    service = await startProcess(env)
    await expectAll(load.acknowledged)
  })
