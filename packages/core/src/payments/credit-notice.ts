import type { RailAdapter } from '@svc/contract/rail-adapters'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { formatRupees } from '@svc/kernel/money'
import type { StatedField, UnreadableNotice } from '../rails/quarantine-reason.ts'
import { contradictsTime, type ReceivedMoney, readReceivedMoney } from '../rails/read-notice.ts'

/** What a notice says of a credit, in our terms. */
export interface Credit extends ReceivedMoney {
  /** The reference of the scanned code in canonical form; empty where the notice has none. */
  readonly tr: string
  /** Absent or masked, as banks report it. */
  readonly payerVpa: string | null
  /** Whom the payer paid: names the merchant of a credit that fits no code. */
  readonly payeeVpa: string | null
}

export type ReadNotice =
  | {
      readonly credit: Credit
      /** It has fields that only a notice of a credit has. */
      readonly isCertain: boolean
    }
  | UnreadableNotice

/** The bank's reference, where it can be read. */
export const utrOf = (read: ReadNotice): string | undefined => ('credit' in read ? read.credit.utr : read.utr)

/** Reads the body of a signed notice of a UPI credit. */
export function readCreditNotice(
  body: Uint8Array,
  now: Date,
  isFresh: boolean,
  adapter: RailAdapter | undefined,
): ReadNotice {
  const read = readReceivedMoney(body, now, isFresh, adapter, 'credit')
  if ('unreadable' in read) return read
  const { codeAt, money, stated, textAt } = read
  const payerVpa = textAt('payerVpa') ?? null
  const payeeVpa = textAt('payeeVpa') ?? null
  const tr = withoutPrefix(codeAt('tr'), adapter)
  const problem = read.problem()
  if (problem) return problem
  const isUnknown = payerVpa === null || isMasked(payerVpa)
  return {
    isCertain: stated !== undefined,
    credit: {
      ...money,
      flags: isUnknown ? [...money.flags, 'payer_unknown'] : money.flags,
      tr,
      payerVpa,
      payeeVpa,
    },
  }
}

/** Acquirers write prefixes of their own before our reference. */
function withoutPrefix(tr: string, adapter: RailAdapter | undefined): string {
  const prefix = adapter?.trPrefixes.map(canonicalReference).find((each) => tr.startsWith(each))
  return prefix === undefined ? tr : tr.slice(prefix.length)
}

const MASK = /\*+|x{3,}/gi
const isMasked = (vpa: string): boolean => vpa.search(MASK) >= 0

/** Whether two addresses may be of one payer: where either is masked, what both show of it. */
function maySamePayer(one: string, other: string): boolean {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()]
  const [first = '', ...restOfA] = a.split(MASK)
  const [second = '', ...restOfB] = b.split(MASK)
  if (restOfA.length === 0 && restOfB.length === 0) return a === b
  const [lastOfA, lastOfB] = [restOfA.at(-1) ?? a, restOfB.at(-1) ?? b]
  return begins(first, second) && ends(lastOfA, lastOfB)
}

const begins = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one)
const ends = (one: string, other: string): boolean => one.endsWith(other) || other.endsWith(one)

/** What the first notice of a credit states; its payee is in the notice alone. */
export type FirstCredit = Pick<Credit, 'amountPaise' | 'payerVpa' | 'tr' | 'transactionAt'> & {
  readonly payeeVpa: string | null
}

/**
 * How a notice contradicts the first one of its credit: a repeat is equal in everything that both state (decision Q11). A
 * payer may be named or masked. A code that the first one did not name is other content too.
 */
export function contradiction(first: FirstCredit, credit: Credit): StatedField | undefined {
  const { amountPaise, payeeVpa, payerVpa, tr, transactionAt } = credit
  if (first.amountPaise !== amountPaise)
    return { field: 'amount', detail: `the first notice says ${formatRupees(first.amountPaise)}` }
  if (tr !== '' && canonicalReference(first.tr) !== tr)
    return { field: 'tr', detail: `the first notice says "${first.tr}"` }
  if (first.payerVpa !== null && payerVpa !== null && !maySamePayer(first.payerVpa, payerVpa))
    return { field: 'payerVpa', detail: 'the first notice names another payer' }
  if (first.payeeVpa !== null && payeeVpa !== null && !maySamePayer(first.payeeVpa, payeeVpa))
    return { field: 'payeeVpa', detail: 'the first notice names another payee' }
  return contradictsTime(first.transactionAt, transactionAt)
}
