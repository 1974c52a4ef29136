import { fail } from '@svc/contract/errors'
import { canonicalReference } from '@svc/kernel/bank-reference'
import type { Paise } from '@svc/kernel/money'
import type { RailNotice } from '../rails/rail-notice.ts'
import type { Credit } from './credit-notice.ts'

/** What an operator reads in a notice that the service could not. */
export interface Reading {
  readonly utr: string
  readonly amountPaise: Paise
  readonly tr?: string | undefined
  readonly payeeVpa?: string | undefined
}

/** What `acceptPayment` is asked when an operator assigns a notice in quarantine. */
export function assignmentOf(notice: RailNotice | undefined, reading: Reading, actor: string) {
  const { tenantId: noticeTenantId, noticeId, body, flags, status } = notice ?? fail('notice_not_found')
  if (status !== 'QUARANTINED') fail('notice_not_in_quarantine')
  if (flags.includes('refund_notice'))
    fail('notice_not_in_quarantine', {
      description: 'The notice reports a refund: confirm or fail that refund with it',
    })
  if (flags.includes('dispute_notice'))
    fail('notice_not_in_quarantine', {
      description: 'The notice reports a dispute: close that dispute with it',
    })
  if (flags.includes('transfer_notice'))
    fail('notice_not_in_quarantine', {
      description: 'The notice reports a transfer to a card account: fund that account with it',
    })
  const utr = canonicalReference(reading.utr)
  if (utr.length < 6 || utr.length > 35)
    fail('validation_failed', { description: 'utr: must have 6 to 35 letters and digits' })
  const credit: Credit = {
    utr,
    tr: canonicalReference(reading.tr ?? ''),
    amountPaise: reading.amountPaise,
    payerVpa: null,
    payeeVpa: reading.payeeVpa ?? null,
    transactionAt: null,
    flags,
  }
  return { notice: body, read: { credit }, assigns: { noticeTenantId, noticeId, actor } }
}
