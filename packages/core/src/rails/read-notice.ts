import { OWN_ADAPTER, type RailAdapter } from '@svc/contract/rail-adapters'
import { type ReferenceForm, readCode, readReference } from '@svc/kernel/bank-reference'
import { type AmountForm, type Paise, paise, readAmount, readCurrency } from '@svc/kernel/money'
import { canonicalWord, readOutcome, type StatedOutcome, type StatusOf } from '@svc/kernel/outcome-words'
import { readInstant, type TimeForm } from '@svc/kernel/read-time'
import { type Reading, readText, unreadable, valueIn } from '@svc/kernel/reading'
import type { StatedField, UnreadableNotice } from './quarantine-reason.ts'
import { fieldsOfAdapter, noticeObject, ownFields, parseObject, type StatedFields } from './stated-fields.ts'

export { parseObject, textOf } from './stated-fields.ts'

/** What an operator may want to look at; none of it rejects a notice. */
export type NoticeFlag =
  | 'signed_long_ago'
  | 'transaction_long_ago'
  | 'payer_unknown'
  /** The notice is about a refund. */
  | 'refund_notice'
  /** The notice is about a dispute. */
  | 'dispute_notice'
  /** The notice is about a transfer to a card account. */
  | 'transfer_notice'
  /** The notice is about a transfer of the bank or network, with its lines. */
  | 'settlement_notice'

/** What a signed notice is about. Each kind has a route. */
export type NoticeKind = 'credit' | 'refund' | 'dispute' | 'transfer' | 'settlement'

/** What every notice of received money says, in our terms. */
export interface ReceivedMoney {
  /** The bank's reference in canonical form. */
  readonly utr: string
  readonly amountPaise: Paise
  /** When the bank made the transaction. */
  readonly transactionAt: Date | null
  readonly flags: readonly NoticeFlag[]
}

type FieldName = keyof RailAdapter['fields']

/** The text of a further field of a notice, by its name in the adapter; at most 255 characters. */
type TextField = (name: FieldName) => string | undefined

export interface ReadMoney {
  readonly money: ReceivedMoney
  readonly textAt: TextField
  /** The same of what is looked up, in canonical form; empty where it is not stated. */
  readonly codeAt: (name: FieldName) => string
  /** Why it cannot be read after all, once its texts were. */
  readonly problem: () => UnreadableNotice | undefined
  readonly stated?: NoticeKind
}

const LONG_AGO_MS = 24 * 3_600_000
const AHEAD_MS = 24 * 3_600_000
const YEARS_BACK = 10
const AMOUNT_MAX = paise(10n ** 12n)

/**
 * Reads the body of a signed notice of received money (decision Q11). Total: it returns a result for any bytes. Without an
 * adapter the notice is of a bank that the settings do not know, and so is the unit of its amount.
 */
export function readReceivedMoney(
  body: Uint8Array,
  now: Date,
  isFresh: boolean,
  adapter: RailAdapter | undefined,
  kind: 'credit' | 'transfer',
): ReadMoney | UnreadableNotice {
  const notice = noticeObject(body, adapter?.body)
  if (!notice) return { unreadable: 'not_json' }
  if (!adapter) return { unreadable: 'unknown_bank' }
  const of = kind === 'credit' ? 'payment' : 'transfer'
  const isOwn = adapter === OWN_ADAPTER
  const stated = isOwn ? ownFields(notice, of) : fieldsOfAdapter(notice, adapter)
  const { amountUnit, fields, only, timePattern: pattern, utcOffset } = adapter
  const kindWord = only && valueIn(readText(stated.at(only.field) ?? ''))
  if (only && only.ignore.includes(kindWord ?? ''))
    return { unreadable: 'ignored', field: only.field, detail: kindWord }
  if (only && !only.equals.includes(kindWord ?? ''))
    stated.refuse('not_a_credit', only.field, `is not ${only.equals.join(' or ')}`)
  const utr = valueIn(readReference(stated.at(fields.utr) ?? ''))
  const problem = (): UnreadableNotice | undefined => stated.problem && { ...stated.problem, utr }
  if (stated.problem) return { ...stated.problem, utr }
  const kindStated = statedKind(stated, fields)
  if (kindStated && kindStated !== kind) return { unreadable: 'wrong_route', utr }
  refuseUnlessMoved(stated, adapter, of)
  stated.refuseContradicted('not_a_credit', { of, outcome: 'success', side: 'credit', hasTexts: !isOwn })
  stated.require(fields.utr, 'reference_unreadable', readReference)
  stated.read(fields.currency, 'not_in_rupees', readCurrency)
  const amountPaise = stated.require(fields.amount, 'amount_unreadable', (value) =>
    readMoney(value, { unit: amountUnit }),
  )
  const transactionAt =
    stated.read(fields.transactionTime, 'time_unreadable', (value) =>
      readPast(value, now, { pattern, utcOffset }),
    ) ?? null
  if (utr === undefined || amountPaise === undefined || stated.problem)
    return problem() ?? { unreadable: 'field_unreadable' }
  const flags: NoticeFlag[] = []
  if (!isFresh) flags.push('signed_long_ago')
  if (transactionAt && now.getTime() - transactionAt.getTime() > LONG_AGO_MS)
    flags.push('transaction_long_ago')
  return {
    money: { utr, amountPaise, transactionAt, flags },
    textAt: (name) => stated.text(fields[name], name),
    codeAt: (name) => stated.read(fields[name], 'field_unreadable', readCode, name) ?? '',
    problem,
    ...(kindStated && { stated: kindStated }),
  }
}

