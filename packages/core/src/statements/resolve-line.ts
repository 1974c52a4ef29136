import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { type Account, account, lockAccounts } from '../ledger/accounts.ts'
import type { AccountKind } from '../ledger/chart-of-accounts.ts'
import { type Journal, journalOf, saveJournals } from '../ledger/journals.ts'
import { moneyCommand } from '../ledger/money-command.ts'
import { storedArgs } from '../ledger/stored-args.ts'
import type { Transfer } from '../ledger/transfers.ts'
import { PLATFORM_TENANT } from '../tenants/tenant.ts'
import { PURPOSES, type Purpose } from './bank-account.ts'
import { magnitude } from './match-lines.ts'
import { RESOLUTIONS, type Resolution, type StatementLine, statementLines } from './statement-line.ts'

export interface ResolveLine {
  readonly lineId: string
  readonly as: Resolution
  readonly reason: string
}

interface Prepared extends ResolveLine, PreparedCommand {
  readonly transferId: string
  readonly timeZone: string
}

interface State {
  readonly lines: Map<string, StatementLine>
  /** How often each line was resolved and taken back. */
  readonly before: ReadonlyMap<string, number>
  readonly balances: Map<string, bigint>
}

export interface Resolved {
  readonly line: StatementLine
  /** Absent where it was resolved like this before. */
  readonly journal: Journal | undefined
  readonly command: Prepared
}

/** The account of the platform against which each is posted; of some purposes none. */
const AGAINST: Readonly<Record<Resolution, Readonly<Partial<Record<Purpose, AccountKind>>>>> = {
  charge: { merchant_escrow: 'rail_charges', ppi_escrow: 'network_charges', own_funds: 'rail_charges' },
  charge_gst: { merchant_escrow: 'gst_input', ppi_escrow: 'gst_input', own_funds: 'gst_input' },
  interest: { merchant_escrow: 'other_income', ppi_escrow: 'other_income', own_funds: 'other_income' },
  suspense: { merchant_escrow: 'suspense' },
  exception: {
    merchant_escrow: 'bank_exceptions',
    ppi_escrow: 'bank_exceptions',
    own_funds: 'bank_exceptions',
  },
  own_funds: { merchant_escrow: 'own_funds', ppi_escrow: 'own_funds' },
}

const KINDS = [
  ...new Set([...Object.values(PURPOSES), ...Object.values(AGAINST).flatMap((of) => Object.values(of))]),
] as readonly AccountKind[]
const ACCOUNTS: readonly Account[] = KINDS.map((kind) => account(kind, PLATFORM_TENANT))

const LOCK = statementLines.lock('resolve')
const BEFORE = statement<{ lineId: string; count: bigint }>(
  'statement_lines_resolved_before',
  `select t.object_id as "lineId", count(*) from ledger_transfers t
   where t.tenant_id = '${PLATFORM_TENANT}' and t.kind = 'statement_resolved' and t.object_id = any ($1) group by t.object_id`,
)
const SAVE = statement(
  'statement_lines_resolved',
  `update statement_lines l set status = 'RESOLVED', document_id = l.line_id, resolved_as = w.resolved_as,
     journal_id = w.journal_id, journal_tenant = l.tenant_id
   from unnest($1::text[], $2::text[], $3::text[]) as w (line_id, resolved_as, journal_id)
   where l.tenant_id = '${PLATFORM_TENANT}' and l.line_id = w.line_id`,
)

/** Posts what a person finds a line to be that fits nothing, on the day of the line. A repeat posts nothing. */
export const resolveLine = moneyCommand({
  name: 'resolveLine',

  approval: {
    kinds: ['statement_resolved'],
    args: storedArgs(
      Type.Object({ lineId: Type.String(), as: Type.Enum([...RESOLUTIONS]), reason: Type.String() }),
    ),
    moves: ({ journal, line, command: { as, lineId, reason } }) =>
      journal && {
        kind: 'statement_resolved',
        amountPaise: magnitude(line.amountPaise),
        reference: lineId,
        facts: { lineId, as },
        reason,
        journalId: journal.journalId,
      },
    failures: ['statement_line_not_found', 'statement_line_explained', 'statement_resolution_unfit'],
  },

  prepare:
    ({ config, newId }) =>
    (args: ResolveLine): Prepared => ({
      ...args,
      tenantId: PLATFORM_TENANT,
      transferId: newId('trf'),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  lock,
  decide,

  apply({ lines, balances }, { journal, line }) {
    if (!journal) return
    lines.set(line.lineId, line)
    const [transfer] = journal.transfers
    for (const [id, sign] of [
      [transfer!.creditAccountId, 1n],
      [transfer!.debitAccountId, -1n],
    ] as const)
      balances.set(id, (balances.get(id) ?? 0n) + sign * magnitude(line.amountPaise))
  },

  save(tx, decisions) {
    const made = decisions.flatMap(({ journal, line }) => (journal ? [{ journal, line }] : []))
    saveJournals(
      tx,
      decisions[0]!.command.timeZone,
      made.map(({ journal }) => journal),
    )
    if (made.length > 0)
      tx.write(
        SAVE,
        columns(
          made,
          ({ line }) => line.lineId,
          ({ line }) => line.resolvedAs,
          ({ journal }) => journal.journalId,
        ),
      )
  },
})

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  const [lines, balances, resolved] = await Promise.all([
    statementLines.lockRows(tx, LOCK, commands),
    lockAccounts(tx, ACCOUNTS),
    tx.query(BEFORE, [commands.map(({ lineId }) => lineId)]),
  ])
  const before = new Map(resolved.map(({ lineId, count }) => [lineId, Number(count)]))
  return new ByTenant((tenantId) => ({ lines: lines.of(tenantId), before, balances: balances.of(tenantId) }))
}

function decide({ lines, before, balances }: State, command: Prepared, now: Date): Resolved {
  const { lineId, as, reason, transferId } = command
  const line = lines.get(lineId) ?? fail('statement_line_not_found')
  if (line.status === 'RESOLVED' && line.resolvedAs === as) return { line, journal: undefined, command }
  if (line.status !== 'UNMATCHED') fail('statement_line_explained')
  const other = AGAINST[as][line.purpose] ?? fail('statement_resolution_unfit')
  const isCredit = line.amountPaise > 0n
  const [bank, against] = [PURPOSES[line.purpose], other].map((kind) => account(kind, PLATFORM_TENANT))
  const [debit, credit] = isCredit ? [bank!, against!] : [against!, bank!]
  const amountPaise = magnitude(line.amountPaise)
  // What is owed, or was earned, is not taken below nothing.
  const isBelow = debit.floor !== null && (balances.get(debit.accountId) ?? 0n) < amountPaise
  if (isBelow) fail('statement_resolution_unfit', { description: `${debit.accountId} has less than that` })
  const transfer: Transfer = {
    transferId,
    tenantId: PLATFORM_TENANT,
    kind: 'statement_resolved',
    debitAccountId: debit.accountId,
    creditAccountId: credit.accountId,
    amountPaise,
    objectId: lineId,
    createdAt: now,
  }
  const times = before.get(lineId) ?? 0
  const name = times === 0 ? lineId : `${lineId}~${times + 1}`
  const journal: Journal = { ...journalOf(transfer, name), effectiveDate: line.bookedOn, reason }
  const { journalId } = journal
  return {
    line: { ...line, status: 'RESOLVED', resolvedAs: as, documentId: lineId, journalId },
    journal,
    command,
  }
}
