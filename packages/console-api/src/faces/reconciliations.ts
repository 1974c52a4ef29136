import { CARD_CHECKS } from '@svc/core/cards/card/reconcile-cards'
import { COIN_CHECKS } from '@svc/core/coins/reconcile-coins'
import { type Reconciliation, reconcile } from '@svc/core/ledger/reconcile'
import { PAYMENT_CHECKS } from '@svc/core/payments/reconcile-payments'
import { rfc3339 } from '@svc/kernel/time'
import type { Services } from '@svc/server/http/operation'
import { BackgroundCheck, type CheckTools } from '../background-check.ts'

/** The proof of all books: the ledger's own checks and those of every slice that moves money. */
export const reconcileAll = (database: Services['database']): Promise<Reconciliation> =>
  reconcile(database, [...PAYMENT_CHECKS, ...CARD_CHECKS, ...COIN_CHECKS])

/** Runs of it for the console. */
export function ledgerChecks(services: CheckTools): BackgroundCheck<Reconciliation> {
  const { database, log } = services
  return new BackgroundCheck(services, 'ledger', async () => {
    const result = await reconcileAll(database)
    if (!result.ok) log.error({ checks: result.checks.filter(({ ok }) => !ok) }, 'the books do not add up')
    return result
  })
}

/** The latest one, as the console shows it. */
export async function latestReconciliation({
  config,
  ledgerChecks: runs,
}: Pick<Services, 'config'> & { readonly ledgerChecks: BackgroundCheck<Reconciliation> }) {
  const { ended, running } = await runs.latest()
  if (!ended) return { state: 'unknown', running, accounts: 0, transfers: 0, checks: [] } as const
  const { problem, result, startedAt, startedBy, tookMs } = ended
  return {
    state: result ? (result.ok ? 'balanced' : 'differences') : 'failed',
    running,
    startedOn: rfc3339(startedAt, config.BUSINESS_TIME_ZONE),
    tookMs,
    startedBy,
    problem,
    accounts: result?.accounts ?? 0,
    transfers: result?.transfers ?? 0,
    checks: result?.checks ?? [],
  }
}
