import { fail } from '@svc/contract/errors'
import { carriedOut } from '@svc/core/ledger/money-command'
import { closeDispute } from '@svc/core/payments/disputes/close-dispute'
import {
  DISPUTE_STATUSES,
  type Dispute,
  DisputeRecord,
  disputes,
  disputeToWire,
  looksLikeDisputeId,
} from '@svc/core/payments/disputes/dispute'
import { submitEvidence } from '@svc/core/payments/disputes/submit-evidence'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { Type } from 'typebox'
import { amountFilters } from '../http/amount-filters.ts'
import { listWithCsv } from '../http/list-csv.ts'
import { commandContract, operation } from '../http/operation.ts'
import {
  choiceFilter,
  createdFilters,
  exactFilter,
  idFilter,
  merchantNameOf,
  type Resource,
  showOf,
} from '../http/resource.ts'
import { DisputeParams, EvidenceRequest, existingDispute, ofDisputes } from './dispute-evidence.ts'

const PATH = '/api/v0/disputes'
/** A dispute, and for operators whose it is. */
export type ListedDispute = Dispute & { readonly merchantName: string }

/** Disputes, as every reader sees and finds them. */
export const dispute = {
  titles: { tenant: 'Dispute', operator: 'DisputeRow' },
  record: { schema: DisputeRecord, toWire: disputeToWire },
  looksLikeId: looksLikeDisputeId,
  from: {
    columns: disputes.columns,
    table: 'disputes d',
    alias: 'd',
  },
  operatorFrom: merchantNameOf('d'),
  tenant: 'd.merchant_id',
  keys: [{ sql: 'd.dispute_id', type: 'text' }],
  fields: {
    merchantId: { schema: Type.String(), of: ({ merchantId }) => merchantId, operatorOnly: true },
    merchantName: { schema: Type.String(), of: ({ merchantName }) => merchantName, operatorOnly: true },
  },
  filters: {
    q: {
      schema: exactFilter(
        'Id of the dispute or of its payment, or the network’s reference of the case in any case',
      ),
      sql: (filters, q) => {
        if (q.startsWith('pay_')) filters.add('d.payment_id = ?', q)
        else if (q.startsWith('dsp_')) filters.add('d.dispute_id = ?', q)
        else filters.add('d.case_reference = ?', canonicalReference(q))
      },
      operatorOnly: true,
    },
    merchantId: { schema: idFilter('Of this merchant'), sql: 'd.merchant_id = ?', operatorOnly: true },
    status: { schema: choiceFilter(DISPUTE_STATUSES), sql: 'd.status = ?' },
    paymentId: { schema: idFilter('Of this payment'), sql: 'd.payment_id = ?' },
    caseReference: {
      schema: exactFilter('The network’s reference of the case, in any case'),
      sql: (filters, text) => filters.add('d.case_reference = ?', canonicalReference(text)),
    },
    ...amountFilters('d.amount_paise', ['merchantId', 'paymentId', 'q', 'createdFrom']),
    ...createdFilters('dsp', 'd.dispute_id', 'd.created_at'),
  },
} satisfies Resource<ListedDispute>

/** Not in the specification (decision Q17). */
export const listDisputes = listWithCsv<ListedDispute>(dispute, {
  ...ofDisputes('disputes:read'),
  id: 'listDisputes',
  path: PATH,
  summary: 'List disputes',
  description: 'Newest first; pass `next` back as `after` for the next page.',
})

/** Not in the specification (decision Q17). */
export const getDispute = showOf<ListedDispute>(dispute, {
  ...ofDisputes('disputes:read'),
  id: 'getDispute',
  path: `${PATH}/:disputeId`,
  summary: 'Get dispute',
  params: DisputeParams,
  errors: ['dispute_not_found'],
  notFound: () => fail('dispute_not_found'),
})

/** Not in the specification (decision Q17). */
export const submitEvidenceContract = commandContract({
  ...ofDisputes('disputes:write'),
  id: 'submitEvidence',
  method: 'POST',
  path: `${PATH}/:disputeId/evidence`,
  summary: 'Submit evidence',
  description:
    'Contests a dispute before `evidenceDueOn`. More evidence can follow until then; each is sent to the bank, and `evidenceSentOn` is absent until the newest was. The same again returns the dispute as it is now.',
  params: DisputeParams,
  body: EvidenceRequest,
  result: DisputeRecord,
  errors: [
    'dispute_not_found',
    'dispute_closed',
    'attachment_not_found',
    'attachment_in_use',
    'evidence_limit_reached',
  ],
  run: submitEvidence,
  args: ({ caller, params, body: { evidence, attachmentIds = [] } }) => ({
    merchantId: caller.tenantId,
    disputeId: existingDispute(params.disputeId),
    evidence,
    attachmentIds,
  }),
  reply: ({ dispute: contested }, { ok, timeZone }) => ok(disputeToWire(contested, timeZone)),
})
export const submitEvidenceOperation = operation(submitEvidenceContract)

/** Not in the specification (decision Q17). */
export const acceptDisputeContract = commandContract({
  ...ofDisputes('disputes:write'),
  id: 'acceptDispute',
  method: 'POST',
  path: `${PATH}/:disputeId/accept`,
  summary: 'Accept dispute',
  description: 'The payer gets the disputed amount back, for good. A repeat returns the dispute.',
  params: DisputeParams,
  body: Type.Object({}, { additionalProperties: false }),
  result: DisputeRecord,
  errors: ['dispute_not_found', 'dispute_closed'],
  run: closeDispute,
  args: ({ caller, params }) => ({
    merchantId: caller.tenantId,
    disputeId: existingDispute(params.disputeId),
    outcome: 'ACCEPTED' as const,
  }),
  reply: (outcome, { ok, timeZone }) => ok(disputeToWire(carriedOut(outcome).dispute, timeZone)),
})
export const acceptDisputeOperation = operation(acceptDisputeContract)
