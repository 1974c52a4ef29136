import { fail } from '@svc/contract/errors'
import { canonicalReference, readReference } from '@svc/kernel/bank-reference'
import type { Paise } from '@svc/kernel/money'
import type { RailNotice } from '../../rails/rail-notice.ts'
import type { Credit } from '../credit-notice.ts'
import type { ReceiveDisputeArgs } from '../disputes/decide-dispute.ts'
import { readDisputeNotice } from '../disputes/dispute-notice.ts'

/** What an operator reads in a notice that the service could not; of a notice of a dispute nothing. */
export interface Reading {
  readonly utr?: string | undefined
  readonly amountPaise?: Paise | undefined
  readonly tr?: string | undefined
  readonly payeeVpa?: string | undefined
}

/** Whether the notice reports a dispute: it is assigned by carrying it out again, as the bank signed it. */
export const reportsDispute = ({ flags }: RailNotice): boolean => flags.includes('dispute_notice')

/** The arguments of `receiveDispute` when an operator has a notice in quarantine carried out again (decision Q17). */
export function disputeAssignmentOf(
  { tenantId: noticeTenantId, noticeId, body, status }: RailNotice,
  reading: Reading,
  actor: string,
): ReceiveDisputeArgs {
  if (status !== 'QUARANTINED') fail('notice_not_in_quarantine')
  if (Object.values(reading).some((field) => field !== undefined))
    fail('validation_failed', {
      description: 'The notice reports a dispute: it is carried out as the bank signed it, without a reading',
    })
  return { notice: body, read: readDisputeNotice(body), assigns: { noticeTenantId, noticeId, actor } }
}

/** The arguments of `acceptPayment` when an operator assigns a notice in quarantine. */
export function assignmentOf(notice: RailNotice, reading: Reading, actor: string) {
  const { tenantId: noticeTenantId, noticeId, body, flags, reason, status } = notice
  if (status !== 'QUARANTINED') fail('notice_not_in_quarantine')
  if (flags.includes('refund_notice'))
    fail('notice_not_in_quarantine', {
      description:
        'The notice reports a refund: confirm or fail that refund with it, or record the return of a credit with it',
      command: 'svc admin payments returned --notice',
    })
  if (flags.includes('transfer_notice'))
    fail('notice_not_in_quarantine', {
      description: 'The notice reports a transfer to a card account: fund that account with it',
    })
  if (reading.utr === undefined || reading.amountPaise === undefined)
    fail('validation_failed', {
      description: 'utr and amount: required, unless the notice reports a dispute',
    })
  const utr = readReference(reading.utr)
  if ('unreadable' in utr) fail('validation_failed', { description: `utr: ${utr.unreadable}` })
  const credit: Credit = {
    utr: utr.value,
    tr: canonicalReference(reading.tr ?? ''),
    amountPaise: reading.amountPaise,
    payerVpa: null,
    payeeVpa: reading.payeeVpa ?? null,
    transactionAt: null,
    flags,
  }
  return {
    notice: body,
    read: { credit, isCertain: true },
    assigns: { noticeTenantId, noticeId, actor },
    reason: reason ?? undefined,
  }
}
