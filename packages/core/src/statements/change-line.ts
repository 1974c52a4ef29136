import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { RowOf } from '@svc/platform/db/table'
import { journalOf, saveJournals } from '../ledger/journals.ts'
import { matchAlone } from '../ledger/match-alone.ts'
import { ledgerTransfers, type Transfer } from '../ledger/transfers.ts'
import {
  confirmBatches,
  lockAccounts,
  type MatchTools,
  recordMatches,
  unconfirmBatch,
} from './match-lines.ts'
import { findMovement } from './movements.ts'
import { type StatementLine, statementLines } from './statement-line.ts'

const LOCK = statement<StatementLine>(
  'statement_line_lock',
  `select ${statementLines.columns} from statement_lines l where l.tenant_id = 'house' and l.line_id = $1 for no key update`,
)
const LEGS = statement<RowOf<typeof ledgerTransfers>>(
  'statement_line_legs',
  `select ${ledgerTransfers.columns} from ledger_transfers t where t.tenant_id = $1 and t.journal_id = $2 order by t.leg`,
)
const UNMATCH = statement(
  'statement_line_unmatch',
  `update statement_lines set status = 'UNMATCHED', document_id = null, journal_id = null, journal_tenant = null
   where tenant_id = 'house' and line_id = $1`,
)
const ASSIGN = statement(
  'statement_line_assign',
  `update statement_lines set owner = $2 where tenant_id = 'house' and line_id = $1`,
)

interface Change {
  readonly lineId: string
  /** Whom the audit names. */
  readonly by: string
  readonly reason: string
}

async function lockLine(tx: Tx, lineId: string): Promise<StatementLine> {
  const [line] = await tx.query(LOCK, [lineId])
  return line ?? fail('statement_line_not_found')
}

/** Matches a line with the movement that a person names, whatever its reference; another amount makes it differ. */
export async function matchLine(
  tx: Tx,
  { lineId, by, reason, documentId }: Change & { readonly documentId: string },
  tools: MatchTools,
): Promise<StatementLine> {
  await matchAlone(tx)
  const line = await lockLine(tx, lineId)
  if (line.documentId === documentId) return line
  if (line.status !== 'UNMATCHED') fail('statement_line_explained')
  const movement = await findMovement(tx, documentId, line.purpose)
  if (!movement) return fail('movement_not_found')
  if (!movement.isFree) fail('movement_has_line')
  const status = movement.amountPaise === line.amountPaise ? 'MATCHED' : 'DIFFERS'
  await recordMatches(tx, [{ line, movement, status }], tools)
  confirmBatches(tx)
  const details = { documentId: movement.documentId, status, reason }
  recordAudit(tx, [{ actor: by, action: 'statement_line.matched', target: lineId, details }])
  return { ...line, status, documentId: movement.documentId }
}

/** Takes a match back, with what it had posted. */
export async function unmatchLine(
  tx: Tx,
  { lineId, by, reason }: Change,
  tools: MatchTools,
): Promise<StatementLine> {
  await matchAlone(tx)
  const line = await lockLine(tx, lineId)
  if (line.status === 'UNMATCHED') fail('statement_line_not_matched')
  if (line.status === 'RESOLVED')
    fail('statement_line_explained', {
      description: `What it was resolved to be is taken back with its journal`,
      command: `svc admin journal reverse ${line.journalId}`,
    })
  await reversePosted(tx, line, tools)
  tx.write(UNMATCH, [lineId])
  unconfirmBatch(tx, line.documentId!)
  const details = { documentId: line.documentId, reason }
  recordAudit(tx, [{ actor: by, action: 'statement_line.unmatched', target: lineId, details }])
  return { ...line, status: 'UNMATCHED', documentId: null, journalId: null, journalTenant: null }
}

/** On the line's day too, so that the books of that day are as if it had not been posted. */
async function reversePosted(tx: Tx, line: StatementLine, tools: MatchTools): Promise<void> {
  const { journalId, journalTenant, bookedOn } = line
  if (journalId === null) return
  const legs = await tx.query(LEGS, [journalTenant, journalId])
  await lockAccounts(
    tx,
    legs.flatMap(({ debitAccountId, creditAccountId }) => [debitAccountId, creditAccountId]),
  )
  const at = new Date(tools.nowMs())
  const journals = legs.map(({ tenantId, kind, debitAccountId, creditAccountId, amount, objectId }) => {
    const transfer: Transfer = {
      transferId: newId('trf', at.getTime(), tools.random),
      tenantId,
      kind,
      debitAccountId: creditAccountId,
      creditAccountId: debitAccountId,
      amountPaise: paise(amount),
      objectId,
      createdAt: at,
    }
    return { ...journalOf(transfer), effectiveDate: bookedOn, reverses: journalId }
  })
  saveJournals(tx, tools.timeZone, journals)
}

/** Names who is to find out what a line is. */
export async function assignLine(
  tx: Tx,
  { lineId, by, owner }: Omit<Change, 'reason'> & { readonly owner: string },
): Promise<StatementLine> {
  const line = await lockLine(tx, lineId)
  tx.write(ASSIGN, [lineId, owner])
  recordAudit(tx, [{ actor: by, action: 'statement_line.assigned', target: lineId, details: { owner } }])
  return { ...line, owner }
}

/** Today, from which ages are counted. */
export const businessToday = (nowMs: number, timeZone: string): string =>
  calendarDay(new Date(nowMs), timeZone)
