import { failField } from '@svc/contract/fail-fields'
import { PAYMENT_STATUSES } from '@svc/core/payments/payment'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { readInstant } from '@svc/server/http/fields'
import { Filters } from '@svc/server/http/list'
import { type Static, Type } from 'typebox'
import { closed, createdRange, exact, oneOf } from './console-schema.ts'

export const PAYMENT_FILTERS = {
  q: exact('Id of the payment, or the bank’s reference (UTR) in any case', 64),
  merchantId: exact('Of this merchant'),
  status: oneOf(PAYMENT_STATUSES, 'Only these'),
  amount: Type.Optional(
    Type.String({
      maxLength: 20,
      description: 'Rupees, exactly, such as `249.50`; needs `merchantId` or `createdFrom`',
    }),
  ),
  referenceNumber: exact('Reference number of the code that was paid', 255),
  ...createdRange,
}
const PaymentFilters = closed(PAYMENT_FILTERS)
type PaymentQuery = Static<typeof PaymentFilters>

/** Conditions on payments `p`, which hold to the millisecond. */
export function paymentFilters(query: PaymentQuery): Filters {
  const { createdFrom, createdTo, merchantId, q, referenceNumber, status } = query
  const [from, to] = [readInstant('createdFrom', createdFrom), readInstant('createdTo', createdTo)]
  const filters = new Filters()
    .add('p.merchant_id = ?', merchantId)
    .add('p.status = ?', status)
    .add('p.amount_paise = ?', amountFilter(query))
    .add(
      '(p.merchant_id, p.qr_code_id) in (select q.merchant_id, q.qr_code_id from qr_codes q where q.reference_number = ?)',
      referenceNumber,
    )
  // An index leads from the merchant to its payments by time; among all merchants only ids are in that order.
  if (merchantId === undefined) filters.createdExactly('p.payment_id', 'pay', 'p.created_at', from, to)
  else filters.add('p.created_at >= ?', from).add('p.created_at < ?', to)
  if (q?.startsWith('pay_')) filters.add('p.payment_id = ?', q)
  else if (q !== undefined) filters.add('p.utr = ?', canonicalReference(q))
  return filters
}

function amountFilter({ amount, createdFrom, merchantId, q }: PaymentQuery): bigint | undefined {
  if (amount === undefined) return undefined
  // No index leads to amounts: without one of these every payment ever made would be read.
  if (merchantId === undefined && createdFrom === undefined && q === undefined)
    failField('amount', 'not_allowed', 'can only be sent together with merchantId or createdFrom', 'query')
  return (
    valueIn(readAmount(amount)) ?? failField('amount', 'format', 'must be rupees such as 249.50', 'query')
  )
}
