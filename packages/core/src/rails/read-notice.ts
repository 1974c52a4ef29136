import { OWN_ADAPTER, type RailAdapter } from '@svc/contract/rail-adapters'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { type Paise, paise, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { repeatsKey } from '@svc/kernel/strict-json'
import { parseRfc3339 } from '@svc/kernel/time'

/** What an operator may want to look at; none of it rejects a notice. */
export type NoticeFlag =
  | 'signed_long_ago'
  | 'time_unreadable'
  | 'transaction_long_ago'
  | 'payer_unknown'
  /** The notice is about a refund. */
  | 'refund_notice'
  /** The notice is about a dispute. */
  | 'dispute_notice'
  /** The notice is about a transfer to a card account. */
  | 'transfer_notice'

/** Why a notice is kept in quarantine. */
export type QuarantineReason =
  | 'not_json'
  /** It is of a kind that another route of the rails is for. */
  | 'wrong_route'
  | 'not_a_credit'
  | 'unknown_bank'
  | 'reference_unreadable'
  | 'amount_unreadable'
  | 'contradicts_earlier_notice'
  | 'unknown_refund'
  | 'status_unreadable'
  | 'unknown_dispute'
  | 'unknown_payment'
  | 'payment_accepted'
  | 'payment_not_accepted'
  | 'dispute_over_payment'
  | 'unknown_virtual_account'
  | 'partner_closed'
  | 'contradicts_entry'

export interface UnreadableNotice {
  readonly unreadable: QuarantineReason
  /** The bank's reference, where it can be read. */
  readonly utr?: string
}

/** What a signed notice is about. Each kind has a route. */
export type NoticeKind = 'credit' | 'refund' | 'dispute' | 'transfer'

/** What every notice of received money says, in our terms. */
export interface ReceivedMoney {
  /** The bank's reference in canonical form. */
  readonly utr: string
  readonly amountPaise: Paise
  /** When the bank made the transaction. */
  readonly transactionAt: Date | null
  readonly flags: readonly NoticeFlag[]
}

type Fields = RailAdapter['fields']

/** The text of a further field of a notice, by its name in the adapter; at most 255 characters. */
type TextField = (name: keyof Fields) => string | undefined

const LONG_AGO_MS = 24 * 3_600_000
const AMOUNT_MAX = paise(10n ** 12n)
const TEXT_MAX = 255

/**
 * Reads the body of a signed notice of received money (decision Q11). Total: it returns a result for any bytes. Without an
 * adapter the notice is of a bank that the settings do not know, and so is the unit of its amount.
 */
export function readReceivedMoney(
  body: Uint8Array,
  now: Date,
  isFresh: boolean,
  adapter: RailAdapter | undefined,
  kind: NoticeKind,
):
  | { readonly money: ReceivedMoney; readonly textAt: TextField; readonly stated?: NoticeKind }
  | UnreadableNotice {
  const notice = parseObject(body)
  if (!notice) return { unreadable: 'not_json' }
  if (!adapter) return { unreadable: 'unknown_bank' }
  const { amountUnit, fields, only } = adapter
  const at = (path: string | undefined) => (path === undefined ? undefined : valueAt(notice, path))
  if (only && textOf(at(only.field)) !== only.equals) return { unreadable: 'not_a_credit' }
  const utr = canonicalReference(textOf(at(fields.utr)) ?? '')
  const stated = statedKind(notice, adapter)
  if (stated && stated !== kind) return { unreadable: 'wrong_route', utr: utr.slice(0, TEXT_MAX) }
  if (utr.length < 6 || utr.length > 35) return { unreadable: 'reference_unreadable' }
  const amountPaise = statedAmount(at(fields.amount), amountUnit)
  if (amountPaise === undefined) return { unreadable: 'amount_unreadable', utr }
  const time = textOf(at(fields.transactionTime))
  const transactionAt = time === undefined ? null : readTime(time, adapter)
  const flags: NoticeFlag[] = []
  if (!isFresh) flags.push('signed_long_ago')
  if (time !== undefined && transactionAt === null) flags.push('time_unreadable')
  if (transactionAt && now.getTime() - transactionAt.getTime() > LONG_AGO_MS)
    flags.push('transaction_long_ago')
  return {
    money: { utr, amountPaise, transactionAt, flags },
    textAt: (name) => textOf(at(fields[name]))?.slice(0, TEXT_MAX),
    ...(stated && { stated }),
  }
}

export const isStated = (field: unknown): boolean => field !== undefined && field !== null && field !== ''

/** Of a credit or transfer: that it was returned. One that arrived may have any other status. */
const RETURNED = new Set(['REFUNDED', 'RETURNED'])

/**
 * The kind of a notice, by fields that no other kind has (decision Q11): a signature holds on every route of its rail, so
 * that a notice sent to another one must not be read as what that one is for. `undefined`: it has none of these fields, as
 * the shortest notices of a credit and of its return.
 */
export function statedKind(
  notice: Readonly<Record<string, unknown>>,
  { fields }: RailAdapter = OWN_ADAPTER,
): NoticeKind | undefined {
  const has = (name: 'virtualAccount' | 'tr' | 'payerVpa' | 'payeeVpa') =>
    isStated(notice[name]) || isStated(fields[name] && valueAt(notice, fields[name]))
  if (isStated(notice['caseReference'])) return 'dispute'
  if (isStated(notice['refundId'])) return 'refund'
  if (RETURNED.has(statusOf(notice))) return 'refund'
  if (has('virtualAccount')) return 'transfer'
  return has('tr') || has('payerVpa') || has('payeeVpa') ? 'credit' : undefined
}

/** What a notice in our own form says of the outcome; empty where it says nothing. */
export const statusOf = (notice: Readonly<Record<string, unknown>>): string =>
  (textOf(notice['status']) ?? '').trim().toUpperCase()

/**
 * The object of a signed message, whatever its form otherwise: after a byte order mark, with bytes that are no UTF-8, with
 * numbers that a double cannot hold. One with a duplicate key is rejected: which of two amounts is meant is decided by hand.
 */
export function parseObject(body: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = new TextDecoder().decode(body)
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) && !repeatsKey(text)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** PostgreSQL's text holds no NUL and no half of a surrogate pair; a number is written as its digits. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' ? value.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '�') : undefined
}

/** What a path of names leads to; a name may itself have full stops. */
function valueAt(notice: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(notice, path)) return notice[path]
  let value: unknown = notice
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

const COMPACT_TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/

function readTime(text: string, { time, utcOffset }: RailAdapter): Date | null {
  if (time === 'unix') return /^\d{1,11}$/.test(text) ? new Date(Number(text) * 1_000) : null
  const compact = time === 'yyyyMMddHHmmss' ? COMPACT_TIME.exec(text) : null
  if (!compact) return parseRfc3339(text) ?? null
  const [, year, month, day, hour, minute, second] = compact
  return parseRfc3339(`${year}-${month}-${day}T${hour}:${minute}:${second}${utcOffset}`) ?? null
}

function statedAmount(value: unknown, unit: RailAdapter['amountUnit']): Paise | undefined {
  const whole = unit === 'paise' ? textOf(value)?.trim() : undefined
  const inPaise = whole !== undefined && /^\d{1,15}$/.test(whole) ? paise(BigInt(whole)) : undefined
  const read = unit === 'paise' ? inPaise : readRupees(value)
  return read !== undefined && read > 0n && read <= AMOUNT_MAX ? read : undefined
}

export const readRupees = (value: unknown): Paise | undefined => valueIn(readAmount(value))
