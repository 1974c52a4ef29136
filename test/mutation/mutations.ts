/**
 * Breaks what the races rest on, one thing at a time, in a copy of the tree, and shows that a test goes red for it:
 *
 *   npx tsx test/mutation/mutations.ts          (npm run test:mutations; a minute or so each)
 *
 * Exit code 1 when a mutation survives, or when the unbroken copy fails: then red would mean nothing.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const COPIED = ['src', 'migrations', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts']

interface Mutation {
  readonly what: string
  readonly file: string
  readonly from: string
  readonly to: string
  /** The test that must go red. */
  readonly tests: string
  readonly named: string
}

const RACES = 'test/service/races.test.ts'
const MUTATIONS: readonly Mutation[] = [
  {
    what: 'rows are read without a lock',
    file: 'src/platform/db/row-lock.ts',
    from: '${from} for no key update of ${of}`',
    to: '${from}`.replace(/$/, of ? "" : "")',
    tests: RACES,
    named: 'single-use codes',
  },
  {
    what: 'rows are read without a lock',
    file: 'src/platform/db/row-lock.ts',
    from: '${from} for no key update of ${of}`',
    to: '${from}`.replace(/$/, of ? "" : "")',
    tests: RACES,
    named: 'cancel against pay',
  },
  {
    what: 'one bank reference may name several credits',
    file: 'migrations/0001_tenants_ledger_qr_codes.sql',
    from: 'constraint one_credit_per_utr unique (utr)',
    to: `constraint one_credit_per_utr check (utr <> '')`,
    tests: RACES,
    named: 'one credit notified',
  },
  {
    what: 'one reference may be held by several codes',
    file: 'migrations/0001_tenants_ledger_qr_codes.sql',
    from: 'create unique index qr_codes_reference',
    to: 'create index qr_codes_reference',
    tests: RACES,
    named: 'one referenceNumber',
  },
  {
    what: 'the first answer of a key is not kept',
    file: 'src/platform/db/batch.ts',
    from: 'if (keep.length > 0) await answers.save',
    to: 'if (keep.length < 0) await answers.save',
    tests: 'test/service/idempotency.test.ts',
    named: '64 callers with one key',
  },
  {
    what: 'a batch leaves no trace by which a lost COMMIT could be settled',
    file: 'src/platform/db/batch.ts',
    from: "`insert into batches values ('${batchId}')`",
    to: "`insert into batches values ('${batchId}' || clock_timestamp())`",
    tests: 'test/service/write-path.test.ts',
    named: 'connections cut around COMMIT',
  },
]

function run(cwd: string, tests: string, named: string): Promise<{ red: boolean; output: string }> {
  const args = [
    join('node_modules', 'vitest', 'vitest.mjs'),
    'run',
    tests,
    '--project',
    'postgres 18',
    '-t',
    named,
  ]
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (output += part.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ red: code !== 0, output })))
}

/** Runs one test in a fresh copy of the tree, broken or not. */
async function runInCopy(
  { file, from, to, tests, named }: Mutation,
  broken: boolean,
): Promise<{ red: boolean; output: string }> {
  const copy = mkdtempSync(join(tmpdir(), 'svc-mutation-'))
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    const text = readFileSync(join(copy, file), 'utf8')
    if (!text.includes(from)) throw new Error(`${file} does not hold what this mutation replaces: ${from}`)
    if (broken)
      writeFileSync(
        join(copy, file),
        text.replace(from, () => to),
      )
    return await run(copy, tests, named)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

let bad = 0
const only = process.argv[2]
for (const mutation of MUTATIONS.filter(({ named }) => !only || named.includes(only))) {
  const whole = await runInCopy(mutation, false)
  const broken = whole.red ? undefined : await runInCopy(mutation, true)
  // Red for the right reason: an assertion of that test, not a copy that does not start.
  const killed = broken?.red === true && /AssertionError/.test(broken.output)
  if (!killed) bad++
  const verdict = whole.red ? 'RED UNBROKEN' : killed ? 'killed' : 'SURVIVED'
  console.log(`${verdict.padEnd(12)} ${mutation.what} (${mutation.named})`)
  if (!killed) console.log((broken ?? whole).output.split('\n').slice(-40).join('\n'))
}
process.exitCode = bad > 0 ? 1 : 0
