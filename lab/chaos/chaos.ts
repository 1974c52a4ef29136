import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { FAILOVER_FAULTS } from './failover-faults.ts'
import { FAULTS } from './faults.ts'
import { MOVE } from './move.ts'
import { printReport } from './report.ts'
import { FAILOVER, type Plan, runChaos } from './run.ts'
import { UPGRADE } from './upgrade.ts'

const HELP = `Crash and fault runs: the service as several processes on a PostgreSQL of its own, under load, while things break.

  npm run chaos                                         every fault a few times, some minutes
  npm run chaos -- --minutes 30                         faults at random for half an hour
  npm run chaos -- --kills 200 --database-kills 50      that many; --cuts N for cuts around COMMIT
  npm run chaos -- --only 'full disk'                   one kind of fault; several: repeat it
  npm run chaos -- --only upgrade                       the baseline version and this one side by side
  npm run chaos -- --only move                          tenants move between two cells behind HAProxy, which breaks too
  npm run chaos -- --only failover --times 20           a cluster under Patroni that fails over, each fault 20 times

  --processes N   of the service (3)      --seed N   of an earlier run's schedule
  --groups N      of four callers (6)     --json F   writes the report to a file
  --times N       each fault, in place of its usual share

Faults: ${FAULTS.map(({ name }) => name).join(', ')}
Moves need haproxy. Each breaks something else: the mover, the databases, processes, the router. --times 20: so many moves.
Faults of a cluster: ${FAILOVER_FAULTS.map(({ name }) => name).join(', ')}.
They need root and the setting SVC_ENGINES: the folder of the scripts up.sh, node.sh and down.sh, which start three
PostgreSQL nodes under Patroni with etcd apart and HAProxy in front, each in a network namespace of its own.
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

function checkNames(only: readonly string[]): void {
  const ofCluster = [FAILOVER, ...FAILOVER_FAULTS.map(({ name }) => name)]
  const known = [...FAULTS.map(({ name }) => name), UPGRADE, MOVE, ...ofCluster]
  const unknown = only.find((name) => !known.includes(name))
  if (unknown !== undefined) stop(`There is no fault ${unknown}; there are: ${known.join(', ')}`)
  const clustered = only.filter((name) => ofCluster.includes(name)).length
  const alone = only.find((name) => name === UPGRADE || name === MOVE)
  if (alone !== undefined && only.length > 1) stop(`Runs of ${alone} have a bed of their own: no other fault`)
  if (clustered > 0 && clustered < only.length) stop('Faults of a cluster run by themselves')
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
    times: text,
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
    checkNames(values.only ?? [])
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
      times: count(values.times, 'times'),
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
