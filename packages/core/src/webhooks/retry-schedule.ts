const FIRST_MS = 5_000
const FACTOR = 4
const LONGEST_MS = 12 * 3_600_000
/** Share by which a delay is drawn longer or shorter, so that receivers that come back are not met all at once. */
const JITTER = 0.2
/** From the first attempt on. */
export const RETRY_FOR_MS = 72 * 3_600_000

export interface Failed {
  /** Attempts that were made, this one included. */
  readonly attempts: number
  readonly startedAtMs: number
  readonly nowMs: number
  /** `Retry-After` of the response (RFC 9110 section 10.2.3). */
  readonly retryAfter: string | undefined
  /** From 0 up to 1. */
  readonly chance: number
}

/** When to try again: 5 s, 20 s, 80 s, … 12 h, each give or take a fifth; `undefined` after three days. */
export function nextAttemptMs({
  attempts,
  startedAtMs,
  nowMs,
  retryAfter,
  chance,
}: Failed): number | undefined {
  const delay = Math.min(LONGEST_MS, FIRST_MS * FACTOR ** (attempts - 1))
  const jittered = nowMs + delay * (1 - JITTER + 2 * JITTER * chance)
  const untilMs = startedAtMs + RETRY_FOR_MS
  if (jittered > untilMs) return undefined
  // An endpoint that asks for time loses no event by it: the last attempt is at the end of the three days.
  return Math.min(untilMs, Math.max(jittered, retryAfterMs(retryAfter, nowMs)))
}

/** At most a day is granted to an endpoint that asks for time. */
const GRANTED_MS_MAX = 24 * 3_600_000

function retryAfterMs(text: string | undefined, nowMs: number): number {
  if (text === undefined) return 0
  const at = /^\d{1,9}$/.test(text) ? nowMs + Number(text) * 1_000 : Date.parse(text)
  return Number.isNaN(at) ? 0 : Math.min(at, nowMs + GRANTED_MS_MAX)
}
