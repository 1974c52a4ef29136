/**
 * Breaks what the races rest on, one thing at a time, in a copy of the tree, and shows that a test goes red for it:
 *
 *   npx tsx lab/mutation/mutations.ts          (npm run test:mutations; a minute or so each)
 *
 * Exit code 1 when a mutation survives, or when the unbroken copy fails: then red would mean nothing.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyEverything } from '../../test/harness/checkout.ts'
import { type Edit, MUTATIONS, type Mutation, SIMULATE } from './mutants.ts'

/** Seeds and steps in which the simulation must find what was planted. */
const SIMULATED = ['--seed', '1', '--seeds', '4', '--steps', '1500', '--violations', '1', '--lines', '0']

interface Ran {
  readonly red: boolean
  readonly output: string
}

function run(cwd: string, tests: string, named: string): Promise<Ran> {
  const node = (...path: string[]) => join('node_modules', ...path)
  const args =
    tests === SIMULATE
      ? ['--import', 'tsx', 'lab/simulation/simulate.ts', ...SIMULATED]
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
    copyEverything(copy)
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
