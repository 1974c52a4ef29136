import { fail } from '@svc/contract/errors'
import { findCredit } from '@svc/core/payments/suspense/find-suspense'
import { CANDIDATES_MAX, suspenseCandidates } from '@svc/core/payments/suspense/suspense-candidates'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { rfc3339 } from '@svc/kernel/time'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { CONSOLE_API, closed, consoleOperation, idParam, instant, record, text } from '../console-schema.ts'

export const showSuspenseCandidates = query({
  ...consoleOperation,
  id: 'console.showSuspenseCandidates',
  method: 'GET',
  path: `${CONSOLE_API}/payments/:paymentId/candidates`,
  tag: 'Payments',
  summary: 'Show whose a credit in suspense may be',
  description:
    'Merchants with a code of the same amount from the day before that is not paid, or whom the same payer has paid lately; the nearest in time first.',
  permission: 'view',
  params: idParam('paymentId'),
  result: closed({
    data: Type.Array(
      record('SuspenseCandidate', {
        merchantId: text(),
        merchantName: text(),
        why: Type.Enum(['amount', 'payer'], { description: 'What they have in common' }),
        name: text('Of the code, or of the payment'),
        createdOn: instant,
      }),
      { description: `At most ${CANDIDATES_MAX}` },
    ),
  }),
  errors: ['payment_not_found'],
  mount({ config, database }) {
    return async ({ params: { paymentId } }) => {
      const found = await database.report(async (tx) => {
        const credit =
          (await findCredit(tx, paymentId, canonicalReference(paymentId))) ?? fail('payment_not_found')
        return suspenseCandidates(tx, credit)
      })
      const data = found.map(({ at, ...candidate }) => ({
        ...candidate,
        createdOn: rfc3339(at, config.BUSINESS_TIME_ZONE),
      }))
      return { body: JSON.stringify({ data }) }
    }
  },
})
