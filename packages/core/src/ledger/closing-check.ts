import type { Tx } from '@svc/platform/db/database'

/** What is about to be closed. */
export interface ClosingPeriod {
  /** The last business day, `YYYY-MM-DD`. */
  readonly through: string
  /** The first instant after that business day. */
  readonly to: Date
}

/** What is not in order: how many of it, and in words. */
export interface ClosingProblem {
  readonly count: number
  readonly detail: string
}

/** What a period is checked for before it is closed. */
export interface ClosingCheck {
  readonly item: string
  readonly problem: (tx: Tx, period: ClosingPeriod) => Promise<ClosingProblem | null>
}

export interface ClosingFinding {
  readonly item: string
  readonly ok: boolean
  readonly count: number
  readonly detail: string
}
