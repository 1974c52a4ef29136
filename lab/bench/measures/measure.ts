import type { Bed } from '../bed.ts'
import type { Contest, Figure } from '../contest.ts'

/** What every measure is given. */
export interface Setting {
  readonly bed: Bed
  readonly callers: readonly number[]
  readonly rounds: number
  readonly seconds: number
  /** How many cards the large account holds. */
  readonly cards: number
  readonly full: boolean
  readonly progress: Contest['progress']
}

/** One row of the table: a contender beside the one that the aim speaks of. */
export interface Comparison {
  readonly of: string
  readonly to: string
  /** The least that we want; undefined where the figure only informs. */
  readonly aim?: number
}

/** Something said beside the rates: milliseconds of a start, megabytes. */
export interface Note {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The most that we want. */
  readonly atMost?: number
}

export interface Result {
  readonly figures: readonly Figure[]
  readonly comparisons: readonly Comparison[]
  readonly notes?: readonly Note[]
  /** Contenders that could not be had, and why. */
  readonly left?: readonly string[]
}

export interface Measure {
  /** For `--only`. */
  readonly id: string
  readonly title: string
  /** Measured with `--full` or where it is named, or only where it is named. */
  readonly onlyWith?: '--full' | '--only'
  run(setting: Setting): Promise<Result>
}
