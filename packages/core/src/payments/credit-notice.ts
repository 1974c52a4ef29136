import type { RailAdapter } from '@svc/contract/rail-adapters'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { type ReceivedMoney, readReceivedMoney, type UnreadableNotice } from '../rails/read-notice.ts'

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
  const { money, stated, textAt } = read
  const payerVpa = textAt('payerVpa') || null
  const isUnknown = payerVpa === null || isMasked(payerVpa)
  return {
    isCertain: stated !== undefined,
    credit: {
      ...money,
      flags: isUnknown ? [...money.flags, 'payer_unknown'] : money.flags,
      tr: canonicalReference(textAt('tr') ?? ''),
      payerVpa,
      payeeVpa: textAt('payeeVpa')?.trim() || null,
    },
  }
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
