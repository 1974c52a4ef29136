import type { RailAdapter } from '@svc/contract/rail-adapters'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { type Paise, paise, paiseFromWire, parseRupees } from '@svc/kernel/money'
import { repeatsKey } from '@svc/kernel/strict-json'
import { parseRfc3339 } from '@svc/kernel/time'

/** What a notice says of a credit, in our terms. */
export interface Credit {
  /** The bank's reference in canonical form. */
  readonly utr: string
  /** The reference of the scanned code in canonical form; empty where the notice has none. */
  readonly tr: string
  readonly amountPaise: Paise
  /** Absent or masked, as banks report it. */
  readonly payerVpa: string | null
  /** Whom the payer paid: names the merchant of a credit that fits no code. */
  readonly payeeVpa: string | null
  /** When the payer's bank made the transaction. */
  readonly transactionAt: Date | null
  readonly flags: readonly NoticeFlag[]
}

/** What an operator may want to look at; none of it rejects a credit. */
export type NoticeFlag =
  | 'signed_long_ago'
  | 'time_unreadable'
  | 'transaction_long_ago'
  | 'payer_unknown'
  /** The notice is about a refund. */
  | 'refund_notice'
  /** The notice is about a dispute. */
  | 'dispute_notice'

/** Why a notice is kept in quarantine. */
export type QuarantineReason =
  | 'not_json'
  | 'not_a_credit'
  | 'unknown_bank'
  | 'reference_unreadable'
  | 'amount_unreadable'
  | 'contradicts_earlier_notice'
  | 'unknown_refund'
  | 'status_unreadable'
  | 'unknown_dispute'
  | 'unknown_payment'
  | 'payment_not_accepted'
  | 'dispute_over_payment'

export type ReadNotice =
  | { readonly credit: Credit }
  | {
      readonly unreadable: QuarantineReason
      /** The bank's reference, where it can be read. */
      readonly utr?: string
    }

/** The bank's reference, where it can be read. */
export const utrOf = (read: ReadNotice): string | undefined => ('credit' in read ? read.credit.utr : read.utr)

const LONG_AGO_MS = 24 * 3_600_000
const AMOUNT_MAX = paise(10n ** 12n)
const TEXT_MAX = 255

/**
 * Reads the body of a signed notice. Total: whatever the bytes are, it returns a credit or why they are none. Without an
 * adapter the notice is of a bank that the settings do not know, and so is the unit of its amount.
 */
export function readCreditNotice(
  body: Uint8Array,
  now: Date,
  isFresh: boolean,
  adapter: RailAdapter | undefined,
): ReadNotice {
  const notice = parseObject(body)
  if (!notice) return { unreadable: 'not_json' }
  if (!adapter) return { unreadable: 'unknown_bank' }
  const { amountUnit, fields, only } = adapter
  const at = (path: string | undefined) => (path === undefined ? undefined : valueAt(notice, path))
  if (only && textOf(at(only.field)) !== only.equals) return { unreadable: 'not_a_credit' }
  const utr = canonicalReference(textOf(at(fields.utr)) ?? '')
  if (utr.length < 6 || utr.length > 35) return { unreadable: 'reference_unreadable' }
  const amountPaise = readAmount(at(fields.amount), amountUnit)
  if (amountPaise === undefined) return { unreadable: 'amount_unreadable', utr }
  const time = textOf(at(fields.transactionTime))
  const transactionAt = time === undefined ? null : readTime(time, adapter)
  const payerVpa = textOf(at(fields.payerVpa))?.slice(0, TEXT_MAX) || null
  const flags: NoticeFlag[] = []
  if (!isFresh) flags.push('signed_long_ago')
  if (time !== undefined && transactionAt === null) flags.push('time_unreadable')
  if (transactionAt && now.getTime() - transactionAt.getTime() > LONG_AGO_MS)
    flags.push('transaction_long_ago')
  if (payerVpa === null || isMasked(payerVpa)) flags.push('payer_unknown')
  const tr = canonicalReference(textOf(at(fields.tr)) ?? '').slice(0, TEXT_MAX)
  const payeeVpa = textOf(at(fields.payeeVpa))?.trim().slice(0, TEXT_MAX) || null
  return { credit: { utr, tr, amountPaise, payerVpa, payeeVpa, transactionAt, flags } }
}

const isMasked = (vpa: string): boolean => /\*|x{3,}/i.test(vpa)

/** Whether a notice contradicts the first one of its credit. A payer may be named or masked. */
export function contradicts(
  first: Pick<Credit, 'amountPaise' | 'payerVpa' | 'tr'>,
  { amountPaise, payerVpa, tr }: Credit,
): boolean {
  const known = (vpa: string | null): vpa is string => vpa !== null && !isMasked(vpa)
  return (
    first.amountPaise !== amountPaise ||
    canonicalReference(first.tr) !== tr ||
    (known(first.payerVpa) && known(payerVpa) && first.payerVpa.toLowerCase() !== payerVpa.toLowerCase())
  )
}

/** An object that has a key twice is none: which of two amounts the bank means is for people to find out. */
export function parseObject(body: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = Buffer.from(body).toString('utf8')
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) && !repeatsKey(text)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** PostgreSQL's text holds no NUL; a number is written as its digits. */
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

function readAmount(value: unknown, unit: RailAdapter['amountUnit']): Paise | undefined {
  const whole = unit === 'paise' ? textOf(value)?.trim() : undefined
  const inPaise = whole !== undefined && /^\d{1,15}$/.test(whole) ? paise(BigInt(whole)) : undefined
  const read = unit === 'paise' ? inPaise : readRupees(value)
  return read !== undefined && read > 0n && read <= AMOUNT_MAX ? read : undefined
}

export function readRupees(value: unknown): Paise | undefined {
  if (typeof value === 'number') return paiseFromWire(value)
  return typeof value === 'string' ? parseRupees(value.trim()) : undefined
}
