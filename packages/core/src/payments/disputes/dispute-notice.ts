import { readReference } from '@svc/kernel/bank-reference'
import type { Paise } from '@svc/kernel/money'
import { contradictsDispute } from '@svc/kernel/outcome-beside'
import { type DisputeOutcome, readDisputeOutcome } from '@svc/kernel/outcome-words'
import { readInstant } from '@svc/kernel/read-time'
import { referenceFormOf } from '../../bank-files/file-format.ts'
import type { UnreadableNotice } from '../../rails/quarantine-reason.ts'
import { readMoney, readOwn, statedKind, statedReference } from '../../rails/read-notice.ts'

/** What a bank reports of a dispute. */
export interface DisputeReport {
  /** The network's reference of the case, in canonical form. */
  readonly caseReference: string
  /** The bank's reference of the disputed credit; `null` where the notice has none. */
  readonly utr: string | null
  readonly amountPaise: Paise | undefined
  readonly reason: string | null
  readonly outcome: DisputeOutcome
  /** Until when the merchant can submit evidence; `null` where the notice does not say. */
  readonly evidenceDueAt: Date | null
}

export type ReadDisputeNotice = { readonly report: DisputeReport } | UnreadableNotice

/** Reads the body of a signed notice of a dispute. Total: whatever the bytes are, it returns what they say. */
export function readDisputeNotice(body: Uint8Array): ReadDisputeNotice {
  const stated = readOwn(body, 'dispute')
  if (!stated) return { unreadable: 'not_json' }
  const kind = statedKind(stated)
  if (kind && kind !== 'dispute') return { unreadable: 'wrong_route' }
  const caseReference = stated.require('caseReference', 'reference_unreadable', (value) =>
    readReference(value, referenceFormOf('dispute')),
  )
  const outcome = stated.read('status', 'status_unreadable', readDisputeOutcome) ?? 'OPEN'
  stated.refuseBeside('status_unreadable', (name, value) => contradictsDispute(name, value, outcome))
  const utr = statedReference(stated, 'utr') ?? null
  const amountPaise =
    outcome === 'OPEN'
      ? stated.require('amount', 'amount_unreadable', readMoney)
      : stated.read('amount', 'amount_unreadable', readMoney)
  const reason = stated.text('reason') ?? null
  const evidenceDueAt = stated.read('respondBy', 'time_unreadable', readInstant) ?? null
  if (stated.problem || caseReference === undefined)
    return { unreadable: 'reference_unreadable', ...stated.problem, utr: utr ?? undefined }
  return { report: { caseReference, utr, amountPaise, reason, outcome, evidenceDueAt } }
}
