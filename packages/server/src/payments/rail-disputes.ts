import { DisputeRecord, disputeToWire } from '@svc/core/payments/disputes/dispute'
import { readDisputeNotice } from '@svc/core/payments/disputes/dispute-notice'
import { receiveDispute } from '@svc/core/payments/disputes/receive-dispute'
import { NoticeReceipt } from '@svc/core/rails/rail-notice'
import { required } from '@svc/kernel/invariant'
import { Type } from 'typebox'
import { ok, operation } from '../http/operation.ts'
import { noticeReply, SIGNATURE } from '../rails/authenticate-rail.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))

const DisputeNotice = Type.Object(
  {
    caseReference: Type.String({
      description: 'The network’s reference of the case; compared without case and separators',
    }),
    utr: text('The bank’s reference of the disputed credit; required in the first notice of a case'),
    amount: Type.Optional(
      Type.Unsafe<string | number>({
        type: ['string', 'number'],
        description: 'Rupees, the payment or a part of it; required in the first notice of a case',
      }),
    ),
    currency: Type.Optional(
      Type.Unsafe<string | number>({
        type: ['string', 'number'],
        description: '`INR`; a notice in another currency goes to quarantine',
      }),
    ),
    status: text('`OPEN`, the default, `WON` or `LOST` by the merchant'),
    reason: text('Why the payer disputes it'),
    respondBy: text(
      'RFC 3339: until when the merchant can submit evidence; by default 7 days. One that has passed already counts as 24 hours from now',
    ),
  },
  { description: 'Other fields are kept with the notice' },
)

/** Decision Q17. */
export const receiveDisputeOperation = operation({
  id: 'receiveDispute',
  method: 'POST',
  path: '/rails/upi/disputes',
  tag: 'UPI rail',
  summary: 'Notify a dispute of a UPI credit, or its end',
  description:
    'Sent by the bank, signed. The first notice of a case takes the amount from the merchant until the dispute is decided; a later one with `status` ends it; one that was lost only because no evidence came in time can still be `WON`. A repeat changes nothing. A notice that cannot be read, is of another kind, fits no accepted payment, exceeds what is left of it, or contradicts what is recorded goes to quarantine: 202.',
  auth: 'rail',
  envelope: 'response_code',
  headers: SIGNATURE,
  body: DisputeNotice,
  acceptsAnyBody: true,
  result: DisputeRecord,
  accepted: NoticeReceipt,
  errors: [],
  run: receiveDispute,
  args: ({ rawBody: notice, caller: { mayBeElsewhere } }) => ({
    notice,
    mayBeElsewhere,
    read: readDisputeNotice(notice),
  }),
  reply: ({ dispute, kept }, { timeZone }) =>
    dispute
      ? ok(disputeToWire(dispute, timeZone))
      : noticeReply(required(kept, 'a notice is a dispute or is kept')),
})
