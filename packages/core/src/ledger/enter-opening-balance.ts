import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { lockAccounts } from './accounts.ts'
import { type Journal, journalOf, saveJournals } from './journals.ts'
import { moneyCommand } from './money-command.ts'
import {
  OPENED_KINDS,
  type Opened,
  type OpeningBalance,
  openingAccounts,
  openingBalances,
} from './opening-balance.ts'
import { implausibleDay } from './plausible-day.ts'
import { StoredPaise, storedArgs } from './stored-args.ts'

export interface EnterOpeningBalance extends Opened {
  readonly amountPaise: Paise
  /** The day of the books of the system before, `YYYY-MM-DD`. */
  readonly effectiveDate: string
  /** The file and its line: they enter one opening balance, ever. */
  readonly reference: string
  readonly reason: string
}

interface Prepared extends EnterOpeningBalance, PreparedCommand {
  readonly accountId: string
  readonly transferId: string
  readonly timeZone: string
}

export interface KnownOpening extends OpeningBalance {
  readonly effectiveDate: string
}

interface State {
  /** Of the accounts that exist. */
  readonly balances: Map<string, bigint>
  readonly known: KnownOpening[]
  /** The last day that is closed. */
  readonly closedThrough: string | null
  /** Whether the tenant is closing or closed. */
  readonly isClosing: boolean
}

export interface EnteredOpening {
  readonly entered: KnownOpening
  /** Absent when it was entered before. */
  readonly journal: Journal | undefined
  readonly command: Prepared
}

const KNOWN = statement<KnownOpening>(
  'opening_balances_known',
  `select ${openingBalances.columns}, j.effective_date::text as "effectiveDate"
   from unnest($1::text[], $2::text[], $3::text[]) as w (tenant_id, account_id, reference)
     join opening_balances o on o.tenant_id = w.tenant_id and o.account_id = w.account_id
       and (o.reversed_by is null or o.reference = w.reference)
     join journals j on j.tenant_id = o.tenant_id and j.journal_id = o.journal_id`,
)
const CLOSING = statement<{ tenantId: string }>(
  'opening_balances_closing',
  'select tenant_id as "tenantId" from tenants where tenant_id = any ($1) and closing_at is not null',
)
const CLOSED = statement<{ through: string | null }>(
  'opening_balances_closed_through',
  'select max(through)::text as through from book_closings',
)

/** Which of what is known is the same line of the same file, also reversed, or the account's opening balance. */
export function openingBefore(
  known: readonly KnownOpening[],
  { accountId, reference }: { readonly accountId: string; readonly reference: string },
): KnownOpening | undefined {
  const ofAccount = known.filter((each) => each.accountId === accountId)
  return (
    ofAccount.find((each) => each.reference === reference) ??
    ofAccount.find(({ reversedBy }) => reversedBy === null)
  )
}

/** Why another opening balance of an account is refused: the first one, by name. */
export const firstOpening = ({ accountId, amountPaise, effectiveDate, journalId, reference }: KnownOpening) =>
  `${accountId} has the opening balance ${formatRupees(amountPaise)} of ${effectiveDate}: journal ${journalId}, entered as ${reference}`

export const isSameOpening = (
  one: KnownOpening,
  { amountPaise, effectiveDate }: { readonly amountPaise: bigint; readonly effectiveDate: string },
): boolean => one.amountPaise === amountPaise && one.effectiveDate === effectiveDate

/** What is wrong with an effective date; `undefined` when it is one that an opening balance may have. */
export function effectiveDateProblem(
  effectiveDate: string,
  today: string,
  closedThrough: string | null,
): string | undefined {
  const implausible = implausibleDay(effectiveDate, today, 0)
  if (implausible !== undefined) return implausible
  if (closedThrough !== null && effectiveDate <= closedThrough)
    return `the books are closed through ${closedThrough}`
  return undefined
}

export const openingsOf = (
  tx: Pick<BatchTx, 'query'>,
  places: readonly { tenantId: string; accountId: string; reference: string }[],
): Promise<KnownOpening[]> =>
  tx.query(
    KNOWN,
    columns(
      places,
      ({ tenantId }) => tenantId,
      ({ accountId }) => accountId,
      ({ reference }) => reference,
    ),
  )

