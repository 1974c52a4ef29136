import { readReference } from '@svc/kernel/bank-reference'
import { readId } from '@svc/kernel/ids'
import type { Paise } from '@svc/kernel/money'
import { readOutcome, type StatedOutcome } from '@svc/kernel/outcome-words'
import { type Reading, unreadable, valueIn } from '@svc/kernel/reading'
import { referenceFormOf } from '../../bank-files/file-format.ts'
import type { UnreadableNotice } from '../../rails/quarantine-reason.ts'
import { readMoney, readOwn, saying, statedKind, statedReference } from '../../rails/read-notice.ts'
import type { StatedFields } from '../../rails/stated-fields.ts'
import { looksLikeRefundId } from './merchant-refund.ts'

/** What a bank reports of a merchant's refund. */
export interface RefundOutcome {
  readonly refundId: string
  /** The bank's own reference of the refund. */
  readonly utr: string | null
  readonly amountPaise: Paise | undefined
  /** Why it could not be made; `null` when it was made. */
  readonly failureReason: string | null
}

/** What a bank reports of a credit that was not accepted. */
export interface ReturnedCredit {
  readonly utr: string
  readonly amountPaise: Paise | undefined
}

export type ReadRefundNotice =
  /** A credit that was not accepted went back: named by its own reference. */
  { readonly credit: ReturnedCredit } | { readonly outcome: RefundOutcome } | UnreadableNotice

/** Words of `gone_back` that say of a refund that it was made, and of a credit that it went back. */
const REFUNDED = new Set(['REFUNDED', 'REFUND'])
/** The same of a credit; of a refund, that the payer's bank sent it back. */
const RETURNED = new Set(['RETURNED', 'RETURN', 'REVERSED', 'REVERSAL', 'AUTOREVERSED', 'AUTOREFUNDED'])

/** Reads the body of a signed notice of a refund. Total: whatever the bytes are, it returns what they say. */
export function readRefundNotice(body: Uint8Array): ReadRefundNotice {
  const stated = readOwn(body, 'refund')
  if (!stated) return { unreadable: 'not_json' }
  const isOfRefund = stated.at('refundId') !== undefined
  const form = referenceFormOf(isOfRefund ? 'refund' : 'payment')
  const utr = valueIn(readReference(stated.at('utr') ?? '', form))
  const kind = statedKind(stated)
  if (kind && kind !== 'refund') return { unreadable: 'wrong_route', utr }
  const refundId = stated.read('refundId', 'unknown_refund', readRefundId)
  const status = stated.read('status', 'status_unreadable', (value) => readOutcome(value, 'refund'))
  const isMade = isOfRefund ? wasMade(stated, status) : wentBack(stated, status)
  stated.refuseContradicted('status_unreadable', { of: 'refund', outcome: isMade ? 'success' : 'failed' })
  if (isOfRefund) statedReference(stated, 'utr', form)
  else stated.require('utr', 'reference_unreadable', (value) => readReference(value, form))
  const amountPaise = stated.read('amount', 'amount_unreadable', readMoney)
  const reason = stated.text('reason')
  if (stated.problem) return { ...stated.problem, utr }
  if (refundId === undefined) return { credit: { utr: utr ?? '', amountPaise } }
  return {
    outcome: {
      refundId,
      utr: utr ?? null,
      amountPaise,
      failureReason: isMade ? null : (reason ?? 'not stated'),
    },
  }
}

function readRefundId(value: unknown): Reading<string> {
  const id = readId(value, 'rfd')
  return 'unreadable' in id || looksLikeRefundId(id.value) ? id : unreadable('is not the id of a refund')
}

/** Whether a merchant's refund was made, or has failed. A status that says neither is a problem. */
function wasMade(stated: StatedFields, status: StatedOutcome | undefined): boolean {
  if (!status) {
    stated.refuse('status_unreadable', 'status', 'is not stated')
    return false
  }
  const { outcome, word } = status
  const isOver = outcome === 'success' || outcome === 'failed' || REFUNDED.has(word) || RETURNED.has(word)
  if (!isOver) stated.refuse('status_unreadable', 'status', saying(stated.at('status'), status, 'refund'))
  return outcome === 'success' || REFUNDED.has(word)
}

/** Of a credit: that it went back is what such a notice is for; one that says otherwise is a problem. */
function wentBack(stated: StatedFields, status: StatedOutcome | undefined): boolean {
  const isBack =
    !status || status.outcome === 'success' || REFUNDED.has(status.word) || RETURNED.has(status.word)
  if (!isBack) stated.refuse('status_unreadable', 'status', saying(stated.at('status'), status, 'refund'))
  return isBack
}
