import { fail } from '@svc/contract/errors'
import { idFloor } from '@svc/contract/id-kinds'
import { findCredit } from '@svc/core/payments/suspense/find-suspense'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { rfc3339 } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { CONSOLE_API, closed, consoleOperation, idParam, instant, record, text } from '../console-schema.ts'
import { NEWEST_READ } from './search-sources.ts'

const HOUR_MS = 3_600_000
const HOURS_BEFORE = 24
const CANDIDATES_MAX = 5

interface Candidate {
  readonly merchantId: string
  readonly merchantName: string
  readonly why: 'amount' | 'payer'
  readonly name: string
  readonly at: Date
}

/** Of each merchant the nearest in time: an unpaid code of that amount, or a payment of that payer. */
const CANDIDATES = statement<Candidate>(
  'suspense_candidates',
  `select f.*, m.name as "merchantName" from (
     select distinct on (c."merchantId") c.* from (
       select q.merchant_id as "merchantId", 'amount' as why, coalesce(q.qr_name, q.tr) as name, q.created_at as at
       from qr_codes q
       where q.qr_code_id >= $1 and q.qr_code_id < $2 and q.amount_paise = $3 and q.accepted_count = 0
       union all
       select p.merchant_id, 'payer', 'UTR ' || p.utr, p.created_at
       from (select * from payments order by payment_id desc limit ${NEWEST_READ}) p
       where p.payer_vpa = $4 and p.status = 'ACCEPTED') c
     order by c."merchantId", abs(extract(epoch from c.at - $5::timestamptz))) f
   join merchants m on m.merchant_id = f."merchantId"
   order by abs(extract(epoch from f.at - $5::timestamptz)), f."merchantId" limit ${CANDIDATES_MAX}`,
)

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
        const { amountPaise, createdAt, payerVpa } = credit
        const from = idFloor('qr', new Date(createdAt.getTime() - HOURS_BEFORE * HOUR_MS))
        const to = idFloor('qr', new Date(createdAt.getTime() + HOUR_MS))
        return tx.query(CANDIDATES, [from, to, amountPaise, payerVpa, createdAt])
      })
      const data = found.map(({ at, ...candidate }) => ({
        ...candidate,
        createdOn: rfc3339(at, config.BUSINESS_TIME_ZONE),
      }))
      return { body: JSON.stringify({ data }) }
    }
  },
})
