import { setTimeout as sleep } from 'node:timers/promises'
import { acknowledgedMore } from './acknowledged-more.ts'
import type { Fault } from './faults.ts'

/** As long as PostgreSQL can be made to wait: a hundred times a usual flush. */
const FLUSH_DELAY_US = 100_000
const SLOW_MS = 5_000

/**
 * A device that delays cannot be had everywhere; `commit_delay` makes PostgreSQL itself wait before each flush of its
 * log. Reads are as fast as before.
 */
export const slowDisk: Fault = {
  name: 'slow disk',
  description: `each flush of the log takes ${FLUSH_DELAY_US / 1_000} ms longer (commit_delay), for some seconds`,
  share: 1,
  async inject(trial) {
    const { bed, load, random } = trial
    const change = async (...statements: string[]) => {
      for (const statement of statements) await bed.server.query(statement)
      await bed.server.query('select pg_reload_conf()')
    }
    load.attempts.longestMs = 0
    await change(
      `alter system set commit_delay = ${FLUSH_DELAY_US}`,
      // Else a single writer would not wait.
      'alter system set commit_siblings = 0',
    )
    const goesOn = await acknowledgedMore(trial, 20)
    await sleep(SLOW_MS + random.below(SLOW_MS))
    const longestMs = load.attempts.longestMs
    await change('alter system reset commit_delay', 'alter system reset commit_siblings')
    const broken = goesOn ? [] : ['on a slow disk nothing was acknowledged']
    const after = await acknowledgedMore(trial, 20)
    return {
      injected: 1,
      survived: goesOn && after ? 1 : 0,
      figures: { 'longest response ms': longestMs },
      broken,
    }
  },
}
