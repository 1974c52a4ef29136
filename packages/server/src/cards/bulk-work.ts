import type { BulkLine, BulkOutcome, DueJob } from '@svc/core/cards/bulk/bulk-job'
import type { OpenCommand } from '@svc/platform/command'

export type LeasedLine = BulkLine & { readonly attempts: number }

/** How the rows of one kind of job are carried out. */
export interface BulkWork {
  /** The command of a row, and of single requests, which go first. */
  readonly command: Pick<OpenCommand<never, unknown>, 'submitted' | 'quiet'>
  /** Calls `submitting` just before it submits the command. Throws what may pass, and our own errors. */
  readonly carryOut: (job: DueJob, row: LeasedLine, submitting: () => void) => Promise<BulkOutcome>
}
