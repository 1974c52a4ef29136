import type { RailAdapter } from '@svc/contract/rail-adapters'
import type { QuarantineReason, StatedField } from '../../rails/quarantine-reason.ts'
import { notNew, type RailNotice } from '../../rails/rail-notice.ts'
import { type Credit, type ReadNotice, readCreditNotice, utrOf } from '../credit-notice.ts'
import type { Payment } from '../payment.ts'

/** A notice that is no new payment. */
interface NotNewCredit {
  readonly tenantId: string
  readonly credit: Credit | undefined
  readonly args: { readonly notice: Buffer; readonly read: ReadNotice }
}

/** The record of a notice that is no new payment, with the payment that it concerns. */
export const toNotice = (
  { args, credit, tenantId }: NotNewCredit,
  about: Pick<Payment, 'paymentId'> | undefined,
  { reason, field, detail }: StatedField & { readonly reason: QuarantineReason | null },
  now: Date,
): RailNotice =>
  notNew(
    {
      tenantId,
      body: args.notice,
      reason,
      field,
      detail,
      utr: utrOf(args.read),
      paymentId: about?.paymentId,
      flags: credit?.flags ?? [],
    },
    now,
  )

/** The payee of a payment, which is in its notice alone; a notice of the same bank is read like it. */
export function payeeOf(
  { notice, utr }: { readonly notice: Buffer | null; readonly utr: string },
  adapter: RailAdapter | undefined,
  now: Date,
): string | null {
  const read = notice && adapter && readCreditNotice(notice, now, true, adapter)
  return read && 'credit' in read && read.credit.utr === utr ? read.credit.payeeVpa : null
}
