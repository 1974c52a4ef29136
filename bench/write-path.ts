/**
 * How much the write path takes, beside the same statements in one transaction a request.
 *
 *   npx tsx bench/write-path.ts        BENCH_SECONDS=8 BENCH_ROUNDS=3 BENCH_CALLERS=64 are the defaults
 *
 * Embedded PostgreSQL 18 with durable commits. The service runs in a process of its own, behind real HTTP with 64
 * connections; this process makes the load. pgbench (looked for in PGBENCH, then in Debian's place) runs
 * bench/pgbench/*.sql with 64 clients over the Unix socket. Phases alternate, service and pgbench, so that a noisy
 * machine is noisy for both; the medians of the rounds count. All of it shares the same cores.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Pool } from 'undici'
import { signNotice } from '../src/platform/http/notice-signature.ts'
import { qrPng } from '../src/qr-codes/qr-image.ts'
import { type Bed, CANCEL_COUNT, CANCEL_FROM, codeId, MERCHANTS, makeBed, RAIL_KEY, trOf } from './bed.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const CALLERS = Number(process.env['BENCH_CALLERS'] ?? 64)
const ONLY = process.env['BENCH_ONLY']?.split(',')
const PGBENCH = process.env['PGBENCH'] ?? '/usr/lib/postgresql/15/bin/pgbench'

interface Request {
  readonly method: 'POST' | 'PATCH'
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | Buffer
}

/** Requests until the time is over; answers how many a second were carried out. */
async function serviceRate(
  pool: Pool,
  next: (n: number) => Request | undefined,
  seconds = SECONDS,
): Promise<number> {
  const startMs = performance.now()
  const endMs = startMs + seconds * 1_000
  let sent = 0
  let done = 0
  const caller = async () => {
    while (performance.now() < endMs) {
      const request = next(sent++)
      if (!request) return
      const { statusCode, body } = await pool.request(request)
      if (statusCode !== 200) throw new Error(`${request.path} answered ${statusCode}: ${await body.text()}`)
      await body.dump()
      done++
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  return (done / (performance.now() - startMs)) * 1_000
}

async function pgbenchRate(bed: Bed, script: string): Promise<number> {
  const file = fileURLToPath(new URL(`pgbench/${script}.sql`, import.meta.url))
  const args = ['-n', '-M', 'prepared', '-c', String(CALLERS), '-j', '2', '-T', String(SECONDS), '-f', file]
  const { stdout } = await promisify(execFile)(
    PGBENCH,
    [...args, '-h', bed.host, '-p', String(bed.port), '-U', 'postgres', 'svc'],
    {
      env: { ...process.env, PGOPTIONS: '-c role=svc_service -c search_path=svc' },
    },
  )
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
}

const JSON_HEADERS = { 'content-type': 'application/json' }

async function requestMakers(pool: Pool, apiKeys: readonly string[]) {
  const tokens: string[] = []
  for (const apiKey of apiKeys) {
    const { body } = await pool.request({
      method: 'POST',
      path: '/api/v0/merchant/token',
      headers: { 'api-key': apiKey },
    })
    tokens.push(((await body.json()) as { token: string }).token)
  }
  const run = randomBytes(6).toString('hex')
  let credits = 0
  const as = (merchant: number) => ({
    ...JSON_HEADERS,
    authorization: `Bearer ${tokens[merchant % MERCHANTS]!}`,
  })
  return {
    'accept-payment': (n: number): Request => {
      const notice = { utr: `S${run}${credits++}`, tr: trOf(n % 1_024), amount: 10, payerVpa: 'payer@bank' }
      const body = Buffer.from(JSON.stringify(notice))
      return {
        method: 'POST',
        path: '/rails/upi/credits',
        headers: { ...JSON_HEADERS, 'x-rail-signature': signNotice(body, RAIL_KEY, Date.now()) },
        body,
      }
    },
    cancel: (n: number): Request | undefined =>
      n >= CANCEL_COUNT
        ? undefined
        : {
            method: 'PATCH',
            path: `/api/v0/qr-code/${codeId(CANCEL_FROM + n)}/cancel`,
            headers: as(CANCEL_FROM + n),
            body: '{}',
          },
    create: (n: number): Request => ({
      method: 'POST',
      path: '/api/v0/qr-code',
      headers: as(n),
      body: '{"qrName":"Table 12"}',
    }),
  }
}

const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!
const show = (figures: readonly number[]): string => figures.map((figure) => Math.round(figure)).join(' ')

/** Every phase begins with active codes and a clean checkpoint, so that none pays for the one before. */
async function prepare({ admin }: Bed, phase: string): Promise<void> {
  if (phase === 'cancel') {
    await admin.query(
      `update qr_codes set status = 'ACTIVE' where status = 'CANCELLED' and merchant_id like 'mer_bench%'`,
    )
    await admin.query('vacuum qr_codes')
  }
  await admin.query('checkpoint')
}

function imageMs(): number {
  const text =
    'upi://pay?pa=shop@bank&pn=Corner%20Shop&tr=SVC01234567890123456789012345&tn=Table%2012&mc=5411&mode=15&cu=INR'
  for (let i = 0; i < 300; i++) qrPng(text)
  const startMs = performance.now()
  for (let i = 0; i < 1_000; i++) qrPng(text)
  return (performance.now() - startMs) / 1_000
}

const bed = await makeBed()
const pool = new Pool(bed.baseUrl, { connections: CALLERS, pipelining: 1 })
try {
  const makers = await requestMakers(pool, bed.apiKeys)
  const phases = (Object.keys(makers) as (keyof typeof makers)[]).filter(
    (phase) => !ONLY || ONLY.includes(phase),
  )
  const withPgbench = existsSync(PGBENCH)
  if (!withPgbench)
    console.log(
      `There is no pgbench at ${PGBENCH} (set PGBENCH): its rows are left out, and so are the ratios.`,
    )
  for (const phase of phases) await serviceRate(pool, makers[phase], 2)
  const rates = new Map(phases.map((phase) => [phase, { service: [] as number[], pgbench: [] as number[] }]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const phase of phases) {
      await prepare(bed, phase)
      rates.get(phase)!.service.push(await serviceRate(pool, makers[phase]))
      if (!withPgbench) continue
      await prepare(bed, phase)
      rates.get(phase)!.pgbench.push(await pgbenchRate(bed, phase))
    }
  }
  console.log(
    `${CALLERS} callers, ${ROUNDS} rounds of ${SECONDS} s, ${cpus().length} cores, Node ${process.version}; per second, medians`,
  )
  for (const [phase, { service, pgbench }] of rates) {
    const ratio = withPgbench
      ? `  pgbench ${Math.round(median(pgbench))} (${show(pgbench)})  ratio ${(median(service) / median(pgbench)).toFixed(2)}`
      : ''
    console.log(`${phase.padEnd(15)} service ${Math.round(median(service))} (${show(service)})${ratio}`)
  }
  console.log(
    `image of a code: ${imageMs().toFixed(2)} ms of CPU, alone at most ${Math.round(1_000 / imageMs())} a second on one core`,
  )
} finally {
  await pool.close()
  await bed.close()
}
