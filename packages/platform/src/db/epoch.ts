import type { Clock } from '@svc/kernel/time'
import { Loop, type LoopTools } from '../loop.ts'
import { clockSkew, type Metrics } from '../metrics.ts'
import type { Database } from './database.ts'
import { statement } from './statement.ts'

const EPOCH = statement<{ epoch: string; now: Date }>(
  'installation_epoch',
  'select epoch, clock_timestamp() as now from installation',
)

/** How often a process checks whether a restore has replaced its data, in milliseconds. */
const EVERY_MS = 500

const read = async (database: Database) => (await database.directory(EPOCH, [], 'silence'))[0]!

/** The name of what the database holds: another one after each restore. */
export const readEpoch = async (database: Database): Promise<string> => (await read(database)).epoch

interface EpochTools extends LoopTools {
  readonly clock: Clock
  readonly metrics: LoopTools['metrics'] & Pick<Metrics, 'registry'>
}

export interface EpochWatch {
  readonly loop: Loop
  /** Resolves when the database holds other data than that of the epoch. */
  readonly replaced: Promise<void>
}

/**
 * By how much a process's clock is ahead of the database's at least, in milliseconds; negative where it is behind.
 * `sentMs` and `gotMs`: what the process's clock showed before the query and after it.
 */
const skewMs = (sentMs: number, databaseMs: number, gotMs: number): number =>
  Math.max(sentMs - databaseMs, Math.min(gotMs - databaseMs, 0))

/** Watches for a restore, and measures the process's clock by the database's. */
export function watchEpoch(database: Database, epoch: string, tools: EpochTools): EpochWatch {
  let report = (): void => undefined
  const replaced = new Promise<void>((resolve) => (report = resolve))
  const { clock, metrics } = tools
  const skew = clockSkew(metrics.registry)
  const processMs = () => clock.now() - clock.offsetMs()
  const work = async () => {
    const sentMs = processMs()
    const found = await read(database)
    skew.set(skewMs(sentMs, found.now.getTime(), processMs()) / 1_000)
    if (found.epoch !== epoch) report()
  }
  return { loop: new Loop({ name: 'epoch', everyMs: EVERY_MS, work }, tools), replaced }
}
