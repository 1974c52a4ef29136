import type { RailAdapter } from '@svc/contract/rail-adapters'
import { formatRupees } from '@svc/kernel/money'
import type { StatedField, UnreadableNotice } from '../../rails/quarantine-reason.ts'
import { contradictsTime, type ReceivedMoney, readReceivedMoney } from '../../rails/read-notice.ts'

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
  const { codeAt, money, textAt } = read
  const transfer: BankTransfer = {
    ...money,
    virtualAccount: codeAt('virtualAccount'),
    remitterName: textAt('remitterName') ?? null,
    remitterAccount: textAt('remitterAccount') ?? null,
    mode: textAt('mode') ?? null,
  }
  return read.problem() ?? { transfer }
}

type Stated = Pick<
  BankTransfer,
  'amountPaise' | 'virtualAccount' | 'remitterName' | 'remitterAccount' | 'mode' | 'transactionAt'
>

const TEXTS = ['remitterName', 'remitterAccount', 'mode'] as const

/**
 * How a notice contradicts the first one of its transfer: a repeat is equal in everything that both state (decision Q11).
 * Of a masked account, what both show of it.
 */
export function contradiction(first: Stated, transfer: Stated): StatedField | undefined {
  if (first.amountPaise !== transfer.amountPaise)
    return { field: 'amount', detail: `the first notice says ${formatRupees(first.amountPaise)}` }
  if (transfer.virtualAccount !== '' && first.virtualAccount !== transfer.virtualAccount)
    return { field: 'virtualAccount', detail: `the first notice says ${first.virtualAccount}` }
  const other = TEXTS.find(
    (name) => first[name] !== null && transfer[name] !== null && !isSame(first[name], transfer[name]),
  )
  return other
    ? { field: other, detail: 'the first notice says otherwise' }
    : contradictsTime(first.transactionAt, transfer.transactionAt)
}

/** Without case and separators; masks hide the beginning of an account. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) =>
    text
      .replace(/^.*(?:\*+|x{3,})/i, '')
      .replace(/[\s\p{P}]/gu, '')
      .toUpperCase(),
  )
  return a === b || (isMasked(one) && b!.endsWith(a!)) || (isMasked(other) && a!.endsWith(b!))
}

const isMasked = (text: string): boolean => /\*|x{3,}/i.test(text)
