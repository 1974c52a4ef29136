import type { Tx } from './database.ts'
import { statement } from './statement.ts'

/** Shorter than the limit of a statement, so that the error names the wait. */
const PATIENCE = statement('turn_patience', `select set_config('lock_timeout', '25s', true)`)
/** The turn itself, for a batch, which waits as long as for its rows. */
export const TURN_LOCK = statement('turn_lock', `select pg_advisory_xact_lock(hashtext('svc ' || $1::text))`)

/**
 * One process at a time, until the end of the transaction: what several do at their start or on an operator's behalf.
 * Waits longer than for a row: on a slow machine the first of them makes an installation's data.
 */
export async function takeTurn(tx: Tx, at: string): Promise<void> {
  await tx.query(PATIENCE)
  await tx.query(TURN_LOCK, [at])
}
