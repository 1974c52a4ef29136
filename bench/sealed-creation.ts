/**
 * How many sealed gift card orders are carried out a second, by algorithm, beside the same statements in one
 * transaction an order.
 *
 *   npx tsx bench/sealed-creation.ts   BENCH_SECONDS=6 BENCH_ROUNDS=3 BENCH_CALLERS=64 BENCH_ACCOUNTS=256 are the defaults
 *   BENCH_ONLY=A256KW,RSA …            only these algorithms: A256KW, P-256, X25519, RSA
 *   BENCH_PROFILE=1 …                  where the time of the service goes, for one algorithm: name it in BENCH_ONLY
 *
 * Embedded PostgreSQL 18 with durable commits. The service is a process of its own behind real HTTP with 64 connections;
 * this process makes the load. Seals are made before the clock runs. Every order is a new holder's, and they are spread
 * over so many card accounts that pgbench's transactions seldom wait for each other; BENCH_ACCOUNTS=1 drains one.
 * pgbench (PGBENCH, else Debian's place) runs bench/pgbench/create-card.sql. Phases alternate, medians count, all share
 * the same cores.
 */
import { execFile } from 'node:child_process'
import { createPublicKey, type JsonWebKey, randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Pool } from 'undici'
import { seal } from '../src/platform/crypto/seal.ts'
import type { SealKey } from '../src/platform/crypto/seal-keys.ts'
import { type BenchPartner, type CardBed, makeCardBed, median } from './card-bed.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const CALLERS = Number(process.env['BENCH_CALLERS'] ?? 64)
const ACCOUNTS = Number(process.env['BENCH_ACCOUNTS'] ?? 256)
const ONLY = process.env['BENCH_ONLY']?.split(',')
const PROFILE = process.env['BENCH_PROFILE'] !== undefined
const PGBENCH = process.env['PGBENCH'] ?? '/usr/lib/postgresql/15/bin/pgbench'
const PARTNERS = Math.min(8, ACCOUNTS)
const PATH = '/api/v0/partner/svcCard'
/** More than any phase can use. */
const SEALS_PER_SECOND = 4_000
const ALGORITHMS = ['A256KW', 'P-256', 'X25519', 'RSA'].filter((name) => !ONLY || ONLY.includes(name))

interface Order {
  readonly body: string
  readonly headers: Record<string, string>
}

interface PublishedKey extends JsonWebKey {
  readonly kid: string
  readonly alg: SealKey['alg']
}

async function keyOf(bed: CardBed, algorithm: string, { sharedKey }: BenchPartner): Promise<SealKey> {
  if (algorithm === 'A256KW') return sharedKey
  const answer = await fetch(`${bed.baseUrl}/.well-known/jwks.json`)
  const { keys } = (await answer.json()) as { keys: PublishedKey[] }
  const jwk = keys.find((key) => key['use'] === 'enc' && (key.crv ?? key.kty) === algorithm)!
  return { kid: jwk.kid, alg: jwk.alg, enc: 'A256GCM', key: createPublicKey({ key: jwk, format: 'jwk' }) }
}

let holders = 6_000_000_000 + randomInt(1_000_000_000)

/** Orders of new holders, sealed; partners and accounts in turn. */
async function sealOrders(
  bed: CardBed,
  algorithm: string,
  partners: readonly BenchPartner[],
  count: number,
): Promise<Order[]> {
  const keys = await Promise.all(partners.map((partner) => keyOf(bed, algorithm, partner)))
  const orders: Order[] = []
  for (let n = 0; n < count; n++) {
    const partner = partners[n % partners.length]!
    const { companyId, cardAccountIds, headers } = partner
    const cardAccountId = cardAccountIds[Math.floor(n / partners.length) % cardAccountIds.length]
    const order = {
      companyId,
      cardAccountId,
      mobile: String(holders++),
      firstName: 'Ravi',
      lastName: 'Kumar',
      loadAmount: 1,
    }
    const body = await seal(Buffer.from(JSON.stringify(order)), keys[n % partners.length]!)
    orders.push({ body, headers: { ...headers, 'content-type': 'application/jose' } })
  }
  return orders
}

