import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

const PAUSE_MS = 200

/**
 * One migration or restore of a database at a time, until the connection ends. A statement that waits for a lock has a
 * snapshot, and `create index concurrently` of the process that holds the lock waits for every snapshot: a deadlock.
 * Hence this asks again and again.
 */
export async function takeSetUpLock(client: pg.ClientBase): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>(
      `select pg_try_advisory_lock(hashtext('svc set-up')) as taken`,
    )
    if (rows[0]!.taken) return
    await sleep(PAUSE_MS)
  }
}
