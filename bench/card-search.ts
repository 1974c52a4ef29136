/**
 * Searching an account of a million cards: memory, time to the first byte and rows a second of the whole account beside
 * psql's \copy of the same rows, and single cards a second in accounts of 1,000 and of 1,000,000 cards.
 *
 *   npx tsx bench/card-search.ts      BENCH_CARDS=1000000 BENCH_SECONDS=6 BENCH_ROUNDS=3 BENCH_CALLERS=64 are the defaults
 *
 * Embedded PostgreSQL 18; the service is a process of its own behind real HTTP, this process reads. psql is looked for
 * in PSQL, then in PATH; without it its row is left out. Phases alternate; the medians of the rounds count.
 */
import { spawn, spawnSync } from 'node:child_process'
import { request } from 'node:http'
import { cpus, loadavg } from 'node:os'
import { Pool } from 'undici'
import { insertManyCards, manyCardId } from '../test/harness/many-cards.ts'
import { type BenchPartner, type CardBed, makeCardBed, median, residentMb } from './card-bed.ts'

const CARDS = Number(process.env['BENCH_CARDS'] ?? 1_000_000)
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const CALLERS = Number(process.env['BENCH_CALLERS'] ?? 64)
const PSQL = process.env['PSQL'] ?? 'psql'
const FEW = 1_000
const STEP = 100_000
const PATH = '/api/v0/partner/svcCard/search'

/** Cards of the small account are the first ones, those of the large account come after. */
async function fill(bed: CardBed, few: BenchPartner, many: BenchPartner): Promise<void> {
  const at = (partner: BenchPartner) => ({ ...partner, cardAccountId: partner.cardAccountIds[0]! })
  await insertManyCards(bed.admin, at(few), 1, FEW)
  for (let from = FEW + 1; from <= FEW + CARDS; from += STEP)
    await insertManyCards(bed.admin, at(many), from, Math.min(from + STEP - 1, FEW + CARDS))
  await bed.admin.query('vacuum analyze')
  await bed.admin.query('checkpoint')
}

interface Whole {
  readonly firstByteMs: number
  readonly rowsPerSecond: number
  readonly peakMb: number
}

/** Reads the whole account and throws the bytes away; the end of the text is kept to see the count. */
async function readWhole(bed: CardBed, partner: BenchPartner): Promise<Whole> {
  const startMs = performance.now()
  const { companyId, cardAccountIds } = partner
  const asked = request(`${bed.baseUrl}${PATH}`, {
    method: 'POST',
    headers: { ...partner.headers, 'content-type': 'application/json' },
  })
  asked.end(JSON.stringify({ companyId, cardAccountId: cardAccountIds[0] }))
  let peakMb = 0
  const watch = setInterval(
    () => void residentMb(bed.pid).then((mb) => (peakMb = Math.max(peakMb, mb ?? 0))),
    20,
  )
  return new Promise((resolve, reject) => {
    asked.once('error', reject)
    asked.once('response', (answer) => {
      let firstByteMs: number | undefined
      let tail = ''
      answer.on('data', (chunk: Buffer) => {
        firstByteMs ??= performance.now() - startMs
        tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 64))).slice(-64)
      })
      answer.once('error', reject)
      answer.once('end', () => {
        clearInterval(watch)
        const count = Number(/"recordsCount":(\d+)\}\}$/.exec(tail)?.[1])
        const seconds = (performance.now() - startMs) / 1_000
        if (count === CARDS) resolve({ firstByteMs: firstByteMs!, rowsPerSecond: CARDS / seconds, peakMb })
        else reject(new Error(`${count} cards of ${CARDS} came: ${tail}`))
      })
    })
  })
}