async function serviceRate(pool: Pool, orders: readonly Order[]): Promise<number> {
  const startMs = performance.now()
  const endMs = startMs + SECONDS * 1_000
  let sent = 0
  let done = 0
  const caller = async () => {
    while (performance.now() < endMs) {
      const order = orders[sent++]
      if (!order) throw new Error('the sealed orders ran out: raise SEALS_PER_SECOND')
      const { statusCode, body } = await pool.request({ method: 'POST', path: PATH, ...order })
      if (statusCode !== 200) throw new Error(`answered ${statusCode}: ${await body.text()}`)
      await body.dump()
      done++
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  return (done / (performance.now() - startMs)) * 1_000
}

/** The script with this bed's accounts, and with texts as long as those of a real answer. */
async function pgbenchScript(
  bed: CardBed,
  partners: readonly BenchPartner[],
  folder: string,
): Promise<string> {
  const { rows } = await bed.admin.query(
    `select o.payload::text as record, encode(k.answer, 'hex') as answer
     from outbox o join cards c on c.svc_card_id = o.object_id
       join idempotency_keys k on k.tenant_id = c.partner_id and k.seal_hash = c.seal_hash limit 1`,
  )
  const perPartner = Math.floor(ACCOUNTS / PARTNERS)
  // Account n belongs to partner n modulo their number, as the script counts.
  const accounts = Array.from(
    { length: PARTNERS * perPartner },
    (_, n) => partners[n % PARTNERS]!.cardAccountIds[Math.floor(n / PARTNERS)]!,
  )
  const words: Record<string, string> = {
    lastAccount: String(accounts.length - 1),
    partnerCount: String(PARTNERS),
    partners: `{${partners.map((p) => p.partnerId).join(',')}}`,
    companies: `{${partners.map((p) => p.companyId).join(',')}}`,
    accounts: `{${accounts.join(',')}}`,
    // pgbench takes the minutes of a time for one of its variables.
    record: rows[0].record.replace(/:(?=\w)/g, '-'),
    answer: rows[0].answer,
  }
  const template = await readFile(new URL('pgbench/create-card.sql', import.meta.url), 'utf8')
  const file = join(folder, 'create-card.sql')
  await writeFile(
    file,
    template.replace(/\{\{(\w+)\}\}/g, (_, word: string) => words[word]!),
  )
  return file
}

async function pgbenchRate(bed: CardBed, file: string): Promise<number> {
  const args = ['-n', '-M', 'prepared', '-c', String(CALLERS), '-j', '2', '-T', String(SECONDS), '-f', file]
  const { stdout } = await promisify(execFile)(
    PGBENCH,
    [...args, '-h', bed.host, '-p', String(bed.port), '-U', 'postgres', 'svc'],
    { env: { ...process.env, PGOPTIONS: '-c role=svc_service -c search_path=svc' } },
  )
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
}

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** Self time by file, or by name where the engine has no file; idle time left out. */
async function showProfile(folder: string): Promise<void> {
  const times = new Map<string, number>()
  for (const name of (await readdir(folder)).filter((file) => file.endsWith('.cpuprofile'))) {
    const profile = JSON.parse(await readFile(join(folder, name), 'utf8')) as CpuProfile
    const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]))
    profile.samples.forEach((id, i) => {
      const { url, functionName } = frames.get(id)!
      if (functionName === '(idle)') return
      const place = url.replace(/^.*\/(?=src\/|node_modules\/)/, '').replace(/\?.*$/, '')
      const label = `${functionName || '(anonymous)'}  ${place}`
      times.set(label, (times.get(label) ?? 0) + profile.timeDeltas[i]!)
    })
  }
  const total = [...times.values()].reduce((sum, time) => sum + time, 0)
  console.log('self time of the service, its start included')
  for (const [label, time] of [...times].sort(([, x], [, y]) => y - x).slice(0, 30))
    console.log(`  ${((100 * time) / total).toFixed(1).padStart(5)} %  ${label}`)
}

const show = (figures: readonly number[]) =>
  `${Math.round(median(figures))} (${figures.map((figure) => Math.round(figure)).join(' ')})`

const folder = await mkdtemp(join(tmpdir(), 'svc-bench-sealed-'))
const bed = await makeCardBed(PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : [])
const pool = new Pool(bed.baseUrl, { connections: CALLERS, pipelining: 1 })
try {
  const partners: BenchPartner[] = []
  for (let i = 0; i < PARTNERS; i++)
    partners.push(await bed.newPartner('incentive', Math.floor(ACCOUNTS / PARTNERS)))
  const orders = (algorithm: string) => sealOrders(bed, algorithm, partners, SECONDS * SEALS_PER_SECOND)
  await serviceRate(pool, await orders(ALGORITHMS[0]!))
  await bed.admin.query('vacuum analyze')
  const script = existsSync(PGBENCH) && !PROFILE ? await pgbenchScript(bed, partners, folder) : undefined
  const rates = new Map(ALGORITHMS.map((algorithm) => [algorithm, [] as number[]]))
  const pgbench: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (const algorithm of ALGORITHMS) {
      const sealed = await orders(algorithm)
      await bed.admin.query('checkpoint')
      rates.get(algorithm)!.push(await serviceRate(pool, sealed))
      if (!script) continue
      await bed.admin.query('checkpoint')
      pgbench.push(await pgbenchRate(bed, script))
    }
  }
  console.log(
    `${CALLERS} callers, ${ACCOUNTS} accounts, ${ROUNDS} rounds of ${SECONDS} s, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}, Node ${process.version}; per second, medians`,
  )
  for (const [algorithm, figures] of rates) {
    const ratio = script ? `  ratio ${(median(figures) / median(pgbench)).toFixed(2)}` : ''
    console.log(`${algorithm.padEnd(8)} ${show(figures)}${ratio}`)
  }
  if (script) console.log(`pgbench  ${show(pgbench)}`)
  else if (!PROFILE) console.log(`There is no pgbench at ${PGBENCH} (set PGBENCH): the ratios are left out.`)
} finally {
  await pool.close()
  await bed.close()
  if (PROFILE) await showProfile(folder)
  await rm(folder, { recursive: true, force: true })
}
