import { once } from 'node:events'
import { createServer } from 'node:http'
import { encrypt } from '@svc/jwe/jwe'
import { freePort } from '../../test/harness/free-port.ts'
import type { Bed, BenchPartner } from './bed.ts'
import { medianLatency } from './contest.ts'
import { CORES, type Cores, meanCores, whileCounting } from './cores.ts'
import { type Latency, openLoop } from './load.ts'
import { lookups } from './measures/coin-lookup.ts'
import { creates, credits, prepare, tokensOf } from './measures/durable-commands.ts'
import { openBeside } from './mixed-beside.ts'
import { descendantsOf } from './server-process.ts'

/** Requests a second: 70 % reads, 20 % payments, 10 % creations of codes. */
const RATES = { reads: 700, payments: 200, creates: 100 } as const
const BULK_ROWS = 2_000
/** So many merchants receive webhooks for all their events. */
const ENDPOINTS = 100

export interface Mixed {
  /** Of payments: alone, and with everything else. */
  readonly quiet: Latency
  readonly busy: Latency
  /** In a busy phase, on average. */
  readonly webhooks: number
  readonly exports: number
  readonly bulkRows: number
  /** Of the machine, in either kind of phase. */
  readonly cores?: { readonly quiet: Cores; readonly busy: Cores }
}

interface Setting {
  readonly callers: number
  readonly rounds: number
  readonly seconds: number
  readonly progress: (text: string) => void
}

/** Takes webhooks, and counts them. */
async function openReceiver() {
  let received = 0
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      received++
      response.writeHead(204).end()
    })
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    received: () => received,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const required = async (response: Response): Promise<Response> => {
  if (!response.ok) throw new Error(`a request failed: ${response.status} ${await response.text()}`)
  return response
}

const asJson = (token: string) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' })

/** Endpoints of some merchants; what is returned deletes them again. */
async function register({ service }: Bed, tokens: readonly string[], url: string) {
  const path = `${service.baseUrl}/api/v0/webhook-endpoints`
  const registered: { readonly token: string; readonly id: string }[] = []
  for (const token of tokens.slice(0, ENDPOINTS)) {
    const request = { method: 'POST', headers: asJson(token), body: JSON.stringify({ url }) }
    const response = await required(await fetch(path, request))
    const { payload } = (await response.json()) as { payload: { endpointId: string } }
    registered.push({ token, id: payload.endpointId })
  }
  return async () => {
    for (const { token, id } of registered)
      await required(await fetch(`${path}/${id}`, { method: 'DELETE', headers: asJson(token), body: '{}' }))
  }
}

const DRAIN_MS_MAX = 300_000

