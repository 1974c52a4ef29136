import type { Paise } from '@svc/kernel/money'
import { canonicalWord, type FieldsOf } from './file-format.ts'
import type { LineReader } from './line-reader.ts'

export const RESPONSE_FIELDS: FieldsOf = {
  required: ['id', 'status'],
  optional: ['utr', 'reason', 'amount'],
}

export type BankOutcome = 'done' | 'failed' | 'returned'

/** What the bank says of something that we sent it: a payout, a refund. */
export interface BankResponse {
  readonly line: number
  /** Our own id of it. */
  readonly id: string
  /** The bank's own word. */
  readonly word: string
  /** Absent for a word that the format does not name: the bank may still pay. */
  readonly outcome: BankOutcome | undefined
  readonly utr: string | undefined
  readonly reason: string | undefined
  /** Where the file states one. */
  readonly amountPaise: Paise | undefined
}

/** The words of the bank, in any case and with any separators. */
export type OutcomeWords = ReadonlyMap<string, BankOutcome>

/** Reads lines of the bank's responses. A payout that was paid needs the bank's reference; so does what `needsUtr` says. */
export const responseReader =
  (of: 'payout' | 'refund', words: OutcomeWords) =>
  (line: LineReader): readonly BankResponse[] => {
    const id = line.word('id')
    const word = line.stated('status') ?? ''
    const outcome = words.get(canonicalWord(word))
    line.guard(outcome && { of, outcome: outcome === 'done' ? 'success' : 'failed', hasTexts: true })
    // Of what failed the bank has no reference, whatever it writes there.
    const readsUtr = outcome === 'done' || (outcome === 'returned' && line.stated('utr') !== undefined)
    const utr = readsUtr ? line.reference('utr') : undefined
    const amountPaise = line.stated('amount') === undefined ? undefined : line.amount('amount')
    if (id === undefined || line.problems.length > 0) return []
    const reason = line.stated('reason')
    return [{ line: line.line, id, word, outcome, utr, reason, amountPaise }]
  }
