import { BankCreditResponse, creditToWire } from '@svc/core/cards/account/bank-credit'
import { receiveBankCredit } from '@svc/core/cards/account/receive-bank-credit'
import { readTransferNotice } from '@svc/core/cards/account/transfer-notice'
import { NoticeReceipt } from '@svc/core/rails/rail-notice'
import { required } from '@svc/kernel/invariant'
import { Type } from 'typebox'
import { ok, operation } from '../http/operation.ts'
import { adapterOf, BANK_QUERY, isFresh, noticeReply, SIGNATURE } from '../rails/authenticate-rail.ts'

export const BANK_RAIL_TAG = 'Bank rail'

const text = (description: string) => Type.Optional(Type.String({ description }))

const TransferNotice = Type.Object(
  {
    utr: Type.Unsafe<string | number>({
      type: ['string', 'number'],
      description: 'The bank’s reference of the transfer; compared without case and separators',
    }),
    virtualAccount: Type.String({
      description: 'The number from the funding instructions; compared without case and separators',
    }),
    amount: Type.Unsafe<string | number>({ type: ['string', 'number'], description: 'Rupees' }),
    currency: Type.Optional(
      Type.Unsafe<string | number>({
        type: ['string', 'number'],
        description: '`INR`; a notice in another currency goes to quarantine',
      }),
    ),
    status: text('A word of success, such as `SUCCESS`; any other goes to quarantine'),
    remitterName: text('Who transferred it'),
    remitterAccount: text('From which account; may be masked'),
    mode: text('Such as `NEFT`, `RTGS`, `IMPS`'),
    transactionTime: text(
      'RFC 3339, or seconds since 1970: when the bank made the transaction. One without a zone goes to quarantine',
    ),
  },
  { description: 'Other fields are kept with the notice' },
)

/** Decision R15. */
export const receiveBankCreditOperation = operation({
  id: 'receiveBankCredit',
  method: 'POST',
  path: '/rails/bank/credits',
  tag: BANK_RAIL_TAG,
  summary: 'Notify a bank transfer to a card account',
  description:
    'Sent by the bank, signed. A signed notice is never rejected for its form or its age: it is stored as it is, then read. Idempotent by `utr`: a repeated notice gets the first response. A transfer that an operator entered before under its reference is not credited again: `ENTERED_BEFORE`. A notice of which a field cannot be read or says that no money came, that is of another kind, names no card account, or contradicts what is recorded under its `utr` goes to quarantine: 202.',
  auth: 'bankRail',
  envelope: 'response_code',
  headers: SIGNATURE,
  body: TransferNotice,
  acceptsAnyBody: true,
  query: BANK_QUERY,
  result: Type.Union([BankCreditResponse, NoticeReceipt]),
  accepted: NoticeReceipt,
  errors: [],
  run: receiveBankCredit,
  args: ({ rawBody, caller, query }, services) => {
    const nowMs = services.clock.now()
    const adapter = adapterOf(services, query)
    return {
      notice: rawBody,
      mayBeElsewhere: caller.mayBeElsewhere,
      read: readTransferNotice(rawBody, new Date(nowMs), isFresh(caller, nowMs), adapter),
    }
  },
  reply: ({ credit, kept }, { timeZone }) =>
    credit
      ? ok(creditToWire(credit, timeZone))
      : noticeReply(required(kept, 'a notice is a credit or is kept')),
})
