import { Loop, type LoopTools } from '../loop.ts'
import type { Database } from './database.ts'
import { statement } from './statement.ts'

const EPOCH = statement<{ epoch: string }>('installation_epoch', 'select epoch from installation')

/** How often a process checks whether a restore has replaced its data, in milliseconds. */
const EVERY_MS = 500

/** The name of what the database holds: another one after each restore. */
export const readEpoch = async (database: Database): Promise<string> =>
  (await database.directory(EPOCH, [], 'silence'))[0]!.epoch

export interface EpochWatch {
  readonly loop: Loop
  /** Resolves when the database holds other data than that of the epoch. */
  readonly replaced: Promise<void>
}

export function watchEpoch(database: Database, epoch: string, tools: LoopTools): EpochWatch {
  let report = (): void => undefined
  const replaced = new Promise<void>((resolve) => (report = resolve))
  const work = async () => {
    if ((await readEpoch(database)) !== epoch) report()
  }
  return { loop: new Loop({ name: 'epoch', everyMs: EVERY_MS, work }, tools), replaced }
}