/** A stated status that is no word of success reports no money (decision Q11). */
function refuseUnlessMoved(
  stated: StatedFields,
  { fields, only, statusWords }: RailAdapter,
  of: Extract<StatusOf, 'payment' | 'transfer'>,
): void {
  if (fields.status === undefined || fields.status === only?.field) return
  const outcome = stated.read(fields.status, 'not_a_credit', (value) => {
    const word = valueIn(readText(value)) ?? ''
    const own = statusWords.get(word.toUpperCase())
    return own ? { value: { outcome: own, word } } : readOutcome(value, of)
  })
  if (outcome && outcome.outcome !== 'success')
    stated.refuse('not_a_credit', fields.status, saying(stated.at(fields.status), outcome, of))
}

const MEANINGS = {
  success: 'is complete',
  not_yet: 'is not complete yet',
  failed: 'has failed',
  gone_back: 'went back',
} as const

/** What a status says, for operators: `"FAILED" says that the payment has failed`. */
export const saying = (value: unknown, { outcome }: StatedOutcome, of: StatusOf): string =>
  `${JSON.stringify(value)} says that the ${of} ${MEANINGS[outcome]}`

/** Of a payment, refund or dispute: above 0, and no more than any bank moves. */
export function readMoney(value: unknown, form?: AmountForm): Reading<Paise> {
  const amount = readAmount(value, form)
  if ('unreadable' in amount) return amount
  if (amount.value <= 0n) return unreadable('is not above 0')
  return amount.value > AMOUNT_MAX ? unreadable('is more than a payment can be') : amount
}

/** A time at which a transaction can have been made. The books of a day follow it (decision R4). */
function readPast(value: unknown, now: Date, form: TimeForm): Reading<Date> {
  const instant = readInstant(value, form)
  if ('unreadable' in instant) return instant
  if (instant.value.getTime() - now.getTime() > AHEAD_MS) return unreadable('is in the future')
  const earliest = new Date(now)
  earliest.setUTCFullYear(now.getUTCFullYear() - YEARS_BACK)
  return instant.value < earliest ? unreadable(`is more than ${YEARS_BACK} years ago`) : instant
}

const SECOND_MS = 1_000

/** Whether a repeat states another time than the first notice. One bank writes whole seconds, another one their parts. */
export function contradictsTime(first: Date | null, stated: Date | null): StatedField | undefined {
  if (!first || !stated || first.getTime() === stated.getTime()) return undefined
  const [a, b] = [first.getTime(), stated.getTime()]
  const isWhole = a % SECOND_MS === 0 || b % SECOND_MS === 0
  return isWhole && Math.floor(a / SECOND_MS) === Math.floor(b / SECOND_MS)
    ? undefined
    : { field: 'transactionTime', detail: `the first notice says ${first.toISOString()}` }
}

/** Of a credit or transfer: that it was returned. */
const RETURNED = new Set(['REFUNDED', 'RETURNED'])

/**
 * The kind of a notice, by fields that no other kind has (decision Q11): a signature holds on every route of its rail, so
 * that a notice sent to another one must not be read as what that one is for. `undefined`: it has none of these fields, as
 * the shortest notices of a credit and of its return.
 */
export function statedKind(
  stated: StatedFields,
  fields: RailAdapter['fields'] = OWN_ADAPTER.fields,
): NoticeKind | undefined {
  const has = (name: 'virtualAccount' | 'tr' | 'payerVpa' | 'payeeVpa') =>
    stated.at(fields[name]) !== undefined || stated.at(name) !== undefined
  if (stated.at('batchUtr') !== undefined) return 'settlement'
  if (stated.at('caseReference') !== undefined) return 'dispute'
  if (stated.at('refundId') !== undefined) return 'refund'
  const status = stated.at('status')
  if (typeof status === 'string' && RETURNED.has(canonicalWord(status))) return 'refund'
  if (has('virtualAccount')) return 'transfer'
  return has('tr') || has('payerVpa') || has('payeeVpa') ? 'credit' : undefined
}

/** A reference of the bank in a notice of a refund or dispute, where it is stated. */
export const statedReference = (
  stated: StatedFields,
  name: string,
  form?: ReferenceForm,
): string | undefined => stated.read(name, 'reference_unreadable', (value) => readReference(value, form))

/** What a notice of a refund or dispute states in our own form; its currency is read with it. */
export function readOwn(body: Uint8Array, of: StatusOf): StatedFields | undefined {
  const notice = parseObject(body)
  if (!notice) return undefined
  const stated = ownFields(notice, of)
  stated.read('currency', 'not_in_rupees', readCurrency)
  return stated
}
