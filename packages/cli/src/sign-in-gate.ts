import { setTimeout as sleep } from 'node:timers/promises'
import type { ProofServices } from '@svc/console-api/identity/prove-operator'
import { statement } from '@svc/platform/db/statement'
import { takeTurn } from '@svc/platform/db/turn'
import type { CommandContext } from './context.ts'

const PACE_MS = 1_000

const FAILURES = statement<{ failures: number }>(
  'cli_sign_in_failures',
  `select count(*)::int as failures from audit_log
   where at_ms > extract(epoch from clock_timestamp()) * 1000 - 60000 and action = 'operator.sign_in_failed'
     and (actor = $1 or content::jsonb -> 'details' ->> 'name' = $2)`,
)

/**
 * Slows guessing of passwords as the console does (decision A11), among processes that each try one: the audit has the
 * failures of the last minute, and attempts of one name wait for each other in the database.
 */
export const signInGate = (
  {
    config: { SIGN_IN_FAILURES_PER_MINUTE: perMinute },
    database,
  }: Pick<CommandContext, 'config' | 'database'>,
  actor: string,
): ProofServices['signInGate'] => ({
  async enter({ name }) {
    await database.operate(async (tx) => {
      await takeTurn(tx, `sign-in of ${name}`)
      const [row] = await tx.query(FAILURES, [actor, name])
      if (row!.failures >= perMinute) await sleep(PACE_MS)
    })
    // The entries of the audit count.
    return { isKnown: false, passed: () => Promise.resolve(), failed: () => Promise.resolve() }
  },
})
