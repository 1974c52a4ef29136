import type { Tx } from '@svc/platform/db/database'

/** What is about to be closed. */
export interface ClosingPeriod {
  /** The last business day, `YYYY-MM-DD`. */
  readonly through: string
  /** The first instant after that business day. */
  readonly to: Date
}

/** What a period is checked for before it is closed. */
export interface ClosingCheck {
  readonly item: string
  /** What is not in order, in words; `null` where all is. */
  readonly problem: (tx: Tx, period: ClosingPeriod) => Promise<string | null>
}

export interface ClosingFinding {
  readonly item: string
  readonly ok: boolean
  readonly detail: string
}
