import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { Client, type Json, payloadOf } from '../harness/client.ts'
import { freePort } from '../harness/free-port.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { newCodes } from '../harness/qr-codes.ts'
import {
  asSuperuser,
  MASTER_KEY,
  newDatabase,
  openService,
  RAIL_KEY,
  type TestService,
  tokenOf,
} from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

/** The suite's size; the run of the issue is `WEBHOOK_OPERATIONS=10000`. */
const OPERATIONS = Number(process.env['WEBHOOK_OPERATIONS'] ?? 1_000)
const KILLS = Math.max(4, Math.round(OPERATIONS / 250))

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-webhooks-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

/** A receiver that is started anew whenever it has killed itself. */
class MortalReceiver {
  readonly #args: string[]
  deaths = 0
  #child: ChildProcess | undefined
  #closed = false

  constructor(port: number, file: string, secret: string, share: number) {
    this.#args = [
      '--import',
      'tsx',
      'test/harness/webhook-receiver-process.ts',
      String(port),
      file,
      secret,
      String(share),
    ]
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, this.#args, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child = child
    child.once('exit', () => {
      if (this.#closed) return
      this.deaths++
      void this.start()
    })
    await once(child.stdout!, 'data')
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#child?.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test(`over ${OPERATIONS} operations with kill -9 of the service and of the receiver, the receiver ends up with exactly the committed events`, {
  timeout: 600_000 + OPERATIONS * 100,
}, async () => {
  const db = await newDatabase()
  const port = await freePort()
  const env = {
    DATABASE_URL: db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    UPI_RAIL_KEYS: RAIL_KEY,
    DATA_DIR: dir,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
  }
  const setup = await openService({ db, env: { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` } })
  const merchant = await setup.newMerchant()
  const hookPort = await freePort()
  const { secret } = payloadOf(
    await (await setup.as(merchant)).post('/api/v0/webhook-endpoints', {
      url: `http://127.0.0.1:${hookPort}/`,
    }),
  )
  await setup.close()

  const file = join(dir, 'received')
  const receiver = new MortalReceiver(hookPort, file, secret, 0.004)
  onTestFinished(() => receiver.close())
  await receiver.start()
  let service: ServiceProcess = await startProcess({ ...env, PORT: String(port) })
  onTestFinished(async () => void (await service.end('SIGKILL')))
  let client = await Client.open(service.baseUrl)
  let token = await tokenOf(client, merchant.apiKey)
  let acknowledged = 0
  let kills = 0
  const operate = async (n: number): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': `op-${n}` }
    // Whatever becomes of the connection, the same key asks again until there is an answer.
    for (;;) {
      try {
        const response = await client.post('/api/v0/qr-code', { qrName: `Code ${n}` }, headers)
        if (response.status === 200) return void acknowledged++
      } catch {
        await pause(50)
      }
    }
  }
  let next = 0
  const workers = Array.from({ length: 8 }, async () => {
    while (next < OPERATIONS) await operate(next++)
  })
  const killer = (async () => {
    while (kills < KILLS) {
      const until = Math.min(OPERATIONS - 20, Math.round((OPERATIONS / (KILLS + 1)) * (kills + 1)))
      while (acknowledged < until) await pause(5)
      await service.end('SIGKILL')
      kills++
      service = await startProcess({ ...env, PORT: String(port) })
      client = await Client.open(service.baseUrl)
      token = await tokenOf(client, merchant.apiKey)
    }
  })()
  await Promise.all([...workers, killer])
  const rows = await asSuperuser(db.database, (admin) =>
    admin.query<{ event_id: string }>(`select event_id from outbox where tenant_id = $1`, [
      merchant.merchantId,
    ]),
  )
  const committed = new Set(rows.rows.map(({ event_id }) => event_id))
  expect(committed.size).toBe(OPERATIONS)
  const receivedLines = async () =>
    (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' '))
  // Retries come after seconds of pause: bring them forward, as time would.
  let lines: string[][] = []
  for (;;) {
    await asSuperuser(db.database, (admin) =>
      admin.query(`update webhook_deliveries set due_at = now() where not first and due_at > now()`),
    )
    lines = await receivedLines()
    if (new Set(lines.map(([id]) => id)).size >= OPERATIONS) break
    await pause(250)
  }
  const got = new Set(lines.map(([id]) => id!))
  expect([...got].filter((id) => !committed.has(id))).toEqual([])
  expect([...committed].filter((id) => !got.has(id))).toEqual([])
  expect(new Set(lines.map(([, sequence]) => Number(sequence)))).toEqual(
    new Set(Array.from({ length: OPERATIONS }, (_, i) => i + 1)),
  )
  console.log(
    `${OPERATIONS} operations, ${kills} kills of the service, ${receiver.deaths} of the receiver, ${lines.length} deliveries`,
  )
  await receiver.close()
  await service.end('SIGTERM')
})

