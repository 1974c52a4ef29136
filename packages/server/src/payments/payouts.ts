import { fail } from '@svc/contract/errors'
import {
  looksLikePayoutId,
  PAYOUT_STATUSES,
  type Payout,
  type PayoutLine,
  PayoutLineRecord,
  PayoutRecord,
  payoutLines,
  payoutLineToWire,
  payouts,
  payoutToWire,
} from '@svc/core/payments/payout'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { query, succeed } from '../http/operation.ts'
import { PAGE_IN_QUERY, PageOf, PageQuery, page, readPage } from '../http/page.ts'

const PATH = '/api/v0/payouts'
const TAG = 'Payouts'
const PayoutParams = Type.Object({ payoutId: Type.String({ description: 'The id of the payout' }) })

const LIST = statement<Payout>(
  'payouts_of_merchant',
  `select ${payouts.columns} from payouts y
   where y.merchant_id = $1 and ($2::text is null or y.status = $2)
     and ($3::timestamptz is null or (y.created_at, y.payout_id) < ($3, $4::text))
   order by y.created_at desc, y.payout_id desc limit $5`,
)

/** Not in the specification (decision Q15). */
export const listPayouts = query({
  id: 'listPayouts',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List payouts',
  description: 'Newest first; pass `next` back as `after` for the next page.',
  auth: 'merchant',
  scope: 'payouts:read',
  envelope: 'response_code',
  query: Type.Object(
    {
      ...PAGE_IN_QUERY,
      status: Type.Optional(Type.Enum([...PAYOUT_STATUSES], { description: 'Only these' })),
    },
    { additionalProperties: false },
  ),
  result: PageOf(PayoutRecord),
  errors: [],
  mount({ database, config }) {
    return async ({ caller: { tenantId }, query }) => {
      const { limit, after } = readPage(query)
      const rows = await database.read([tenantId], (tx) =>
        tx.query(LIST, [tenantId, query.status ?? null, after?.at, after?.id, limit + 1]),
      )
      const positionOf = (payout: Payout) => ({ at: payout.createdAt, id: payout.payoutId })
      return {
        body: succeed(
          page(rows, limit, positionOf, (payout) => payoutToWire(payout, config.BUSINESS_TIME_ZONE)),
        ),
      }
    }
  },
})

const FIND = statement<Payout>(
  'payout_of_merchant',
  `select ${payouts.columns} from payouts y where y.merchant_id = $1 and y.payout_id = $2`,
)

/** Not in the specification (decision Q15). */
export const getPayout = query({
  id: 'getPayout',
  method: 'GET',
  path: `${PATH}/:payoutId`,
  tag: TAG,
  summary: 'Get payout',
  auth: 'merchant',
  scope: 'payouts:read',
  envelope: 'response_code',
  params: PayoutParams,
  result: PayoutRecord,
  errors: ['payout_not_found'],
  mount({ database, config }) {
    return async ({ caller: { tenantId }, params: { payoutId } }) => {
      const [payout] = looksLikePayoutId(payoutId)
        ? await database.read([tenantId], (tx) => tx.query(FIND, [tenantId, payoutId]))
        : []
      return { body: succeed(payoutToWire(payout ?? fail('payout_not_found'), config.BUSINESS_TIME_ZONE)) }
    }
  },
})

const LINES = statement<PayoutLine>(
  'payout_lines_of_payout',
  `select ${payoutLines.columns} from payout_lines l
   where l.merchant_id = $1 and l.payout_id = $2
     and ($3::timestamptz is null or (l.occurred_at, l.object_id) > ($3, $4::text))
   order by l.occurred_at, l.object_id limit $5`,
)

/** Not in the specification (decision Q15). */
export const listPayoutLines = query({
  id: 'listPayoutLines',
  method: 'GET',
  path: `${PATH}/:payoutId/lines`,
  tag: TAG,
  summary: 'List payments and refunds of a payout',
  description:
    'Oldest first, each payment with its fee and the tax on it; pass `next` back as `after` for the next page.',
  auth: 'merchant',
  scope: 'payouts:read',
  envelope: 'response_code',
  params: PayoutParams,
  query: PageQuery,
  result: PageOf(PayoutLineRecord),
  errors: ['payout_not_found'],
  mount({ database, config }) {
    return async ({ caller: { tenantId }, params: { payoutId }, query }) => {
      const { limit, after } = readPage(query)
      if (!looksLikePayoutId(payoutId)) fail('payout_not_found')
      const rows = await database.read([tenantId], async (tx) => {
        const [payout] = await tx.query(FIND, [tenantId, payoutId])
        if (!payout) fail('payout_not_found')
        return tx.query(LINES, [tenantId, payoutId, after?.at, after?.id, limit + 1])
      })
      const positionOf = (line: PayoutLine) => ({ at: line.occurredAt, id: line.objectId })
      return {
        body: succeed(
          page(rows, limit, positionOf, (line) => payoutLineToWire(line, config.BUSINESS_TIME_ZONE)),
        ),
      }
    }
  },
})