/** The same twelve fields by psql, to nowhere. */
async function copyWhole(bed: CardBed, { partnerId, cardAccountIds }: BenchPartner): Promise<number> {
  const query = `select c.svc_card_id, c.user_id, c.card_account_id, c.expiry_month, c.expiry_year, c.holder->>'email',
    c.holder->>'mobile', c.holder->>'title', c.holder->>'firstName', c.holder->>'lastName', l.balance / 100.0, c.company_id
    from cards c join ledger_accounts l on l.account_id = 'card:' || c.svc_card_id
    where c.partner_id = '${partnerId}' and c.card_account_id = '${cardAccountIds[0]}' order by c.svc_card_id`
  const command = `\\copy (${query.replace(/\s+/g, ' ')}) to '/dev/null'`
  const args = ['-h', bed.host, '-p', String(bed.port), '-U', 'postgres', '-d', 'svc', '-q', '-c', command]
  const startMs = performance.now()
  const child = spawn(PSQL, args, {
    env: { ...process.env, PGOPTIONS: '-c search_path=svc' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  if (code !== 0) throw new Error(`psql ended with ${code}`)
  return CARDS / ((performance.now() - startMs) / 1_000)
}

/** Searches of one card each, spread over the account. */
async function singleRate(pool: Pool, partner: BenchPartner, first: number, count: number): Promise<number> {
  const { companyId, cardAccountIds } = partner
  const headers = { ...partner.headers, 'content-type': 'application/json' }
  const endMs = performance.now() + SECONDS * 1_000
  let done = 0
  const caller = async () => {
    while (performance.now() < endMs) {
      const svcCardId = manyCardId(first + Math.floor(Math.random() * count))
      const body = JSON.stringify({ companyId, cardAccountId: cardAccountIds[0], svcCardId })
      const answer = await pool.request({ method: 'POST', path: PATH, headers, body })
      const text = await answer.body.text()
      if (!text.includes(svcCardId)) throw new Error(`not found: ${text}`)
      done++
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  return done / SECONDS
}

const show = (figures: readonly number[], digits = 0) =>
  `${median(figures).toFixed(digits)} (${figures.map((figure) => figure.toFixed(digits)).join(' ')})`

const bed = await makeCardBed()
const pool = new Pool(bed.baseUrl, { connections: CALLERS, pipelining: 1 })
try {
  const few = await bed.newPartner('employee_rewards', 1)
  const many = await bed.newPartner('employee_rewards', 1)
  await fill(bed, few, many)
  // Warm: code, plans and pages; what is measured above idle is what the search itself takes.
  await singleRate(pool, few, 1, FEW)
  const idleMb = await residentMb(bed.pid)
  const withPsql = spawnSync(PSQL, ['--version']).status === 0
  const wholes: Whole[] = []
  const copies: number[] = []
  const singles: { few: number[]; many: number[] } = { few: [], many: [] }
  for (let round = 0; round < ROUNDS; round++) {
    wholes.push(await readWhole(bed, many))
    if (withPsql) copies.push(await copyWhole(bed, many))
    singles.few.push(await singleRate(pool, few, 1, FEW))
    singles.many.push(await singleRate(pool, many, FEW + 1, CARDS))
  }
  console.log(
    `${CARDS} cards, ${ROUNDS} rounds, ${cpus().length} cores, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)}; medians`,
  )
  console.log(
    `whole account   ${show(wholes.map((w) => w.rowsPerSecond))} rows/s, first byte ${show(wholes.map((w) => w.firstByteMs))} ms`,
  )
  if (idleMb !== undefined)
    console.log(
      `memory          ${idleMb.toFixed(0)} MB idle, above it ${show(wholes.map((w) => w.peakMb - idleMb))} MB at most`,
    )
  console.log(
    withPsql
      ? `psql \\copy      ${show(copies)} rows/s`
      : `There is no psql (set PSQL): its row is left out.`,
  )
  console.log(
    `single cards    ${show(singles.few)} /s of ${FEW}, ${show(singles.many)} /s of ${CARDS}, ${CALLERS} callers`,
  )
} finally {
  await pool.close()
  await bed.close()
}
