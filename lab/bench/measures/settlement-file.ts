import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Bed, MERCHANTS, PAID_CODES } from '../bed.ts'
import type { Measure, Note } from './measure.ts'

const [FEW, MANY] = [10_000, 100_000]
const SECONDS_MAX = 20
const GROWTH_MAX = 1.2
/** Of a transfer of the bank. */
const TRANSFER_LINES = 1_000
const AMOUNT = '10.00'

/** Payments that the bank has not settled, of codes in turn, as notices would have left them; their references. */
async function insertPayments({ admin }: Bed, count: number): Promise<string[]> {
  const run = randomBytes(5).toString('hex').toUpperCase()
  await admin.query(`set session_replication_role = replica`)
  await admin.query(
    `insert into ledger_accounts (account_id, tenant_id, kind, unit, created_at)
     select 'bank:mer_bench' || n, 'mer_bench' || n, 'bank', 'INR', now() from generate_series(0, ${MERCHANTS - 1}) n
     on conflict do nothing`,
  )
  await admin.query(
    `insert into payments (payment_id, merchant_id, qr_code_id, utr, tr, amount_paise, status, created_at)
     select 'pay_' || lower($1) || lpad(n::text, 16, '0'), 'mer_bench' || c % ${MERCHANTS}, 'qr_' || lpad(c::text, 26, '0'),
       $1 || lpad(n::text, 8, '0'), 'SVC' || lpad(c::text, 26, '0'), 1000, 'ACCEPTED', now()
     from generate_series(1, $2::integer) n cross join lateral (select n % ${PAID_CODES}) as code (c)`,
    [run, count],
  )
  await admin.query(`set session_replication_role = origin`)
  await admin.query('analyze payments')
  return Array.from({ length: count }, (_, n) => `${run}${String(n + 1).padStart(8, '0')}`)
}

/** A file of whole transfers with a line for each reference. */
function* fileOf(references: readonly string[]): Generator<string> {
  const day = new Date().toISOString().slice(0, 10)
  yield 'batchUtr,valueDate,netAmount,kind,reference,amount,date,note\n'
  for (let from = 0; from < references.length; from += TRANSFER_LINES) {
    const lines = references.slice(from, from + TRANSFER_LINES)
    const transfer = `HDFCN${lines[0]},${day},${lines.length * Number(AMOUNT)}.00`
    for (const reference of lines) yield `${transfer},payment,${reference},${AMOUNT},${day},\n`
  }
}

/** Imports a settlement file of so many lines, which all fit, by the command line. */
async function importOf(bed: Bed, folder: string, count: number) {
  const path = join(folder, `${count}.csv`)
  await pipeline(fileOf(await insertPayments(bed, count)), createWriteStream(path))
  await bed.admin.query('checkpoint')
  const { output, ...ran } = await bed.runAdmin(['settlement', 'import', path, '--json'])
  const { batches } = JSON.parse(output) as { batches: { matched: number }[] }
  const matched = batches.reduce((sum, batch) => sum + batch.matched, 0)
  if (matched !== count) throw new Error(`${matched} of ${count} lines were matched`)
  return ran
}

/** A settlement file of a large day, and whether memory grows with it. */
export const settlementFile: Measure = {
  id: 'settlement-file',
  title: 'Import a settlement file',
  async run({ bed, progress }) {
    const folder = await mkdtemp(join(tmpdir(), 'svc-bench-settlement-'))
    try {
      const ran = []
      for (const count of [FEW, MANY]) {
        progress(`settlement file of ${count} lines`)
        ran.push(await importOf(bed, folder, count))
      }
      const [few, many] = ran as [(typeof ran)[number], (typeof ran)[number]]
      const named = (count: number) => `${count.toLocaleString('en')} lines`
      const notes: Note[] = [
        { name: `${named(FEW)}, with the start of the program`, value: few.seconds, unit: 's' },
        {
          name: `${named(MANY)}, with the start of the program`,
          value: many.seconds,
          unit: 's',
          atMost: SECONDS_MAX,
        },
        { name: `peak memory of ${named(FEW)}`, value: few.peakMb, unit: 'MB' },
        { name: `peak memory of ${named(MANY)}`, value: many.peakMb, unit: 'MB' },
        {
          name: 'peak memory of the large file, as a multiple of that of the small one',
          value: many.peakMb / few.peakMb,
          unit: '×',
          atMost: GROWTH_MAX,
        },
      ]
      return { figures: [], comparisons: [], notes }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}
