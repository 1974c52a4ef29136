import { setTimeout as sleep } from 'node:timers/promises'

/** A part of the service that works beside its requests. Stopping waits for the work in progress. */
export interface Part {
  start(): void
  /** Resolves when the work in progress has ended; where there is none, it began nothing. */
  idle?(): Promise<void>
  stop(): Promise<void>
  /** In place of `start`, for time that stands still between requests. Absent where it reaches outside of the service. */
  runIfDue?(nowMs: number): Promise<void>
}

/** Longest time for which one part holds up the next. */
const FIRST_RUN_MS = 500

/**
 * Starts each part once the first work of the one before has ended: all at once, they would open as many connections to
 * the database as there are parts.
 */
export async function startInTurn(parts: readonly Part[], isOver: () => boolean): Promise<void> {
  for (const part of parts) {
    if (isOver()) return
    part.start()
    await Promise.race([part.idle?.(), sleep(FIRST_RUN_MS, undefined, { ref: false })])
  }
}

export const stopAll = (parts: readonly Part[]) => Promise.all(parts.map((part) => part.stop()))
