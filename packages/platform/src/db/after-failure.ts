import { type LockMode, UnknownOutcome } from './batch.ts'
import { isUnavailable, LOCK_TIMEOUT, sqlConstraint, sqlState } from './database.ts'

/** What broke an attempt at a batch. `committed`: its id is in the database already, from an earlier attempt. */
export type BatchFailure = 'committed' | 'unknown' | 'unavailable' | 'lock timeout' | 'race' | 'own'

/** Where a batch stands when an attempt at it fails. */
export interface BatchState {
  /** COMMIT of an earlier attempt may have happened. */
  readonly inDoubt: boolean
  readonly mode: LockMode
  readonly tenants: number
  /** Races that it has lost so far. */
  readonly races: number
}

/**
 * `settled`: the outcome in doubt is the true one. `settle`: after a pause again under the same id, which shows the outcome.
 * `pause`: after a pause again. `skip`: again without the tenants whose rows are held. `give back`: back to the queue.
 * `again`: at once. `split`: in parts, so that the culprit fails alone; a single command fails.
 */
export type NextStep = 'settled' | 'settle' | 'pause' | 'skip' | 'give back' | 'again' | 'split'

/** Serialization failures, deadlocks and unique races that one batch may meet before it is split. */
export const RACES_MAX = 4

const RACE = new Set(['40001', '40P01', '23505'])

export function batchFailureOf(error: unknown): BatchFailure {
  if (error instanceof UnknownOutcome) return 'unknown'
  if (isUnavailable(error)) return 'unavailable'
  const state = sqlState(error)
  if (state === LOCK_TIMEOUT) return 'lock timeout'
  if (state === '23505' && sqlConstraint(error) === 'batches_pkey') return 'committed'
  return RACE.has(state ?? '') ? 'race' : 'own'
}

/** What to do after a failed attempt. Until the database has said what became of a COMMIT, nothing else is tried. */
export function afterFailure(failure: BatchFailure, { inDoubt, mode, tenants, races }: BatchState): NextStep {
  if (inDoubt) return failure === 'committed' ? 'settled' : 'settle'
  const again = races < RACES_MAX ? 'again' : 'split'
  const table: Readonly<Record<BatchFailure, NextStep>> = {
    unknown: 'settle',
    unavailable: 'pause',
    'lock timeout': mode === 'wait' ? 'skip' : tenants === 1 ? 'give back' : 'split',
    race: again,
    // Not of this batch, since none of its attempts is in doubt: two batches drew the same id.
    committed: again,
    own: 'split',
  }
  return table[failure]
}
