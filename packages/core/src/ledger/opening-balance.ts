import type { Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { generated, instant, nullable, paise, type RowOf, table, text } from '@svc/platform/db/table'
import { type Account, account } from './accounts.ts'
import type { AccountKind } from './chart-of-accounts.ts'
import type { Journal } from './journals.ts'

/** What an installation owed when it took over from another system, one for each ledger account (decision R14). */
export const openingBalances = table('opening_balances', 'o', ['tenantId', 'journalId'], {
  tenantId: text,
  journalId: text,
  /** The ledger account that it credits. */
  accountId: text,
  amountPaise: paise,
  /** The file and its line. */
  reference: text,
  /** The payout that has it. */
  payoutId: generated(nullable(text)),
  /** The journal that took it back. */
  reversedBy: generated(nullable(text)),
  createdAt: instant,
})
export type OpeningBalance = RowOf<typeof openingBalances>

/** Accounts that may have one, each with the account that is debited. */
export const OPENED_WITH = {
  payable: 'bank',
  card_funding: 'funding_clearing',
} as const satisfies Partial<Record<AccountKind, AccountKind>>
export type OpenedKind = keyof typeof OPENED_WITH
export const OPENED_KINDS = Object.keys(OPENED_WITH) as readonly OpenedKind[]

/** An account to be opened: of a merchant, or a card account of a partner. */
export interface Opened {
  readonly tenantId: string
  readonly kind: OpenedKind
  /** The merchant or the card account. */
  readonly ownerId: string
}

/** The account that is credited, and the one that is debited. */
export const openingAccounts = ({ tenantId, kind, ownerId }: Opened): readonly [Account, Account] => [
  account(kind, tenantId, ownerId),
  account(OPENED_WITH[kind], tenantId),
]

const PAY_OUT = statement(
  'opening_balances_pay_out',
  `update opening_balances o set payout_id = w.payout_id
   from unnest($1::text[], $2::text[], $3::text[]) as w (tenant_id, journal_id, payout_id)
   where o.tenant_id = w.tenant_id and o.journal_id = w.journal_id`,
)
const RELEASE = statement(
  'opening_balances_release',
  `update opening_balances o set payout_id = null from unnest($1::text[], $2::text[]) as w (tenant_id, payout_id)
   where o.tenant_id = w.tenant_id and o.payout_id = w.payout_id`,
)
const REVERSE = statement(
  'opening_balances_reverse',
  `update opening_balances o set reversed_by = w.reversal
   from unnest($1::text[], $2::text[], $3::text[]) as w (tenant_id, journal_id, reversal)
   where o.tenant_id = w.tenant_id and o.journal_id = w.journal_id`,
)

interface PaidOut {
  readonly merchantId: string
  readonly payoutId: string
}

/** Records which payout has which opening balance, whose journal is the object of the payout's line. */
export function payOutOpeningBalances(
  tx: Writes,
  lines: readonly (PaidOut & { readonly objectId: string })[],
): void {
  if (lines.length === 0) return
  tx.write(
    PAY_OUT,
    columns(
      lines,
      ({ merchantId }) => merchantId,
      ({ objectId }) => objectId,
      ({ payoutId }) => payoutId,
    ),
  )
}

/** Their payouts failed or were cancelled: they are due again. */
export function releaseOpeningBalances(tx: Writes, released: readonly PaidOut[]): void {
  if (released.length === 0) return
  tx.write(
    RELEASE,
    columns(
      released,
      ({ merchantId }) => merchantId,
      ({ payoutId }) => payoutId,
    ),
  )
}

/** Records which journals took opening balances back; reversals of other journals change nothing. */
export function reverseOpeningBalances(tx: Writes, reversals: readonly Journal[]): void {
  if (reversals.length === 0) return
  tx.write(
    REVERSE,
    columns(
      reversals,
      ({ tenantId }) => tenantId,
      ({ reverses }) => reverses,
      ({ journalId }) => journalId,
    ),
  )
}
