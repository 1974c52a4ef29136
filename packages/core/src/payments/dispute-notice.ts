import { canonicalReference } from '@svc/kernel/bank-reference'
import type { Paise } from '@svc/kernel/money'
import { parseRfc3339 } from '@svc/kernel/time'
import {
  parseObject,
  type QuarantineReason,
  readRupees,
  statedKind,
  statusOf,
  textOf,
} from '../rails/read-notice.ts'

/** What a bank reports of a dispute. */
export interface DisputeReport {
  /** The network's reference of the case, in canonical form. */
  readonly caseReference: string
  /** The bank's reference of the disputed credit; `null` where the notice has none. */
  readonly utr: string | null
  readonly amountPaise: Paise | undefined
  readonly reason: string | null
  readonly outcome: 'OPEN' | 'WON' | 'LOST'
  /** Until when the merchant can submit evidence; `null` where the notice does not say. */
  readonly evidenceDueAt: Date | null
}

export type ReadDisputeNotice = { readonly report: DisputeReport } | { readonly unreadable: QuarantineReason }

const TEXT_MAX = 255
const AMOUNT_MAX = 10n ** 12n
const OUTCOMES: Readonly<Record<string, DisputeReport['outcome']>> = {
  '': 'OPEN',
  OPEN: 'OPEN',
  RAISED: 'OPEN',
  WON: 'WON',
  LOST: 'LOST',
}

/** Reads the body of a signed notice of a dispute. Total: whatever the bytes are, it returns what they say. */
export function readDisputeNotice(body: Uint8Array): ReadDisputeNotice {
  const notice = parseObject(body)
  if (!notice) return { unreadable: 'not_json' }
  const stated = statedKind(notice)
  if (stated && stated !== 'dispute') return { unreadable: 'wrong_route' }
  const caseReference = canonicalReference(textOf(notice['caseReference']) ?? '')
  if (caseReference.length < 6 || caseReference.length > 64) return { unreadable: 'reference_unreadable' }
  const status = statusOf(notice)
  const outcome = Object.hasOwn(OUTCOMES, status) ? OUTCOMES[status] : undefined
  if (outcome === undefined) return { unreadable: 'status_unreadable' }
  const amount = notice['amount']
  const amountPaise = amount === undefined ? undefined : readRupees(amount)
  const isPossible = amountPaise !== undefined && amountPaise > 0n && amountPaise <= AMOUNT_MAX
  if (!isPossible && (amount !== undefined || outcome === 'OPEN')) return { unreadable: 'amount_unreadable' }
  return {
    report: {
      caseReference,
      utr: canonicalReference(textOf(notice['utr']) ?? '').slice(0, TEXT_MAX) || null,
      amountPaise,
      reason: textOf(notice['reason'])?.trim().slice(0, TEXT_MAX) || null,
      outcome,
      evidenceDueAt: parseRfc3339(textOf(notice['respondBy']) ?? '') ?? null,
    },
  }
}
