import { CARD_CHECKS } from '@svc/core/cards/card/reconcile-cards'
import { COIN_CHECKS } from '@svc/core/coins/reconcile-coins'
import { type Check, LEDGER_CHECKS, type Subject } from '@svc/core/ledger/reconcile'
import { PAYMENT_CHECKS } from '@svc/core/payments/reconcile-payments'
import { STATEMENT_CHECKS } from '@svc/core/statements/reconcile-statements'
import { CREDENTIAL_CHECKS } from '@svc/core/tenants/reconcile-credentials'
import { EVENT_CHECKS } from '@svc/core/webhooks/reconcile-events'
import type { Database } from '@svc/platform/db/database'

/** Everything that must be true of the database of a running service, area by area. */
export const INVARIANTS: readonly Check[] = [
  ...LEDGER_CHECKS,
  ...PAYMENT_CHECKS,
  ...STATEMENT_CHECKS,
  ...CARD_CHECKS,
  ...COIN_CHECKS,
  ...EVENT_CHECKS,
  ...CREDENTIAL_CHECKS,
]

const SHOWN_MAX = 10

export interface InvariantReport {
  /** Short and stable, such as `card_balances`. */
  readonly name: string
  readonly promise: string
  /** How many of what were looked at, where it is known. */
  readonly checked: number | undefined
  readonly of: string
  /** The first ten rows that break it. */
  readonly violations: readonly { readonly subject: string; readonly detail: string }[]
}

export const nameOf = ({ differences }: Check): string => differences.name.replace('reconcile_', '')

/**
 * Looks at everything, all tenants, on one snapshot, while the service runs: each invariant is one statement in the
 * database that returns only what breaks it, so that memory does not grow with what is looked at.
 */
export function checkInvariants(
  database: Database,
  invariants: readonly Check[] = INVARIANTS,
): Promise<InvariantReport[]> {
  return database.report(
    async (tx) => {
      const counted = new Map<Subject, number>()
      const reports: InvariantReport[] = []
      for (const invariant of invariants) {
        const { of } = invariant
        if (of && !counted.has(of)) counted.set(of, Number((await tx.query(of.count))[0]!.count))
        const found = await tx.query(invariant.differences)
        reports.push({
          name: nameOf(invariant),
          promise: invariant.check,
          checked: of && counted.get(of),
          of: of?.name ?? '',
          violations: found.slice(0, SHOWN_MAX),
        })
      }
      return reports
    },
    'repeatable read',
    'long',
  )
}