export const closedThrough = async (tx: Pick<BatchTx, 'query'>): Promise<string | null> =>
  (await tx.query(CLOSED, []))[0]?.through ?? null

/** Enters what was owed before, once for each ledger account (decision R14). A repeat enters nothing. */
export const enterOpeningBalance = moneyCommand({
  name: 'enterOpeningBalance',

  approval: {
    kinds: ['opening_balance'],
    args: storedArgs(
      Type.Object({
        tenantId: Type.String(),
        kind: Type.Enum([...OPENED_KINDS]),
        ownerId: Type.String(),
        amountPaise: StoredPaise,
        effectiveDate: Type.String(),
        reference: Type.String(),
        reason: Type.String(),
      }),
    ),
    moves: ({ journal, command: { amountPaise, effectiveDate, kind, ownerId, reason, reference } }) =>
      journal && {
        kind: 'opening_balance',
        amountPaise,
        reference,
        facts: { account: kind, ownerId, effectiveDate },
        reason,
        journalId: journal.journalId,
      },
    failures: [
      'ledger_account_not_found',
      'opening_balance_entered',
      'tenant_closing',
      'effective_date_not_open',
    ],
  },

  prepare:
    ({ config, newId }) =>
    (args: EnterOpeningBalance): Prepared => ({
      ...args,
      accountId: openingAccounts(args)[0].accountId,
      transferId: newId('trf'),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  async lock(tx, commands): Promise<ByTenant<State>> {
    // In this order: a transaction that holds the accounts sees what others have entered.
    const [balances, known, through, closing] = await Promise.all([
      lockAccounts(tx, commands.flatMap(openingAccounts)),
      openingsOf(tx, commands),
      closedThrough(tx),
      tx.query(CLOSING, [commands.map(({ tenantId }) => tenantId)]),
    ])
    const closingIds = new Set(closing.map(({ tenantId }) => tenantId))
    return new ByTenant((tenantId) => ({
      balances: balances.of(tenantId),
      known: known.filter((each) => each.tenantId === tenantId),
      closedThrough: through,
      isClosing: closingIds.has(tenantId),
    }))
  },

  decide,

  apply({ known }, { entered, journal }) {
    if (journal) known.push(entered)
  },

  save(tx, decisions) {
    const made = decisions.flatMap(({ journal, ...rest }) => (journal ? [{ journal, ...rest }] : []))
    if (made.length === 0) return
    saveJournals(
      tx,
      made[0]!.command.timeZone,
      made.map(({ journal }) => journal),
    )
    openingBalances.insert(
      tx,
      made.map(({ entered }) => entered),
    )
  },
})

function decide(state: State, command: Prepared, now: Date): EnteredOpening {
  const { tenantId, kind, ownerId, amountPaise, effectiveDate, reference, reason, transferId } = command
  const [credited, debited] = openingAccounts(command)
  for (const { accountId } of [credited, debited])
    if (!state.balances.has(accountId)) fail('ledger_account_not_found')
  const before = openingBefore(state.known, command)
  if (before && isSameOpening(before, command)) return { entered: before, journal: undefined, command }
  if (before) fail('opening_balance_entered', { description: firstOpening(before) })
  if (state.isClosing) fail('tenant_closing')
  const problem = effectiveDateProblem(effectiveDate, calendarDay(now, command.timeZone), state.closedThrough)
  if (problem) fail('effective_date_not_open', { description: `The effective date is refused: ${problem}` })
  const journalId = `jrn_${transferId.slice(4)}`
  const transfer = {
    transferId,
    tenantId,
    kind: 'opening_balance' as const,
    debitAccountId: debited.accountId,
    creditAccountId: credited.accountId,
    amountPaise,
    // The journal is what a payout names as its line.
    objectId: kind === 'payable' ? journalId : ownerId,
    createdAt: now,
  }
  const journal: Journal = { ...journalOf(transfer, reference), effectiveDate, reason }
  const entered: KnownOpening = {
    tenantId,
    journalId,
    accountId: credited.accountId,
    amountPaise,
    reference,
    payoutId: null,
    reversedBy: null,
    createdAt: now,
    effectiveDate,
  }
  return { entered, journal, command }
}
