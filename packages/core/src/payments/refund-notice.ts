import { canonicalReference } from '@svc/kernel/bank-reference'
import type { Paise } from '@svc/kernel/money'
import {
  isStated,
  parseObject,
  readRupees,
  statedKind,
  statusOf,
  textOf,
  type UnreadableNotice,
} from '../rails/read-notice.ts'
import { refundIdOf } from './merchant-refund.ts'

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

const TEXT_MAX = 255
const MADE = new Set(['REFUNDED', 'SUCCESS', 'PROCESSED', 'COMPLETED'])
const NOT_MADE = new Set(['FAILED', 'FAILURE', 'REJECTED', 'RETURNED'])
/** Of a credit: that it went back is what such a notice is for. */
const WENT_BACK = new Set([...MADE, 'RETURNED'])

/** Reads the body of a signed notice of a refund. Total: whatever the bytes are, it returns what they say. */
export function readRefundNotice(body: Uint8Array): ReadRefundNotice {
  const notice = parseObject(body)
  if (!notice) return { unreadable: 'not_json' }
  const utr = canonicalReference(textOf(notice['utr']) ?? '').slice(0, TEXT_MAX)
  const stated = statedKind(notice)
  if (stated && stated !== 'refund') return { unreadable: 'wrong_route', utr }
  const named = textOf(notice['refundId'])
  const status = statusOf(notice)
  const { amount } = notice
  const amountPaise = amount === undefined ? undefined : readRupees(amount)
  const isAmountRead = amount === undefined || amountPaise !== undefined
  if (named === undefined) {
    // Whose refund it is cannot be read, or the return is reported not to have been made.
    if (isStated(notice['refundId'])) return { unreadable: 'unknown_refund' }
    if (isStated(notice['status']) && !WENT_BACK.has(status)) return { unreadable: 'status_unreadable' }
    if (utr === '') return { unreadable: 'reference_unreadable' }
    return isAmountRead ? { credit: { utr, amountPaise } } : { unreadable: 'amount_unreadable' }
  }
  const refundId = refundIdOf(canonicalReference(named))
  if (refundId === undefined) return { unreadable: 'unknown_refund' }
  if (!MADE.has(status) && !NOT_MADE.has(status)) return { unreadable: 'status_unreadable' }
  if (!isAmountRead) return { unreadable: 'amount_unreadable' }
  const reason = textOf(notice['reason'])?.trim().slice(0, TEXT_MAX) || 'not stated'
  return {
    outcome: { refundId, utr: utr || null, amountPaise, failureReason: MADE.has(status) ? null : reason },
  }
}
