import { readReference } from '@svc/kernel/bank-reference'
import { type Paise, readAmount, readCurrency } from '@svc/kernel/money'
import { readOutcome } from '@svc/kernel/outcome-words'
import { readDay } from '@svc/kernel/read-time'
import { type Reading, readText, unreadable } from '@svc/kernel/reading'
import {
  canonicalWord,
  KINDS_OF_RAIL,
  type LineKind,
  mayLackReference,
  moveOf,
  referenceFormOf,
  type SettlementRail,
  sideProblem,
} from '../../bank-files/file-format.ts'
import { implausibleDay } from '../../ledger/plausible-day.ts'
import type { UnreadableNotice } from '../../rails/quarantine-reason.ts'
import { readOwn, statedKind, statedReference } from '../../rails/read-notice.ts'
import { isObject, type NoticeObject, ownFields, type StatedFields } from '../../rails/stated-fields.ts'
import type { BatchHead, BatchLine } from './batch.ts'

/** Lines of one call; a larger transfer comes in several. */
export const LINES_A_CALL = 5_000

export interface SettlementMessage extends BatchHead {
  readonly lines: readonly BatchLine[]
}

interface ReadingAs {
  readonly rail: SettlementRail
  readonly zone: string
  /** `YYYY-MM-DD`. */
  readonly today: string
}

const readPaise = (value: unknown): Reading<Paise> => readAmount(value, { signed: true })
const readBatchReference = (value: unknown) => readReference(value, { max: 64, digits: 'any' })

const readPlausible =
  ({ zone, today }: ReadingAs) =>
  (value: unknown): Reading<string> => {
    const day = readDay(value, zone)
    if ('unreadable' in day) return day
    const why = implausibleDay(day.value, today, 1)
    return why === undefined ? day : unreadable(`is refused: ${why}`)
  }

const readMoved = (value: unknown): Reading<true> => {
  const read = readOutcome(value, 'settlement')
  if ('unreadable' in read) return read
  return read.value.outcome === 'success' ? { value: true } : unreadable('says that no money came')
}

const readKind =
  (rail: SettlementRail) =>
  (value: unknown): Reading<LineKind> => {
    const text = readText(value)
    if ('unreadable' in text) return text
    const known = Object.keys(KINDS_OF_RAIL[rail]) as LineKind[]
    const kind = known.find((each) => canonicalWord(each) === canonicalWord(text.value))
    return kind === undefined ? unreadable(`is none of ${known.join(', ')}`) : { value: kind }
  }

/** Reads the body of a signed transfer. Total: whatever the bytes are, it returns what they say. */
export function readSettlementNotice(
  body: Uint8Array,
  as: ReadingAs,
): { readonly transfer: SettlementMessage } | UnreadableNotice {
  const stated = readOwn(body, 'settlement')
  if (!stated) return { unreadable: 'not_json' }
  const kind = statedKind(stated)
  if (kind && kind !== 'settlement') return { unreadable: 'wrong_route' }
  const batchUtr = stated.require('batchUtr', 'reference_unreadable', readBatchReference)
  const valueDate = stated.require('valueDate', 'time_unreadable', readPlausible(as))
  const netPaise = stated.read('netAmount', 'amount_unreadable', readPaise)
  stated.read('status', 'status_unreadable', readMoved)
  stated.refuseContradicted('status_unreadable', { of: 'settlement', outcome: 'success' })
  const lines = readLines(stated, as)
  if (stated.problem || batchUtr === undefined || valueDate === undefined || lines === undefined)
    return { unreadable: 'field_unreadable', ...stated.problem, utr: batchUtr }
  const head = { rail: as.rail, batchUtr, valueDate, isDayStated: true, netPaise, isAwaited: true }
  return { transfer: { ...head, lines } }
}

function readLines(stated: StatedFields, as: ReadingAs): BatchLine[] | undefined {
  const lines = stated.at('lines')
  if (!Array.isArray(lines) || lines.length === 0 || lines.length > LINES_A_CALL || !lines.every(isObject)) {
    stated.refuse('field_unreadable', 'lines', `must be a list of 1 to ${LINES_A_CALL} objects`)
    return undefined
  }
  return lines.flatMap((line, i) => readLine(stated, line, i + 1, as) ?? [])
}

/** What one line says; `undefined`, and the problem of the message, where it cannot be read. */
function readLine(
  message: StatedFields,
  given: NoticeObject,
  line: number,
  as: ReadingAs,
): BatchLine | undefined {
  if (message.problem) return undefined
  const stated = ownFields(given, 'settlement')
  const kind = stated.require('kind', 'field_unreadable', readKind(as.rail))
  const amountPaise = stated.require('amount', 'amount_unreadable', readPaise)
  stated.read('currency', 'not_in_rupees', readCurrency)
  stated.read('status', 'status_unreadable', readMoved)
  const reference = statedReference(stated, 'reference', referenceFormOf(kind))
  const date = stated.read('date', 'time_unreadable', readPlausible(as))
  const note = stated.text('note')
  if (kind !== undefined && amountPaise !== undefined) {
    stated.refuseContradicted('status_unreadable', moveOf(kind, amountPaise))
    const problem = amountPaise === 0n ? 'is zero' : sideProblem(as.rail, kind, amountPaise)
    if (problem !== undefined) stated.refuse('amount_unreadable', 'amount', problem)
  }
  if (kind !== undefined && !mayLackReference(kind) && reference === undefined)
    stated.refuse('reference_unreadable', 'reference', 'is not stated')
  if (stated.problem) {
    const { unreadable: why, field, detail } = stated.problem
    message.refuse(why, `lines.${line - 1}.${field ?? ''}`, detail ?? '')
  }
  if (kind === undefined || amountPaise === undefined || message.problem) return undefined
  return { line, kind, reference, amountPaise, date, note }
}
