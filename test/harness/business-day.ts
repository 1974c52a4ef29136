import { setTimeout } from 'node:timers/promises'
import type { TestService } from './service.ts'

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000]
/** Of India, the business zone of the tests. */
const ZONE_AHEAD_MS = 5.5 * HOUR_MS

const leftOfDayMs = (now: number): number => DAY_MS - ((now + ZONE_AHEAD_MS) % DAY_MS)

/** Waits for midnight where it comes within half a minute: for tests of several processes, whose clocks do not move. */
export async function waitForMidnight(): Promise<void> {
  const leftMs = leftOfDayMs(Date.now())
  if (leftMs < 30_000) await setTimeout(leftMs + 1_000)
}

/** Where the business day ends within the hour, moves the clock on to the next one: none ends while tests run. */
export function passMidnight({ clock }: Pick<TestService, 'clock'>): void {
  const leftMs = leftOfDayMs(clock.now())
  // A minute more, as the database's clock may be a little behind.
  if (leftMs < HOUR_MS) clock.advance(leftMs + 60_000)
}
