import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { FAULTS } from './faults.ts'
import { printReport } from './report.ts'
import { type Plan, runChaos } from './run.ts'

const HELP = `Crash and fault runs: the service as several processes on a PostgreSQL of its own, under load, while things break.

  npm run chaos                                         every fault a few times, some minutes
  npm run chaos -- --minutes 30                         faults at random for half an hour
  npm run chaos -- --kills 200 --database-kills 50      that many; --cuts N for cuts around COMMIT
  npm run chaos -- --only 'full disk'                   one kind of fault; several: repeat it

  --processes N   of the service (3)      --seed N   of an earlier run's schedule
  --groups N      of four callers (6)     --json F   writes the report to a file

Faults: ${FAULTS.map(({ name }) => name).join(', ')}
Ends with exit code 1 when anything was lost, doubled or otherwise not as promised.`

const count = (text: string | undefined, name: string): number | undefined => {
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text)) stop(`--${name} must be a whole number, not ${text}`)
  return Number(text)
}

function stop(why: string): never {
  console.error(`${why}\nSee: npm run chaos -- --help`)
  process.exit(2)
}

function readPlan(): { plan: Plan; json: string | undefined } {
  const text = { type: 'string' } as const
  const options = {
    minutes: text,
    kills: text,
    'database-kills': text,
    cuts: text,
    only: { type: 'string', multiple: true },
    processes: text,
    groups: text,
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
    const unknown = values.only?.find((name) => !FAULTS.some((fault) => fault.name === name))
    if (unknown !== undefined)
      stop(`There is no fault ${unknown}; there are: ${FAULTS.map((f) => f.name).join(', ')}`)
    const wanted = {
      'service kill': count(values.kills, 'kills'),
      'database kill': count(values['database-kills'], 'database-kills'),
      'cut at COMMIT': count(values.cuts, 'cuts'),
    }
    const plan: Plan = {
      seed: count(values.seed, 'seed') ?? randomInt(2 ** 31),
      processes: count(values.processes, 'processes') ?? 3,
      groups: count(values.groups, 'groups') ?? 6,
      minutes: count(values.minutes, 'minutes'),
      wanted: new Map(
        Object.entries(wanted).flatMap(([name, times]) => (times === undefined ? [] : [[name, times]])),
      ),
      only: values.only,
    }
    return { plan, json: values.json }
  } catch (error) {
    return stop((error as Error).message)
  }
}

// An `exit` of our own, so that everything that was started ends too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const { plan, json } = readPlan()
const report = await runChaos(plan, (line) => console.log(line))
printReport(report)
if (json !== undefined) await writeFile(json, `${JSON.stringify(report, null, 2)}\n`)
process.exitCode = report.verdict.broken.length > 0 || report.broken.length > 0 ? 1 : 0
