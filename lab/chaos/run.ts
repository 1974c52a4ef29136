import { setTimeout as sleep } from 'node:timers/promises'
import { type AnyBed, makeBed } from './bed.ts'
import { makeFailoverBed } from './failover-bed.ts'
import { FAILOVER_FAULTS } from './failover-faults.ts'
import { FAULTS, type Fault, type Trial } from './faults.ts'
import { Load } from './load.ts'
import { MOVE, MOVE_FAULTS, makeMoveBed } from './move.ts'
import { quantile } from './quantile.ts'
import { Random } from './random.ts'
import { makeUpgradeBed, UPGRADE, UPGRADE_FAULTS } from './upgrade.ts'
import { judge, type Verdict } from './verdict.ts'

export interface Plan {
  /** Of the schedule of faults and of what callers do; instants differ from run to run all the same. */
  readonly seed: number
  readonly processes: number
  /** Groups of callers, four each. */
  readonly groups: number
  /** How long faults are drawn at random; without it each is done as often as `wanted`, or its share, says. */
  readonly minutes?: number | undefined
  /** Injections by fault. When any are given, the other faults are left out. */
  readonly wanted: ReadonlyMap<string, number>
  readonly only?: readonly string[] | undefined
  /** How often each fault is done, in place of its share. */
  readonly times?: number | undefined
}

export interface FaultCount {
  readonly name: string
  readonly injected: number
  readonly survived: number
  /** Median and largest of what was measured. */
  readonly figures: Readonly<Record<string, { readonly median: number; readonly max: number }>>
  readonly skipped: string | undefined
}

export interface Report {
  readonly seed: number
  readonly seconds: number
  readonly faults: readonly FaultCount[]
  readonly attempts: Readonly<Record<string, number>>
  /** Requests without a definite response for two minutes. */
  readonly unsettled: number
  readonly acceptedP99Ms: number
  /** Log entries of level error, by what they say. */
  readonly logged: Readonly<Record<string, number>>
  readonly verdict: Verdict
  /** Promises that faults broke while they lasted, in words. */
  readonly broken: readonly string[]
}

interface Tally {
  injected: number
  survived: number
  readonly figures: Map<string, number[]>
  skipped: string | undefined
}

/** Of a cluster that fails over; they need a bed of their own. */
const isFailover = ({ only }: Plan): boolean =>
  FAILOVER_FAULTS.some(({ name }) => only?.includes(name)) || only?.includes(FAILOVER) === true
/** Stands for all faults of a cluster. */
export const FAILOVER = 'failover'

/** Faults in a random order, in between a moment of quiet, under load all the time; then the verdict. */
export function runChaos(plan: Plan, report: (line: string) => void): Promise<Report> {
  report(`seed ${plan.seed}: ${plan.processes} processes, ${plan.groups * 4} callers`)
  if (plan.only?.includes(UPGRADE))
    return runOn((wanted) => makeUpgradeBed(wanted, report), UPGRADE_FAULTS, plan, report)
  if (plan.only?.includes(MOVE)) return runOn(makeMoveBed, MOVE_FAULTS, plan, report)
  return isFailover(plan)
    ? runOn(makeFailoverBed, FAILOVER_FAULTS, plan, report)
    : runOn(makeBed, FAULTS, plan, report)
}

async function runOn<B extends AnyBed>(
  open: (plan: Plan) => Promise<B>,
  faults: readonly Fault<B>[],
  plan: Plan,
  report: (line: string) => void,
): Promise<Report> {
  const startMs = performance.now()
  const bed = await open(plan)
  try {
    const load = await Load.open(bed, new Random(plan.seed))
    try {
      const trial = { bed, load, random: new Random(plan.seed + 1) }
      load.start()
      const { tallies, broken } = await injectAll(plan, faults, trial, report)
      await load.stop()
      const verdict = await judge(bed, load, report)
      return {
        seed: plan.seed,
        seconds: Math.round((performance.now() - startMs) / 1_000),
        faults: [...tallies].map(([name, tally]) => ({ name, ...counted(tally) })),
        attempts: Object.fromEntries([...load.attempts.byOutcome].sort()),
        unsettled: load.attempts.unsettled,
        acceptedP99Ms: Math.round(quantile(load.attempts.latenciesMs, 0.99)),
        logged: errorsOf(bed),
        verdict,
        broken,
      }
    } finally {
      await load.close()
    }
  } finally {
    await bed.close()
  }
}