/** Resolves when the bulk jobs are done and the webhooks delivered: no phase pays for the one before. */
async function drained({ admin }: Bed, { partnerId }: BenchPartner, cards: number): Promise<void> {
  const deadlineMs = performance.now() + DRAIN_MS_MAX
  for (;;) {
    const { rows } = await admin.query<{ done: boolean }>(
      `select (select count(*) from cards where partner_id = $1) >= $2
         and not exists (select from unnumbered_events) and not exists (select from webhook_deliveries) as done`,
      [partnerId, cards],
    )
    if (rows[0]?.done) return
    if (performance.now() > deadlineMs) throw new Error('the bulk job or the webhooks did not come to an end')
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

let holders = 9_000_000_000

/** Uploads encrypted orders, which the service carries out in the background. */
async function uploadBulk({ service }: Bed, partner: BenchPartner): Promise<void> {
  const { companyId, cardAccountIds, sharedKey, headers } = partner
  const lines: string[] = []
  for (let n = 0; n < BULK_ROWS; n++) {
    const cardAccountId = cardAccountIds[n % cardAccountIds.length]
    const order = { companyId, cardAccountId, mobile: String(holders++), firstName: 'Ravi', loadAmount: 1 }
    lines.push(await encrypt(Buffer.from(JSON.stringify(order)), sharedKey))
  }
  await required(
    await fetch(`${service.baseUrl}/api/v0/partner/svcCard/bulk`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
    }),
  )
}

async function cardsOf({ admin }: Bed, { partnerId }: BenchPartner): Promise<number> {
  const { rows } = await admin.query<{ cards: number }>(
    'select count(*)::int as cards from cards where partner_id = $1',
    [partnerId],
  )
  return rows[0]?.cards ?? 0
}

/**
 * `npm run bench -- --mixed`: the latency of payments at a fixed rate, alone and among reads and creations, with a bulk
 * job, exports, webhooks and the numbering of events at the same time.
 */
export async function measureMixed(bed: Bed, setting: Setting): Promise<Mixed> {
  const { callers, rounds, seconds, progress } = setting
  const tokens = await tokensOf(bed)
  const partner = await bed.newPartner('incentive', 8)
  const { port, baseUrl } = bed.service
  const create = await creates(bed)
  const beside = await openBeside({
    baseUrl,
    port,
    callers,
    seconds,
    readsPerSecond: RATES.reads,
    reads: await lookups(bed, partner, 64),
    createsPerSecond: RATES.creates,
    creates: tokens.flatMap((_, n) => create.next(n) ?? []),
    tokens,
  })
  const receiver = await openReceiver()
  const pay = () => openLoop(credits(bed, seconds), callers, RATES.payments, seconds)
  const phases = { quiet: [] as Latency[], busy: [] as Latency[] }
  const cores = { quiet: [] as Cores[], busy: [] as Cores[] }
  const counted = async <T>(phase: 'quiet' | 'busy', work: () => Promise<T>): Promise<T> => {
    const parts = { service: [bed.service.pid], postgres: await descendantsOf(bed.postmasterPid) }
    const measured = await whileCounting(parts, work)
    if (measured.cores) cores[phase].push(measured.cores)
    return measured.result
  }
  let exports = 0
  let bulkRows = 0
  // Code is compiled and caches fill before anything counts.
  await Promise.all([pay(), beside.goOn()])
  for (let round = 1; round <= rounds; round++) {
    progress(`round ${round} of ${rounds}: payments alone`)
    await prepare(bed, false)()
    phases.quiet.push(await counted('quiet', pay))
    progress(`round ${round} of ${rounds}: payments among everything else`)
    const unregister = await register(bed, tokens, receiver.url)
    const before = await cardsOf(bed, partner)
    await uploadBulk(bed, partner)
    const [payments, exported] = await counted('busy', () => Promise.all([pay(), beside.goOn()]))
    phases.busy.push(payments)
    bulkRows += (await cardsOf(bed, partner)) - before
    exports += exported
    await drained(bed, partner, round * BULK_ROWS)
    await unregister()
  }
  beside.close()
  receiver.close()
  const each = (sum: number) => Math.round(sum / rounds)
  return {
    quiet: medianLatency(phases.quiet),
    busy: medianLatency(phases.busy),
    webhooks: each(receiver.received()),
    exports: each(exports),
    bulkRows: each(bulkRows),
    ...(cores.quiet.length > 0 && { cores: { quiet: meanCores(cores.quiet), busy: meanCores(cores.busy) } }),
  }
}

export function showMixed({ quiet, busy, webhooks, exports, bulkRows, cores }: Mixed): void {
  const shown = ({ p50, p99, p999 }: Latency) => [p50, p99, p999].map((ms) => ms.toFixed(1)).join(' / ')
  console.log(`\nPayments, ${RATES.payments}/s: p50 / p99 / p99.9 ms`)
  console.log(`  alone:                 ${shown(quiet)}`)
  console.log(`  among everything else: ${shown(busy)}`)
  console.log(
    `  beside it: ${bulkRows} cards of a bulk job, ${exports} exports, ${webhooks} webhooks a phase`,
  )
  for (const [phase, parts] of Object.entries(cores ?? {}))
    console.log(`  cores, ${phase}: ${CORES.map((part) => `${part} ${parts[part].toFixed(2)}`).join(', ')}`)
}
