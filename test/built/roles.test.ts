import { once } from 'node:events'
import { createServer, request as forward, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client, payloadOf } from '../harness/client.ts'
import { freePort } from '../harness/free-port.ts'
import { type Live, METRICS_TOKEN, openLive, RAIL_KEY } from '../harness/live.ts'
import { errorsIn, type ServiceProcess, startProcess } from '../harness/processes.ts'
import { creditOf } from '../harness/qr-codes.ts'
import { inviteAdministrators } from './administration.ts'
import { type LiveMerchant, newMerchant, openStream } from './merchants.ts'

// The program that ships in three processes, each with one role, behind one address.
const ROLES = ['api', 'jobs', 'console'] as const
type Role = (typeof ROLES)[number]
let live: Live
let balancer: Server
let merchant: LiveMerchant
const processes = new Map<Role, ServiceProcess>()

const start = async (role: Role): Promise<void> => {
  const own = { ROLES: role, PORT: `${await freePort()}`, NODE_EXTRA_CA_CERTS: live.receiver.certificate }
  processes.set(role, await startProcess({ ...live.settings, ...own }))
}
const urlOf = (role: Role): string => processes.get(role)!.baseUrl
const statusOf = async (role: Role, path: string): Promise<number> => {
  const response = await fetch(urlOf(role) + path, { redirect: 'manual' })
  await response.arrayBuffer()
  return response.status
}

/** Sends pages to the process with the role `console` and everything else to `api`, as deploy/haproxy/svc.cfg does. */
async function openBalancer(): Promise<Server> {
  const server = createServer((incoming, response) => {
    const role = /^\/(?:console|portal)(?:\/|$)/.test(incoming.url!) ? 'console' : 'api'
    const { headers, method } = incoming
    const sent = forward(urlOf(role) + incoming.url!, { headers, method }, (got) => {
      response.writeHead(got.statusCode!, got.headers)
      got.pipe(response)
    })
    sent.once('error', () => response.destroy())
    incoming.pipe(sent)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** What `svc admin doctor` says about roles, but for what is well. */
async function warnings(): Promise<string[]> {
  const { findings } = await live.svc(['admin', 'doctor'])
  return findings
    .filter(({ check, status }: { check: string; status: string }) => check === 'roles' && status !== 'PASS')
    .map(({ detail }: { detail: string }) => detail)
}

beforeAll(async () => {
  live = await openLive()
  await start('api')
  balancer = await openBalancer()
})
afterAll(async () => {
  balancer?.closeAllConnections()
  balancer?.close()
  await Promise.all([...processes.values()].map((process) => process.end('SIGTERM')))
  await live?.close()
})

test('svc admin doctor warns of each role that no process has, and passes once all are there', async () => {
  expect(await warnings()).toEqual([
    expect.stringMatching(/^no process with the role jobs is connected: no event is numbered/),
    expect.stringMatching(/^no process with the role console is connected/),
  ])
  await start('jobs')
  await start('console')
  expect(await warnings()).toEqual([])
})

test.each([
  [
    'api',
    { '/docs/': 200, '/openapi.json': 200, '/api/v0/payments': 401, '/console/': 404, '/portal/': 404 },
  ],
  [
    'jobs',
    { '/docs/': 404, '/openapi.json': 404, '/api/v0/payments': 404, '/console/': 404, '/portal/': 404 },
  ],
  [
    'console',
    { '/docs/': 404, '/openapi.json': 404, '/api/v0/payments': 404, '/console/': 200, '/portal/': 200 },
  ],
] as const)(
  'a process with ROLES=%s serves its part, the probes and the metrics, and nothing else',
  async (role, paths) => {
    for (const [path, status] of Object.entries(paths))
      expect([path, await statusOf(role, path)]).toEqual([path, status])
    for (const probe of ['/livez', '/readyz'])
      expect(await (await fetch(urlOf(role) + probe)).json()).toMatchObject({ roles: [role] })
    const metrics = await fetch(`${urlOf(role)}/metrics`, {
      headers: { authorization: `Bearer ${METRICS_TOKEN}` },
    })
    const text = await metrics.text()
    expect([...text.matchAll(/^svc_role\{role="(\w+)"\} 1$/gm)].map(([, name]) => name)).toEqual([role])
    const loops = [...text.matchAll(/^svc_loop_interval_seconds\{loop="(\w+)"\}/gm)].map(([, loop]) => loop)
    const ofJobs = [
      'number_events',
      'deliver_webhooks',
      'bulk_jobs',
      'partitions',
      'purge_expired',
      'send_alerts',
    ]
    expect(ofJobs.filter((loop) => loops.includes(loop))).toEqual(role === 'jobs' ? ofJobs : [])
    expect(loops).toEqual(expect.arrayContaining(['epoch', 'keyring_refresh']))
  },
)

/** A payment of a new code, accepted by the process with the role `api`; returns the instant of its response. */
async function pay(): Promise<void> {
  const { qrCodeId } = payloadOf(await merchant.client.post('/api/v0/qr-code', { qrName: 'Till 1' }))
  const [row] = await live.server.query<{ tr: string }>('select tr from qr_codes where qr_code_id = $1', [
    qrCodeId,
  ])
  const credit = await merchant.client.notify('/rails/upi/credits', creditOf(row!.tr), RAIL_KEY)
  expect(payloadOf(credit)).toMatchObject({ status: 'ACCEPTED' })
}

const numbered = async (): Promise<number> =>
  (
    await live.server.query<{ n: number }>(
      'select count(*)::int as n from event_numbers where tenant_id = $1',
      [merchant.merchantId],
    )
  )[0]!.n
const written = async (): Promise<number> =>
  (
    await live.server.query<{ n: number }>('select count(*)::int as n from outbox where tenant_id = $1', [
      merchant.merchantId,
    ])
  )[0]!.n
const received = () => live.receiver.received.get(merchant.merchantId)!

test('a payment that one process accepts is numbered and delivered by another, and streamed by the first', async () => {
  const address = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`
  const client = await Client.open(address)
  await inviteAdministrators(live.svc, client)
  merchant = await newMerchant(live, client)
  await pay()
  const streamEnded = await openStream(merchant)
  await expect.poll(() => received().size, { timeout: 30_000 }).toBeGreaterThan(0)
  expect(live.receiver.forged).toBe(0)
  await processes.get('api')!.end('SIGTERM')
  await streamEnded()
  await start('api')
})

test('what is accepted while no process has jobs is numbered and delivered, each event once numbered, after one is back', async () => {
  const jobs = processes.get('jobs')!
  await Promise.all([1, 2, 3, 4].map(pay))
  await jobs.end('SIGKILL')
  for (let n = 0; n < 4; n++) await pay()
  const [events, before] = [await written(), await numbered()]
  expect(before).toBeLessThan(events)
  expect((await warnings())[0]).toMatch(/^no process with the role jobs/)
  await start('jobs')
  await expect.poll(numbered, { timeout: 30_000 }).toBe(events)
  const all = await live.server.query<{ event_id: string }>(
    `select event_id from outbox where tenant_id = $1
       and created_at > (select created_at from webhook_endpoints where tenant_id = $1)`,
    [merchant.merchantId],
  )
  await expect.poll(() => received().size, { timeout: 30_000 }).toBe(all.length)
  expect([...received().keys()].sort()).toEqual(all.map(({ event_id }) => event_id).sort())
})

test('each process drains for itself and logs no error', async () => {
  for (const process of processes.values()) {
    expect(await process.end('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(errorsIn(process.written())).toEqual([])
  }
  expect(await warnings()).toEqual(['no process of the service is connected to the database'])
})
