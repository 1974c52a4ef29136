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

interface Edit {
  readonly file: string
  readonly from: string
  readonly to: string
}

interface Mutation extends Edit {
  readonly what: string
  /** More places that must be broken too, because what is broken is held twice. */
  readonly also?: readonly Edit[]
  /** The test that must go red; `simulate`: the simulation must find it, within these seeds. */
  readonly tests: string
  readonly named: string
}

const RACES = 'test/service/races.test.ts'
const SIMULATE = 'simulate'
/** Seeds and steps in which the simulation must find what was planted. */
const SIMULATED = ['--seed', '1', '--seeds', '4', '--steps', '1500', '--violations', '1', '--lines', '0']
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
    named: 'one bank reference',
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
  {
    what: 'rows are read without a lock',
    file: 'src/platform/db/row-lock.ts',
    from: '${from} for no key update of ${of}`',
    to: '${from}`.replace(/$/, of ? "" : "")',
    tests: SIMULATE,
    named: 'simulated: row lock',
  },
  {
    what: 'a batch id may be written twice',
    file: 'migrations/0001_tenants_ledger_qr_codes.sql',
    from: 'batch_id   text collate "C" primary key,',
    to: 'batch_id   text collate "C" not null,',
    tests: SIMULATE,
    named: 'simulated: unique key',
  },
  {
    what: 'what was sent before a lost COMMIT is sent again under a new id',
    file: 'src/platform/db/lane.ts',
    from: 'await this.#attempt({ batchId, entries',
    to: 'await this.#attempt({ batchId: batchId && newBatchId(), entries',
    tests: SIMULATE,
    named: 'simulated: new batch id',
  },
  {
    what: 'the first answer of a key is kept in a transaction of its own',
    file: 'src/platform/db/batch.ts',
    from: 'await answers.save(tx, keep, now)',
    to: 'await database.write(keep.map(({ key }) => key.tenantId), (own) => answers.save(own, keep, now))',
    tests: SIMULATE,
    named: 'simulated: idempotency outside',
  },
  {
    what: 'the first answer of a key is not kept',
    file: 'src/platform/db/batch.ts',
    from: 'if (keep.length > 0) await answers.save',
    to: 'if (keep.length < 0) await answers.save',
    tests: SIMULATE,
    named: 'simulated: answers forgotten',
  },
  {
    what: 'callers are answered before the COMMIT is',
    file: 'src/platform/db/batch.ts',
    from: '    await commit(client)\n    return decided',
    to: '    commit(client).catch(() => undefined)\n    return decided',
    tests: SIMULATE,
    named: 'simulated: early answer',
  },
  {
    what: 'a card may be overspent',
    file: 'src/cards/spend-card.ts',
    from: 'if (balancePaise < amountPaise)',
    to: 'if (balancePaise < -amountPaise)',
    also: [
      {
        file: 'migrations/0001_tenants_ledger_qr_codes.sql',
        from: 'check (balance >= floor)',
        to: 'check (balance is not null)',
      },
    ],
    tests: SIMULATE,
    named: 'simulated: floor',
  },
  {
    what: 'payments are not told of',
    file: 'src/qr-codes/accept-payment.ts',
    from: 'saveEvents(tx, recorded.flatMap(eventsOf))',
    to: 'saveEvents(tx, recorded.slice(1).flatMap(eventsOf))',
    tests: SIMULATE,
    named: 'simulated: outbox',
  },
  {
    what: 'a cancelled code takes payments',
    file: 'src/qr-codes/accept-payment.ts',
    from: `if (code.status === 'CANCELLED') return 'qr_code_cancelled'`,
    to: '',
    tests: SIMULATE,
    named: 'simulated: cancel',
  },
  {
    what: 'coins live a day longer than they say',
    file: 'src/coins/wallet.ts',
    from: 'expiresAt !== null && expiresAt <= now',
    to: 'expiresAt !== null && expiresAt.getTime() <= now.getTime() - 86_400_000',
    tests: SIMULATE,
    named: 'simulated: expired coins',
  },
  {
    what: 'what a payment adds to a code is lost when two meet in a batch',
    file: 'src/qr-codes/accept-payment.ts',
    from: 'if (payee) state.payees.set(code.qrCodeId, { ...payee, code })',
    to: 'if (payee && code.multipleUse) state.payees.set(code.qrCodeId, { ...payee })',
    tests: SIMULATE,
    named: 'simulated: lost update',
  },
]

interface Ran {
  readonly red: boolean
  readonly output: string
}

function run(cwd: string, tests: string, named: string): Promise<Ran> {
  const node = (...path: string[]) => join('node_modules', ...path)
  const args =
    tests === SIMULATE
      ? ['--import', 'tsx', 'test/simulation/simulate.ts', ...SIMULATED]
      : [node('vitest', 'vitest.mjs'), 'run', tests, '--project', 'postgres 18', '-t', named]
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (output += part.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ red: code !== 0, output })))
}

function apply(copy: string, { file, from, to }: Edit): void {
  const text = readFileSync(join(copy, file), 'utf8')
  if (!text.includes(from)) throw new Error(`${file} does not hold what this mutation replaces: ${from}`)
  writeFileSync(
    join(copy, file),
    text.replace(from, () => to),
  )
}

/** Runs one test in a fresh copy of the tree, with these edits. */
async function runInCopy(tests: string, named: string, edits: readonly Edit[]): Promise<Ran> {
  const copy = mkdtempSync(join(tmpdir(), 'svc-mutation-'))
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    for (const edit of edits) apply(copy, edit)
    return await run(copy, tests, named)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** What the unbroken copy says: one run serves all mutations of a test. */
const unbroken = new Map<string, Promise<Ran>>()

function runUnbroken({ tests, named }: Mutation): Promise<Ran> {
  const key = tests === SIMULATE ? tests : `${tests} ${named}`
  const ran = unbroken.get(key) ?? runInCopy(tests, named, [])
  unbroken.set(key, ran)
  return ran
}

let bad = 0
const only = process.argv[2]
for (const mutation of MUTATIONS.filter(({ named }) => !only || named.includes(only))) {
  const { tests, named, also = [] } = mutation
  const whole = await runUnbroken(mutation)
  const broken = whole.red ? undefined : await runInCopy(tests, named, [mutation, ...also])
  // Red for the right reason: an assertion of that test, not a copy that does not start.
  const killed = broken?.red === true && /AssertionError|^VIOLATION/m.test(broken.output)
  if (!killed) bad++
  const verdict = whole.red ? 'RED UNBROKEN' : killed ? 'killed' : 'SURVIVED'
  const [found] = /^VIOLATION .*\n.*/m.exec(broken?.output ?? '') ?? []
  console.log(
    `${verdict.padEnd(12)} ${mutation.what} (${mutation.named})${found ? `\n  ${found.slice(0, 300)}` : ''}`,
  )
  if (!killed) console.log((broken ?? whole).output.split('\n').slice(-40).join('\n'))
}
process.exitCode = bad > 0 ? 1 : 0
