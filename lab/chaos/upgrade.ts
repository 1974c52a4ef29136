import { setTimeout as sleep } from 'node:timers/promises'
import { type Baseline, buildBaseline } from './baseline.ts'
import { type Bed, type BedOptions, makeBed } from './bed.ts'
import type { Fault, Outcome, Trial } from './faults.ts'
import { programOf, ROOT } from './members.ts'

/** The run of an upgrade, by its name in `--only`. */
export const UPGRADE = 'upgrade'

/** This version's schema, on which processes of the baseline serve. */
export interface UpgradeBed extends Bed {
  readonly baseline: Baseline
}

/** How long both versions serve side by side after each exchange of a process. */
const SIDE_BY_SIDE_MS = 3_000

export async function makeUpgradeBed(
  options: BedOptions,
  report: (line: string) => void,
): Promise<UpgradeBed> {
  const baseline = await buildBaseline()
  report(`baseline ${baseline.commit} on the schema of this tree`)
  for (const name of baseline.changedMigrations)
    report(
      `migrations/${name} was changed in place since the baseline: allowed before the first release only`,
    )
  try {
    const bed = await makeBed({ ...options, program: baseline.program })
    return {
      ...bed,
      baseline,
      async close() {
        await bed.close()
        await baseline.remove()
      },
    }
  } catch (error) {
    await baseline.remove()
    throw error
  }
}

/** Exchanges the program of one process after the other, as an upgrade does behind a load balancer. */
async function exchange({ bed, load }: Trial<UpgradeBed>, program: string): Promise<Outcome> {
  const { attempts, record } = load
  const [failedBefore, writesBefore] = [attempts.retried, record.replayable.length]
  const broken: string[] = []
  for (const member of bed.members) {
    member.program = program
    const code = await member.end('SIGTERM')
    if (code !== 0) broken.push(`a process that was told to end by SIGTERM ended with ${code}`)
    await member.ready()
    await sleep(SIDE_BY_SIDE_MS)
  }
  const failed = attempts.retried - failedBefore
  if (failed > 0) broken.push(`${failed} requests failed`)
  const figures = { 'failed requests': failed, writes: record.replayable.length - writesBefore }
  return { injected: 1, survived: failed > 0 ? 0 : 1, figures, broken }
}

/** There and back: each exchange leaves the bed to the version that it names. */
export const UPGRADE_FAULTS: readonly Fault<UpgradeBed>[] = [
  {
    name: UPGRADE,
    description: 'every process of the previous version gives way to one of this version, then back again',
    share: 2,
    async inject(trial) {
      const there = await exchange(trial, programOf(ROOT))
      const back = await exchange(trial, trial.bed.baseline.program)
      const sum = (name: string) => (there.figures?.[name] ?? 0) + (back.figures?.[name] ?? 0)
      return {
        injected: 2,
        survived: there.survived + back.survived,
        figures: { 'failed requests': sum('failed requests'), writes: sum('writes') },
        broken: [
          ...(there.broken ?? []).map((what) => `to this version: ${what}`),
          ...(back.broken ?? []).map((what) => `back to the baseline: ${what}`),
        ],
      }
    },
  },
]
