import type { RailAdapter } from '@svc/contract/rail-adapters'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { type ReceivedMoney, readReceivedMoney, type UnreadableNotice } from '../rails/read-notice.ts'

/** What a bank reports of a transfer to a virtual account, in our terms. */
export interface BankTransfer extends ReceivedMoney {
  /** The number in canonical form; empty where the notice has none. */
  readonly virtualAccount: string
  readonly remitterName: string | null
  readonly remitterAccount: string | null
  /** Such as `NEFT`, as the bank has it. */
  readonly mode: string | null
}

export type ReadTransferNotice = { readonly transfer: BankTransfer } | UnreadableNotice

/** Reads the body of a signed notice of a bank transfer. */
export function readTransferNotice(
  body: Uint8Array,
  now: Date,
  isFresh: boolean,
  adapter?: RailAdapter,
): ReadTransferNotice {
  const read = readReceivedMoney(body, now, isFresh, adapter, 'transfer')
  if ('unreadable' in read) return read
  const { money, textAt } = read
  return {
    transfer: {
      ...money,
      virtualAccount: canonicalReference(textAt('virtualAccount') ?? ''),
      remitterName: textAt('remitterName')?.trim() || null,
      remitterAccount: textAt('remitterAccount')?.trim() || null,
      mode: textAt('mode')?.trim() || null,
    },
  }
}

type Stated = Pick<BankTransfer, 'amountPaise' | 'virtualAccount' | 'remitterAccount'>

/** Whether a notice contradicts the first one of its transfer. */
export function contradicts(
  first: Stated,
  { amountPaise, virtualAccount, remitterAccount }: Stated,
): boolean {
  return (
    first.amountPaise !== amountPaise ||
    first.virtualAccount !== virtualAccount ||
    (first.remitterAccount !== null &&
      remitterAccount !== null &&
      canonicalReference(first.remitterAccount) !== canonicalReference(remitterAccount))
  )
}
