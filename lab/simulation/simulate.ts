/**
 * Runs the service in a simulated world, seed by seed, and looks for anything that must never be:
 *
 *   npm run simulate -- --seeds 20 --steps 2000            twenty fresh seeds
 *   npm run simulate -- --seed 7 --steps 2000              one seed, again
 *   npm run simulate -- --minutes 30                       as many seeds as fit
 *
 * --lines says how much of the trace is printed, --violations after how many it gives up, --counts what was called,
 * --hash a digest of each seed's trace: the same for the same seed and code. --trace FILE keeps the whole trace: where
 * that of the same seed differs from run to run, something took real time or chance.
 *
 * A step is one request (a repeat and a doubled one too), one thing that the service or its operator does besides, or one
 * fault. Exit code 1 when an invariant was broken; it then prints the last lines and the command that shows it again.
 * Interrupted, it ends the seed that it is at, with all that is looked at in the end.
 */
import { appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Chance } from './chance.ts'
import { realTimeMs, SimulatedProcess } from './process.ts'
import { Run } from './run.ts'
import { startServer } from './server.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    steps: { type: 'string', default: '2000' },
    minutes: { type: 'string' },
    lines: { type: 'string', default: '60' },
    violations: { type: 'string', default: '5' },
    counts: { type: 'boolean', default: false },
    hash: { type: 'boolean', default: false },
    trace: { type: 'string' },
  },
})
const number = (
  name: 'seed' | 'seeds' | 'steps' | 'minutes' | 'lines' | 'violations',
): number | undefined => {
  const text = values[name]
  if (text === undefined) return undefined
  if (!/^\d+$/.test(text)) {
    console.error(`--${name} must be a whole number, such as --${name} 20`)
    process.exit(2)
  }
  return Number(text)
}
const steps = number('steps')!
const minutes = number('minutes')
const first = number('seed') ?? Math.floor(Math.random() * 2 ** 31)
const seeds = number('seeds') ?? (minutes === undefined ? 1 : Number.POSITIVE_INFINITY)
const lines = number('lines')!
const violationsMax = number('violations')!

const began = realTimeMs()
const elapsedS = (): number => (realTimeMs() - began) / 1_000
const server = await startServer()
const simulated = new SimulatedProcess(new Chance(first, 'start'))
const total = { seeds: 0, steps: 0, rounds: 0, crashes: 0, statements: 0, violations: 0 }
const counts = new Map<string, number>()
let reportedAtS = 0

const progress = (): string =>
  `${total.seeds} seeds, ${total.steps} steps (${total.rounds} rounds, ${total.statements} statements, ${total.crashes} crashes), ${Math.round(total.steps / elapsedS())} steps/s, ${total.violations} violations`

let interrupted = false
let run: Run | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    interrupted = true
    run?.stop()
  })

console.log(`seeds from ${first}, ${steps} steps each`)
let previous: string | undefined
for (let i = 0; i < seeds && (minutes === undefined || elapsedS() < minutes * 60); i++) {
  const seed = (first + i) % 2 ** 31
  const database = `seed_${i}_${seed}`
  await server.newDatabase(database, previous)
  previous = database
  run = new Run(server, simulated, seed, database)
  const { trace } = values
  if (trace !== undefined) run.world.report = (line) => appendFileSync(trace, `${line}\n`)
  try {
    const result = await run.take(steps)
    total.steps += result.steps
    total.rounds += result.rounds
    total.crashes += result.crashes
    total.statements += result.statements
    for (const [name, count] of result.counts) counts.set(name, (counts.get(name) ?? 0) + count)
    if (values.hash) console.log(`${seed} ${result.traceHash}`)
  } catch (error) {
    total.violations++
    console.log(
      `\n${run.world.lines
        .slice(-lines)
        .map((line) => line.slice(0, 400))
        .join('\n')}`,
    )
    console.log(`\nVIOLATION seed ${seed}, step ${run.steps}, round ${run.callers.round}`)
    console.log(error instanceof Error && error.name === 'Violation' ? error.message : (error as Error).stack)
    console.log(`Again: npm run simulate -- --seed ${seed} --steps ${steps}\n`)
  }
  total.seeds++
  if (elapsedS() - reportedAtS > 10) {
    reportedAtS = elapsedS()
    console.log(progress())
  }
  if (interrupted || total.violations >= violationsMax) break
}
console.log(progress())
if (values.counts)
  for (const [name, count] of [...counts].sort()) console.log(`${String(count).padStart(8)} ${name}`)
simulated.giveBack()
await server.close()
process.exit(total.violations > 0 ? 1 : 0)
