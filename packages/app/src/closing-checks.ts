import type { Config } from '@svc/contract/config'
import type { ClosingCheck, ClosingFinding } from '@svc/core/ledger/closing-check'
import { PAYMENT_CLOSING_CHECKS } from '@svc/core/payments/closing-checks'
import { businessDay } from '@svc/core/payments/payout-statement'
import type { Database } from '@svc/platform/db/database'
import { INVARIANTS, nameOf } from './invariants.ts'

const RECONCILED: ClosingCheck = {
  item: 'reconciled',
  async problem(tx) {
    const broken: string[] = []
    for (const invariant of INVARIANTS)
      if ((await tx.query(invariant.differences)).length > 0) broken.push(nameOf(invariant))
    return broken.length === 0 ? null : `broken: ${broken.join(', ')}`
  },
}

/** What a period is checked for before it is closed, area by area. */
const CLOSING_CHECKS: readonly ClosingCheck[] = [...PAYMENT_CLOSING_CHECKS, RECONCILED]

/** Checks a period on one snapshot. */
export function checkClosing(
  { config, database }: { readonly config: Config; readonly database: Database },
  through: string,
): Promise<ClosingFinding[]> {
  const { to } = businessDay(through, config.BUSINESS_DAY_CUTOFF, config.BUSINESS_TIME_ZONE)
  return database.report(
    async (tx) => {
      const found: ClosingFinding[] = []
      for (const { item, problem } of CLOSING_CHECKS) {
        const detail = await problem(tx, { through, to })
        found.push({ item, ok: detail === null, detail: detail ?? 'in order' })
      }
      return found
    },
    'repeatable read',
    'long',
  )
}
