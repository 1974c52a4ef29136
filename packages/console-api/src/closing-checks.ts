import type { Config } from '@svc/contract/config'
import { type Closing, type ClosingRequested, closePeriod, listClosings } from '@svc/core/ledger/closing'
import type { ClosingCheck, ClosingFinding } from '@svc/core/ledger/closing-check'
import { openItems, PAYMENT_CLOSING_CHECKS } from '@svc/core/payments/closing-checks'
import { businessDay } from '@svc/core/payments/payouts/payout-statement'
import { STATEMENT_CLOSING_CHECKS } from '@svc/core/statements/closing-checks'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Database } from '@svc/platform/db/database'
import { INVARIANTS, nameOf } from './invariants.ts'

const RECONCILED: ClosingCheck = {
  item: 'reconciled',
  async problem(tx) {
    const broken: string[] = []
    for (const invariant of INVARIANTS)
      if ((await tx.query(invariant.differences)).length > 0) broken.push(nameOf(invariant))
    return broken.length === 0 ? null : { count: broken.length, detail: `broken: ${broken.join(', ')}` }
  },
}

/** What a period is checked for before it is closed, area by area. */
const CLOSING_CHECKS: readonly ClosingCheck[] = [
  ...PAYMENT_CLOSING_CHECKS,
  ...STATEMENT_CLOSING_CHECKS,
  RECONCILED,
]
/** The names of the checks, in their order. */
export const CLOSING_ITEMS = CLOSING_CHECKS.map(({ item }) => item)

/** Checks a period on one snapshot. */
export function checkClosing(
  { config, database }: { readonly config: Config; readonly database: Database },
  through: string,
): Promise<ClosingFinding[]> {
  const { to } = businessDay(through, config.BUSINESS_DAY_CUTOFF, config.BUSINESS_TIME_ZONE)
  return database.report(
    async (tx) => {
      const findings: ClosingFinding[] = []
      for (const { item, problem } of CLOSING_CHECKS) {
        const found = await problem(tx, { through, to })
        findings.push({
          item,
          ok: found === null,
          count: found?.count ?? 0,
          detail: found?.detail ?? 'in order',
        })
      }
      return findings
    },
    'repeatable read',
    'long',
  )
}

interface CloseBooks {
  /** Last day of the period, `YYYY-MM-DD`. */
  readonly through: string
  readonly by: string
  readonly requestId?: string
  /** Why it is closed although something is not in order. */
  readonly despite?: string | undefined
}

interface ClosingTools {
  readonly config: Config
  readonly database: Database
  readonly keyring: Keyring
}

/** Checks a period and closes it, in the name of an operator. A repeat returns the closing. */
export async function closeBooks(
  { config, database, keyring }: ClosingTools,
  { requestId, ...wanted }: CloseBooks,
): Promise<Closing | ClosingRequested> {
  const { through, by } = wanted
  const isRepeat = (await database.report(listClosings)).some((each) => each.through === through)
  const found = isRepeat ? [] : await checkClosing({ config, database }, through)
  const open = found.filter(({ ok }) => !ok).map(({ item }) => item)
  const requested = { ...wanted, timeZone: config.BUSINESS_TIME_ZONE, open, openItems }
  return database.operate(
    (tx) => closePeriod(tx, keyring, requested),
    'read committed',
    { actor: by, ...(requestId !== undefined && { requestId }) },
    'long',
  )
}