test('with half of the endpoints hanging, the others get every event meanwhile', async () => {
  const service = await openService()
  const receiver = await WebhookReceiver.open()
  // The hanging ones take the request and never answer.
  receiver.response = ({ path }, response) => void (path.startsWith('/hang') || response.writeHead(204).end())
  const tenants = await Promise.all(
    Array.from({ length: 10 }, async () => service.as(await service.newMerchant())),
  )
  for (const [i, tenant] of tenants.entries())
    for (const kind of ['hang', 'good'])
      payloadOf(await tenant.post('/api/v0/webhook-endpoints', { url: receiver.url(`/${kind}/${i}`) }))
  const madeAtMs = new Map<string, number>()
  const waits: number[] = []
  const take = receiver.response
  receiver.response = (received, response) => {
    const made = madeAtMs.get(received.event.data.qrCodeId)
    if (received.path.startsWith('/good') && made !== undefined) waits.push(performance.now() - made)
    take(received, response)
  }
  for (let round = 0; round < 20; round++)
    await Promise.all(
      tenants.map(async (tenant) => {
        for (const { qrCodeId } of await newCodes(service, tenant, 2))
          madeAtMs.set(qrCodeId, performance.now())
      }),
    )
  const good = () => receiver.received.filter(({ path }) => path.startsWith('/good'))
  await receiver.until(() => good().length >= 400)
  expect(new Set(good().map(({ event }) => event.id)).size).toBe(400)
  // Each hanging endpoint is stuck on its first connections while that happens.
  expect(receiver.received.length - good().length).toBeLessThanOrEqual(10 * 8 * 2)
  waits.sort((a, b) => a - b)
  console.log(
    `commit to delivery beside hanging endpoints: p50 ${Math.round(waits[waits.length >> 1] ?? 0)} ms, p99 ${Math.round(waits[Math.floor(waits.length * 0.99)] ?? 0)} ms`,
  )
  await receiver.close()
  await service.close()
})

/** Reads server-sent events until there are so many. */
async function readStream(response: Response, count: number): Promise<Json[]> {
  const events: Json[] = []
  let text = ''
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1]
      const id = /^id: (.*)$/m.exec(text.slice(0, end))?.[1]
      text = text.slice(end + 2)
      if (data === undefined) continue
      const event = JSON.parse(data)
      expect(String(event.sequence)).toBe(id)
      events.push(event)
    }
    if (events.length >= count) break
  }
  return events
}

const openStream = async (
  service: TestService,
  apiKey: string,
  headers: Record<string, string> = {},
  query = '',
) => {
  const authorization = `Bearer ${await tokenOf(service.client, apiKey)}`
  return fetch(`${service.baseUrl}/api/v0/events/stream${query}`, { headers: { authorization, ...headers } })
}

test('a stream sends past events, then new ones, resumes after Last-Event-ID, and ends when the service drains', async () => {
  const service = await openService()
  const merchant = await service.newMerchant()
  const tenant = await service.as(merchant)
  await newCodes(service, tenant, 3)
  const first = await openStream(service, merchant.apiKey)
  expect(first.headers.get('content-type')).toBe('text/event-stream')
  const later = newCodes(service, tenant, 3)
  expect((await readStream(first, 6)).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6])
  await later
  const again = await openStream(service, merchant.apiKey, { 'last-event-id': '4' }, '?after=1')
  expect((await readStream(again, 2)).map(({ sequence }) => sequence)).toEqual([5, 6])
  expect((await openStream(service, merchant.apiKey, { 'last-event-id': 'x' })).status).toBe(400)
  const open = await openStream(service, merchant.apiKey)
  const ended = open.text()
  await service.close()
  expect(await ended).toContain('id: 6\n')
})

test('a tenant has at most five streams open, and a revoked key receives no more', async () => {
  const service = await openService()
  const merchant = await service.newMerchant()
  const streams = await Promise.all(Array.from({ length: 5 }, () => openStream(service, merchant.apiKey)))
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect((await openStream(service, merchant.apiKey)).status).toBe(429)
  expect((await openStream(service, (await service.newMerchant()).apiKey)).status).toBe(200)
  const ended = Promise.all(streams.map((stream) => stream.text()))
  const { revokeApiKey } = await import('@svc/core/tenants/api-key')
  await service.app.services.database.operate((tx) => revokeApiKey(tx, merchant.apiKeyId))
  await ended
  await service.close()
})
