import { fail } from '@svc/contract/errors'
import { carriedOut } from '@svc/core/ledger/money-command'
import { closeDispute } from '@svc/core/payments/close-dispute'
import {
  DISPUTE_STATUSES,
  type Dispute,
  DisputeRecord,
  disputes,
  disputeToWire,
  looksLikeDisputeId,
} from '@svc/core/payments/dispute'
import { submitEvidence } from '@svc/core/payments/submit-evidence'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { ok, operation, query, succeed } from '../http/operation.ts'
import { PAGE_IN_QUERY, PageOf, page, readPage } from '../http/page.ts'

const PATH = '/api/v0/disputes'
const TAG = 'Disputes'
const DisputeParams = Type.Object({ disputeId: Type.String({ description: 'The id of the dispute' }) })

const existing = (disputeId: string): string =>
  looksLikeDisputeId(disputeId) ? disputeId : fail('dispute_not_found')

const LIST = statement<Dispute>(
  'disputes_of_merchant',
  `select ${disputes.columns} from disputes d
   where d.merchant_id = $1 and ($2::text is null or d.status = $2)
     and ($3::timestamptz is null or (d.created_at, d.dispute_id) < ($3, $4::text))
   order by d.created_at desc, d.dispute_id desc limit $5`,
)

/** Not in the specification (decision Q17). */
export const listDisputes = query({
  id: 'listDisputes',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List disputes',
  description: 'Newest first; pass `next` back as `after` for the next page.',
  auth: 'merchant',
  scope: 'disputes:read',
  envelope: 'response_code',
  query: Type.Object(
    {
      ...PAGE_IN_QUERY,
      status: Type.Optional(Type.Enum([...DISPUTE_STATUSES], { description: 'Only these' })),
    },
    { additionalProperties: false },
  ),
  result: PageOf(DisputeRecord),
  errors: [],
  mount({ database, config }) {
    return async ({ caller: { tenantId }, query }) => {
      const { limit, after } = readPage(query)
      const rows = await database.read([tenantId], (tx) =>
        tx.query(LIST, [tenantId, query.status ?? null, after?.at, after?.id, limit + 1]),
      )
      const positionOf = (dispute: Dispute) => ({ at: dispute.createdAt, id: dispute.disputeId })
      return {
        body: succeed(
          page(rows, limit, positionOf, (dispute) => disputeToWire(dispute, config.BUSINESS_TIME_ZONE)),
        ),
      }
    }
  },
})

const FIND = statement<Dispute>(
  'dispute_of_merchant',
  `select ${disputes.columns} from disputes d where d.merchant_id = $1 and d.dispute_id = $2`,
)

/** Not in the specification (decision Q17). */
export const getDispute = query({
  id: 'getDispute',
  method: 'GET',
  path: `${PATH}/:disputeId`,
  tag: TAG,
  summary: 'Get dispute',
  auth: 'merchant',
  scope: 'disputes:read',
  envelope: 'response_code',
  params: DisputeParams,
  result: DisputeRecord,
  errors: ['dispute_not_found'],
  mount({ database, config }) {
    return async ({ caller: { tenantId }, params: { disputeId } }) => {
      const [dispute] = await database.read([tenantId], (tx) =>
        tx.query(FIND, [tenantId, existing(disputeId)]),
      )
      return {
        body: succeed(disputeToWire(dispute ?? fail('dispute_not_found'), config.BUSINESS_TIME_ZONE)),
      }
    }
  },
})

/** Not in the specification (decision Q17). */
export const submitEvidenceOperation = operation({
  id: 'submitEvidence',
  method: 'POST',
  path: `${PATH}/:disputeId/evidence`,
  tag: TAG,
  summary: 'Submit evidence',
  description:
    'Contests a dispute, once and before `evidenceDueOn`. A repeat of the same text returns the dispute as it is now.',
  auth: 'merchant',
  scope: 'disputes:write',
  envelope: 'response_code',
  params: DisputeParams,
  body: Type.Object(
    {
      evidence: Type.String({
        minLength: 1,
        maxLength: 4000,
        description: 'What shows that the payment is due, such as proof of delivery',
      }),
    },
    { additionalProperties: false },
  ),
  result: DisputeRecord,
  errors: ['dispute_not_found', 'dispute_closed'],
  run: submitEvidence,
  args: ({ caller, params, body: { evidence } }) => ({
    merchantId: caller.tenantId,
    disputeId: existing(params.disputeId),
    evidence,
  }),
  reply: (outcome, { timeZone }) => ok(disputeToWire(carriedOut(outcome).dispute, timeZone)),
})

/** Not in the specification (decision Q17). */
export const acceptDisputeOperation = operation({
  id: 'acceptDispute',
  method: 'POST',
  path: `${PATH}/:disputeId/accept`,
  tag: TAG,
  summary: 'Accept dispute',
  description: 'The payer gets the disputed amount back, for good. A repeat returns the dispute.',
  auth: 'merchant',
  scope: 'disputes:write',
  envelope: 'response_code',
  params: DisputeParams,
  body: Type.Object({}, { additionalProperties: false }),
  result: DisputeRecord,
  errors: ['dispute_not_found', 'dispute_closed'],
  run: closeDispute,
  args: ({ caller, params }) => ({
    merchantId: caller.tenantId,
    disputeId: existing(params.disputeId),
    outcome: 'ACCEPTED' as const,
  }),
  reply: (outcome, { timeZone }) => ok(disputeToWire(carriedOut(outcome).dispute, timeZone)),
})
