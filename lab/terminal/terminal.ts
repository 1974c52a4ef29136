import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type Plan, type Report, runTerminal } from './run.ts'

const HELP = `A card network at a live-mode installation that is killed: every response is reckoned, every message is there once.

  npm run terminal                                  10,000 messages, some minutes
  npm run terminal -- --messages 100000 --cards 1000
  npm run terminal -- --seed 7                      the scripts of an earlier run

  --messages N        that the network sends, repeats not counted (10,000)
  --cards N           that it sends them for (200)
  --callers N         cards that are in use at a time (32)
  --processes N       of the service (2)
  --kills N           kill -9 of a process of the service (20)
  --database-kills N  kill -9 of PostgreSQL with all its processes (5)
  --json FILE         writes the report to a file

Ends with exit code 1 when a message was lost or doubled, a response is not as reckoned, a repeat got other bytes, or a
card's money is not where it was reckoned.`

function stop(why: string): never {
  console.error(`${why}\nSee: npm run terminal -- --help`)
  process.exit(2)
}

function readPlan(): { plan: Plan; json: string | undefined } {
  const text = { type: 'string' } as const
  const options = {
    messages: text,
    cards: text,
    callers: text,
    processes: text,
    kills: text,
    'database-kills': text,
    seed: text,
    json: text,
    help: { type: 'boolean', short: 'h' },
  } as const
  try {
    const { values } = parseArgs({ options })
    if (values.help) {
      console.log(HELP)
      process.exit(0)
    }
    const count = (name: Exclude<keyof typeof values, 'help' | 'json'>, otherwise: number): number => {
      const given = values[name] ?? String(otherwise)
      return /^\d{1,9}$/.test(given) ? Number(given) : stop(`--${name} must be a whole number, not ${given}`)
    }
    const plan = {
      messages: count('messages', 10_000),
      cards: count('cards', 200),
      callers: count('callers', 32),
      processes: count('processes', 2),
      kills: count('kills', 20),
      databaseKills: count('database-kills', 5),
      seed: count('seed', randomInt(2 ** 29)),
    }
    return { plan, json: values.json }
  } catch (error) {
    return stop((error as Error).message)
  }
}

function printReport({ broken, ...figures }: Report): void {
  console.log(JSON.stringify(figures, null, 2))
  console.log(
    broken.length === 0 ? 'Nothing lost, nothing doubled.' : `BROKEN:\n${broken.slice(0, 20).join('\n')}`,
  )
}

// An `exit` of our own, so that everything that was started ends too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const { plan, json } = readPlan()
const report = await runTerminal(plan, (line) => console.log(line))
printReport(report)
if (json !== undefined) await writeFile(json, `${JSON.stringify(report, null, 2)}\n`)
process.exitCode = report.broken.length > 0 ? 1 : 0
