import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for something that must come; the test's own limit ends a wait in vain. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(5)
}