/** Chooses the next fault; `undefined` when the plan is done. */
function chooser<B>(
  plan: Plan,
  faults: readonly Fault<B>[],
  tallies: ReadonlyMap<string, Tally>,
  { random }: Trial<B>,
) {
  const endMs = plan.minutes === undefined ? undefined : performance.now() + plan.minutes * 60_000
  const left = (fault: Fault<B>) =>
    (plan.wanted.get(fault.name) ?? (plan.wanted.size > 0 ? 0 : (plan.times ?? fault.share))) -
    tallies.get(fault.name)!.injected
  return (): Fault<B> | undefined => {
    if (endMs !== undefined && performance.now() >= endMs) return undefined
    const open = endMs === undefined ? faults.filter((fault) => left(fault) > 0) : faults
    let ticket = random.next() * open.reduce((sum, { share }) => sum + share, 0)
    return open.find(({ share }) => (ticket -= share) < 0)
  }
}

async function injectAll<B>(
  plan: Plan,
  faults: readonly Fault<B>[],
  trial: Trial<B>,
  report: (line: string) => void,
) {
  const tallies = new Map<string, Tally>()
  const chosen = faults.filter(
    ({ name }) => !plan.only || plan.only.some((only) => [name, FAILOVER].includes(only)),
  )
  for (const { name, impossible } of chosen)
    tallies.set(name, { injected: 0, survived: 0, figures: new Map(), skipped: impossible?.(trial.bed) })
  const possible = chosen.filter(({ name }) => tallies.get(name)!.skipped === undefined)
  const next = chooser(plan, possible, tallies, trial)
  const broken: string[] = []
  await sleep(1_000)
  for (let fault = next(); fault; fault = next()) {
    const beganMs = performance.now()
    const outcome = await fault.inject(trial)
    const tally = tallies.get(fault.name)!
    tally.injected += outcome.injected
    tally.survived += outcome.survived
    for (const [name, value] of Object.entries(outcome.figures ?? {}))
      tally.figures.set(name, [...(tally.figures.get(name) ?? []), value])
    for (const what of outcome.broken ?? []) broken.push(`${fault.name}: ${what}`)
    if (outcome.survived < outcome.injected && !outcome.broken?.length)
      broken.push(`${fault.name}: the service did not go on after it`)
    const figures = Object.entries(outcome.figures ?? {}).map(
      ([name, value]) => `${name} ${Math.round(value)}`,
    )
    const seconds = ((performance.now() - beganMs) / 1_000).toFixed(1)
    const state = `${trial.load.record.replayable.length} writes acknowledged`
    report(
      [`${fault.name} ${tally.injected}`, `${seconds} s`, state, ...figures, ...(outcome.broken ?? [])].join(
        ', ',
      ),
    )
    await sleep(trial.random.below(300))
  }
  return { tallies, broken }
}

const counted = ({ injected, survived, figures, skipped }: Tally) => ({
  injected,
  survived,
  skipped,
  figures: Object.fromEntries(
    [...figures].map(([name, values]) => [
      name,
      { median: Math.round(quantile(values, 0.5)), max: Math.round(Math.max(...values)) },
    ]),
  ),
})

function errorsOf({ members }: AnyBed): Record<string, number> {
  const errors: Record<string, number> = {}
  for (const member of members)
    for (const [text, times] of member.errors) errors[text] = (errors[text] ?? 0) + times
  return errors
}
