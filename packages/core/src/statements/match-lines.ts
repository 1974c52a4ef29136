import { newId } from '@svc/contract/id-kinds'
import type { RandomBytes } from '@svc/kernel/ids'
import { type Paise, paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { accountId } from '../ledger/accounts.ts'
import type { AccountKind } from '../ledger/chart-of-accounts.ts'
import { type Journal, journalOf, saveJournals } from '../ledger/journals.ts'
import { matchAlone } from '../ledger/match-alone.ts'
import type { Transfer } from '../ledger/transfers.ts'
import { findMovements, type Movement, namesOf } from './movements.ts'
import { type StatementLine, statementLines } from './statement-line.ts'

/** Lines that are matched in one transaction. */
export const LINES_A_CHUNK = 500

// One that a person resolves at this moment is theirs.
const OPEN = statement<StatementLine>(
  'statement_lines_open',
  `select ${statementLines.columns} from statement_lines l
   where l.status in ('UNMATCHED', 'DIFFERS') and l.line_id > $1 order by l.line_id limit $2
   for no key update skip locked`,
)
// In the order of all other locks of ledger accounts.
const LOCK_ACCOUNTS = statement(
  'statement_accounts_lock',
  'select from ledger_accounts where account_id = any ($1) order by account_id for no key update',
)
// The line that differs from a movement is not it, once another one is.
const RELEASE = statement(
  'statement_lines_release',
  `update statement_lines l set status = 'UNMATCHED', document_id = null
   from unnest($1::text[], $2::text[], $3::text[]) as w (purpose, document_id, line_id)
   where l.purpose = w.purpose and l.document_id = w.document_id and l.line_id <> w.line_id and l.status = 'DIFFERS'`,
)
const saveMatches = statementLines.updates(['status', 'documentId', 'journalId', 'journalTenant'], 'match')
const CONFIRM = statement('settlement_batches_confirm', 'select confirm_batches()')
const UNCONFIRM = statement('settlement_batches_unconfirm', 'select unconfirm_batch($1)')

export interface MatchTools {
  readonly random: RandomBytes
  readonly nowMs: () => number
  readonly timeZone: string
}

/** What a line is found to be. */
export interface Match {
  readonly line: StatementLine
  readonly movement: Movement
  readonly status: 'MATCHED' | 'DIFFERS'
}

/** Marks batches by what statements say of them. */
export const confirmBatches = (tx: Tx): void => tx.write(CONFIRM)
export const unconfirmBatch = (tx: Tx, batchId: string): void => tx.write(UNCONFIRM, [batchId])

/** What lines are, by their references and amounts: the movement of both, else one of the reference with another amount. */
export async function proposeMatches(
  tx: Pick<Tx, 'query'>,
  lines: readonly StatementLine[],
  taken: Set<string> = new Set(),
): Promise<Match[]> {
  const named = lines.map((line) => ({ line, names: namesOf(line) }))
  const names = named.flatMap((each) => each.names)
  if (names.length === 0) return []
  const again = lines.filter(({ documentId }) => documentId !== null).map(({ lineId }) => lineId)
  const found = await findMovements(tx, names, again)
  // What fits whole comes first: another line may differ from the same movement.
  const exact = named.flatMap(({ line, names }) => matchOf(line, candidates(names, line, found), taken, true))
  for (const { purpose, documentId } of lines) if (documentId !== null) taken.add(`${purpose} ${documentId}`)
  const done = new Set(exact.map(({ line }) => line.lineId))
  const rest = named.filter(({ line }) => !done.has(line.lineId) && line.status === 'UNMATCHED')
  const differing = rest.flatMap(({ line, names }) =>
    matchOf(line, candidates(names, line, found), taken, false),
  )
  return [...exact, ...differing]
}

const candidates = (
  names: readonly string[],
  { purpose }: StatementLine,
  found: ReadonlyMap<string, readonly Movement[]>,
): Movement[] =>
  names.flatMap((name) => found.get(name) ?? []).filter((movement) => movement.purpose === purpose)

function matchOf(
  line: StatementLine,
  movements: readonly Movement[],
  taken: Set<string>,
  isExact: boolean,
): Match[] {
  const key = ({ purpose, documentId }: Movement) => `${purpose} ${documentId}`
  const movement = movements.find(
    (each) =>
      !taken.has(key(each)) &&
      (isExact ? each.amountPaise === line.amountPaise : each.amountPaise > 0n === line.amountPaise > 0n),
  )
  if (!movement) return []
  taken.add(key(movement))
  return [{ line, movement, status: movement.amountPaise === line.amountPaise ? 'MATCHED' : 'DIFFERS' }]
}

/** Records what lines are, and posts what only a statement shows: fundings, withdrawals and single refunds. */
export async function recordMatches(
  tx: Tx,
  matches: readonly Match[],
  { random, nowMs, timeZone }: MatchTools,
): Promise<void> {
  if (matches.length === 0) return
  const posted = matches.flatMap((match) => {
    const legs = settledLegs(match)
    return legs ? [{ match, legs }] : []
  })
  await lockAccounts(
    tx,
    posted.flatMap(({ legs }) => legs),
  )
  const at = new Date(nowMs())
  const journals = new Map(
    posted.map(({ match, legs: [debit, credit] }) => {
      const { line, movement } = match
      const transfer: Transfer = {
        transferId: newId('trf', at.getTime(), random),
        tenantId: movement.tenantId,
        kind: movement.settles === 'funding' ? 'funding_settled' : 'bank_settlement',
        debitAccountId: debit,
        creditAccountId: credit,
        amountPaise: magnitude(line.amountPaise),
        objectId: movement.documentId,
        createdAt: at,
      }
      const journal: Journal = { ...journalOf(transfer), effectiveDate: line.bookedOn }
      return [line.lineId, journal]
    }),
  )
  saveJournals(tx, timeZone, [...journals.values()])
  tx.write(
    RELEASE,
    columns(
      matches,
      ({ movement }) => movement.purpose,
      ({ movement }) => movement.documentId,
      ({ line }) => line.lineId,
    ),
  )
  saveMatches(
    tx,
    matches.map(({ line, movement, status }) => ({
      tenantId: line.tenantId,
      lineId: line.lineId,
      status,
      documentId: movement.documentId,
      journalId: journals.get(line.lineId)?.journalId ?? null,
      journalTenant: journals.get(line.lineId)?.tenantId ?? null,
    })),
  )
}

export const lockAccounts = (tx: Pick<Tx, 'query'>, ids: readonly string[]): Promise<unknown> =>
  ids.length === 0 ? Promise.resolve() : tx.query(LOCK_ACCOUNTS, [[...new Set(ids)]])

export const magnitude = (amount: Paise): Paise => (amount < 0n ? paise(0n - amount) : amount)

/** What comes in debits the account at the bank; `undefined` for what the books have already, or have in another amount. */
function settledLegs({
  line,
  movement,
  status,
}: Match): readonly [debit: string, credit: string] | undefined {
  if (movement.settles === null || status === 'DIFFERS') return undefined
  const kinds: readonly [AccountKind, AccountKind] =
    movement.settles === 'funding' ? ['ppi_bank', 'funding_clearing'] : ['bank', 'upi_clearing']
  const [bank, clearing] = kinds.map((kind) => accountId(kind, movement.tenantId)) as [string, string]
  return line.amountPaise > 0n ? [bank, clearing] : [clearing, bank]
}

/** Matches a chunk of open lines behind this one; returns the last of them, `undefined` behind all. */
export async function matchChunk(tx: Tx, after: string, tools: MatchTools): Promise<string | undefined> {
  await matchAlone(tx)
  const lines = await tx.query(OPEN, [after, LINES_A_CHUNK])
  await recordMatches(tx, await proposeMatches(tx, lines), tools)
  confirmBatches(tx)
  return lines.length < LINES_A_CHUNK ? undefined : lines.at(-1)!.lineId
}
