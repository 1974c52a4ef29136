import { approveChange, type ChangeRequest, rejectChange } from '@svc/core/payments/payouts/change-requests'
import { required } from '@svc/kernel/invariant'
import type { Tx } from '@svc/platform/db/database'
import { type Input, query, type Services } from '@svc/server/http/operation'
import { findRow, listOf, recordOf, toRecord } from '@svc/server/http/resource'
import { changeRequest, type ListedChange } from '@svc/server/payments/change-requests'
import { asOperator } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam, reasonText } from '../console-schema.ts'
import { vpaTaken } from './merchant-operations.ts'

const TAG = 'Approvals'
const PATH = `${CONSOLE_API}/change-requests`
const ChangeRequestRow = recordOf<ListedChange>(changeRequest, 'operator')
const toWire = toRecord<ListedChange>(changeRequest, 'operator')

export const listChangeRequests = listOf<ListedChange>(changeRequest, {
  ...consoleOperation,
  id: 'console.listChangeRequests',
  path: PATH,
  tag: TAG,
  summary: 'List bank accounts, payment addresses and fees that merchants ask for',
  permission: 'view',
})

const decided = async (
  services: Services,
  input: Input<unknown, unknown, unknown>,
  decide: (tx: Tx) => Promise<ChangeRequest>,
) => {
  const row = await asOperator(services, input, async (tx) => {
    const { approvalId } = await decide(tx)
    return findRow<ListedChange>(tx, changeRequest, { reader: 'operator' }, approvalId)
  })
  const record = toWire(required(row, 'what was decided is there'), services.config.BUSINESS_TIME_ZONE)
  return { body: JSON.stringify(record) }
}

export const approveChangeRequest = query({
  ...consoleOperation,
  id: 'console.approveChangeRequest',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:approvalId/approve`,
  tag: TAG,
  summary: 'Approve a bank account, a payment address or a fee that a merchant asks for',
  description:
    'A bank account is set at once, a payment address waits for as long as one that an operator enters, and a fee is charged from the first business day that is possible. Who approves a bank account cannot approve payouts to it.',
  permission: 'finance',
  params: idParam('approvalId'),
  result: ChangeRequestRow,
  errors: ['approval_not_found', 'approval_closed', 'already_exists'],
  mount(services) {
    return (input) =>
      decided(services, input, (tx) => approveChange(tx, input.params.approvalId, services)).catch(vpaTaken)
  },
})

export const rejectChangeRequest = query({
  ...consoleOperation,
  id: 'console.rejectChangeRequest',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:approvalId/reject`,
  tag: TAG,
  summary: 'Reject a bank account, a payment address or a fee that a merchant asks for',
  description: 'What is there stays. The merchant reads the reason.',
  permission: 'finance',
  params: idParam('approvalId'),
  body: closed({ reason: reasonText('Why; the merchant reads it') }),
  result: ChangeRequestRow,
  errors: ['approval_not_found', 'approval_closed'],
  mount(services) {
    return (input) =>
      decided(services, input, (tx) => rejectChange(tx, input.params.approvalId, input.body.reason))
  },
})
