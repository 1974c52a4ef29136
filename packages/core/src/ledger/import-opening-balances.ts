import { groupBy } from '@svc/kernel/group-by'
import { formatRupees, type Paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import {
  closedThrough,
  effectiveDateProblem,
  firstOpening,
  isSameOpening,
  type KnownOpening,
  openingBefore,
  openingsOf,
} from './enter-opening-balance.ts'
import { type Opened, type OpenedKind, openingAccounts } from './opening-balance.ts'

/** A line of the file, as it is read. */
export interface OpeningLine extends Opened {
  /** Where it stands in the file; the first line below the heading is 1. */
  readonly line: number
  readonly amountPaise: Paise
  readonly effectiveDate: string
}

export interface OpeningLineError {
  readonly line: number
  readonly problem: string
}

/** A line that can be entered: `due`, or it was entered before, and perhaps taken back since. */
export interface CheckedOpening extends OpeningLine {
  readonly reference: string
  readonly is: 'due' | 'repeated' | 'reversed'
}

export interface CheckedFile {
  readonly lines: readonly CheckedOpening[]
  readonly problems: readonly OpeningLineError[]
}

const ACCOUNTS = statement<{ accountId: string; tenantId: string; isClosing: boolean }>(
  'opening_balances_accounts',
  `select a.account_id as "accountId", a.tenant_id as "tenantId", t.closing_at is not null as "isClosing"
   from unnest($1::text[], $2::text[]) as w (tenant_id, account_id)
     join ledger_accounts a on a.tenant_id = w.tenant_id and a.account_id = w.account_id
     join tenants t on t.tenant_id = a.tenant_id`,
)

const NAMES: Readonly<Record<OpenedKind, (opened: Opened) => string>> = {
  payable: ({ tenantId }) => `there is no merchant ${tenantId}`,
  card_funding: ({ ownerId, tenantId }) => `the partner ${tenantId} has no card account ${ownerId}`,
}

/** Holds the lines of a file against the ledger: all that is wrong with them, before the first is entered. */
export async function checkOpeningBalances(
  tx: Tx,
  {
    fileId,
    lines,
    today,
  }: { readonly fileId: string; readonly lines: readonly OpeningLine[]; today: string },
): Promise<CheckedFile> {
  const openings = lines.map((line) => ({
    ...line,
    accountId: openingAccounts(line)[0].accountId,
    reference: `${fileId}/${line.line}`,
  }))
  const accounts = await tx.query(
    ACCOUNTS,
    columns(
      openings,
      ({ tenantId }) => tenantId,
      ({ accountId }) => accountId,
    ),
  )
  const accountOf = new Map(accounts.map((each) => [each.accountId, each]))
  const known = groupBy(await openingsOf(tx, openings), ({ accountId }) => accountId)
  const through = await closedThrough(tx)
  const firstLine = new Map<string, number>()
  const problemOf = (
    line: (typeof openings)[number],
    before: KnownOpening | undefined,
  ): string | undefined => {
    const { accountId, effectiveDate, kind, tenantId } = line
    const account = accountOf.get(accountId)
    if (account?.tenantId !== tenantId) return NAMES[kind](line)
    const twice = firstLine.get(accountId)
    if (twice !== undefined) return `${accountId} is in line ${twice} already`
    firstLine.set(accountId, line.line)
    if (before) return isSameOpening(before, line) ? undefined : firstOpening(before)
    if (account.isClosing) return `the tenant ${tenantId} is closing or closed`
    return effectiveDateProblem(effectiveDate, today, through)
  }
  const checked: CheckedOpening[] = []
  const problems: OpeningLineError[] = []
  for (const line of openings) {
    const before = openingBefore(known.get(line.accountId) ?? [], line)
    const problem = problemOf(line, before)
    if (problem !== undefined) problems.push({ line: line.line, problem })
    else
      checked.push({ ...line, is: before ? (before.reversedBy === null ? 'repeated' : 'reversed') : 'due' })
  }
  return { lines: checked, problems }
}

/** What lines add up to, by kind of account. */
export const openingTotals = (lines: readonly OpeningLine[]): Record<OpenedKind, string> => {
  const sumOf = (kind: OpenedKind) =>
    formatRupees(
      lines.reduce((sum, line) => (line.kind === kind ? sum + line.amountPaise : sum), 0n) as Paise,
    )
  return { payable: sumOf('payable'), card_funding: sumOf('card_funding') }
}
