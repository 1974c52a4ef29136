import { CARD_CHECKS } from '../cards/reconcile-cards.ts'
import { COIN_CHECKS } from '../coins/reconcile-coins.ts'
import { rfc3339 } from '../kernel/time.ts'
import { type Reconciliation, reconcile } from '../ledger/reconcile.ts'
import type { Services } from '../platform/http/operation.ts'
import { PAYMENT_CHECKS } from '../qr-codes/reconcile-payments.ts'
import { BackgroundCheck } from './background-check.ts'

const opened = new WeakMap<Services, BackgroundCheck<Reconciliation>>()

/** Runs of `reconcile` for the console. */
export function reconciliationsOf(services: Services): BackgroundCheck<Reconciliation> {
  let check = opened.get(services)
  if (!check) {
    const { database, log } = services
    check = new BackgroundCheck(services, 'ledger', async () => {
      const result = await reconcile(database, [...PAYMENT_CHECKS, ...CARD_CHECKS, ...COIN_CHECKS])
      if (!result.ok) log.error({ checks: result.checks.filter(({ ok }) => !ok) }, 'the books do not add up')
      return result
    })
    opened.set(services, check)
  }
  return check
}

/** The latest one, as the console shows it. */
export async function latestReconciliation(services: Services) {
  const { ended, running } = await reconciliationsOf(services).latest()
  if (!ended) return { state: 'unknown', running, accounts: 0, transfers: 0, checks: [] } as const
  const { problem, result, startedAt, startedBy, tookMs } = ended
  return {
    state: result ? (result.ok ? 'balanced' : 'differences') : 'failed',
    running,
    startedOn: rfc3339(startedAt, services.config.BUSINESS_TIME_ZONE),
    tookMs,
    startedBy,
    problem,
    accounts: result?.accounts ?? 0,
    transfers: result?.transfers ?? 0,
    checks: result?.checks ?? [],
  }
}
