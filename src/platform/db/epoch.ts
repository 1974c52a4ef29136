import type { Database } from './database.ts'
import { statement } from './statement.ts'

const EPOCH = statement<{ epoch: string }>('installation_epoch', 'select epoch from installation')

/** How often a process looks whether a restore has put other data in the place of its own, in milliseconds. */
const LOOK_EVERY_MS = 500

/** The name of what the database holds: another one after each restore. */
export const readEpoch = async (database: Database): Promise<string> =>
  (await database.directory(EPOCH))[0]!.epoch

/** Calls back once, when the database holds something else. Answers how to stop looking. */
export function watchEpoch(database: Database, epoch: string, onReplaced: () => void): () => void {
  const timer = setInterval(() => {
    readEpoch(database).then(
      (now) => {
        if (now === epoch) return
        clearInterval(timer)
        onReplaced()
      },
      // A database that does not answer tells nothing; the next look will.
      () => undefined,
    )
  }, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
