import type { FieldError } from './field-errors.ts'

/** Decision F3: what kind of failure it is, beside the status. */
export type ErrorType =
  | 'VALIDATION_ERROR'
  | 'AUTHORIZATION_ERROR'
  | 'NOT_FOUND_ERROR'
  | 'CONFLICT_ERROR'
  | 'BUSINESS_ERROR'
  | 'RATE_LIMIT_ERROR'
  | 'SYSTEM_ERROR'

export interface FailureKind {
  readonly status: number
  readonly errorType: ErrorType
  /** What the caller reads when the thrower says nothing more precise. */
  readonly description: string
  /** For the reference: when it happens and what the caller does about it. */
  readonly remedy: string
}

export const kind = (
  status: number,
  errorType: ErrorType,
  description: string,
  remedy: string,
): FailureKind => ({
  status,
  errorType,
  description,
  remedy,
})

export interface FailureDetails {
  /** For the caller; never a value that was sent, never a private cause. */
  description?: string
  /** What helps on the service’s machine: the command line adds it to the description. */
  command?: string | undefined
  errors?: readonly FieldError[]
  /** Seconds, sent as `Retry-After`. */
  retryAfterSeconds?: number
  headers?: Record<string, string>
  /** Private cause, for the log only. */
  cause?: unknown
  /** Part of an orderly course of events: not logged as an error, whatever the status. */
  isOrderly?: boolean
}
