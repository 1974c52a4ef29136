import { formatRupees } from '@svc/kernel/money'
import { statement } from '@svc/platform/db/statement'
import type { ClosingCheck } from '../ledger/closing-check.ts'
import { failuresOf, proveFunds } from './proof.ts'

const BEHIND = statement<{ count: bigint }>(
  'closing_statements_missing',
  `select count(*) from bank_accounts b
   where b.opened_on <= $1::date and not exists (
     select from bank_statements s where s.bank_account_id = b.bank_account_id and s.through >= $1::date)`,
)

/** What of our accounts at banks has to be in order before a period is closed; nothing where there is no account. */
export const STATEMENT_CLOSING_CHECKS: readonly ClosingCheck[] = [
  {
    item: 'statements',
    async problem(tx, { through }) {
      const count = Number((await tx.query(BEHIND, [through]))[0]!.count)
      return count === 0
        ? null
        : {
            count,
            detail: `${count} ${count === 1 ? 'bank account has' : 'bank accounts have'} no statement of the last day`,
          }
    },
  },
  {
    item: 'proof',
    async problem(tx, { through }) {
      const { unexplainedPaise, shortfallPaise } = failuresOf(await proveFunds(tx, through, through))
      const found = [
        ...(unexplainedPaise === 0n ? [] : [`${formatRupees(unexplainedPaise)} is unexplained`]),
        ...(shortfallPaise === 0n
          ? []
          : [`escrow has ${formatRupees(shortfallPaise)} less than is owed out of it`]),
      ]
      return found.length === 0 ? null : { count: found.length, detail: found.join(', ') }
    },
  },
]
