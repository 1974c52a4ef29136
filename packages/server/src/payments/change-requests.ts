import {
  CHANGE_STATUSES,
  type ChangeRequest,
  ChangeRequestRecord,
  changeRequests,
  changeRequestToWire,
} from '@svc/core/payments/payouts/change-requests'
import { Type } from 'typebox'
import { choiceFilter, exactFilter, idFilter, merchantNameOf, type Resource } from '../http/resource.ts'

/** What a merchant asks for, with its name. */
export type ListedChange = ChangeRequest & { readonly merchantName: string }

/** Bank accounts, payment addresses and fees that merchants ask for, as operators find them (decision O8). */
export const changeRequest = {
  titles: { operator: 'ChangeRequestRow' },
  record: { schema: ChangeRequestRecord, toWire: changeRequestToWire },
  from: { columns: changeRequests.columns, table: 'change_requests c', alias: 'c' },
  operatorFrom: merchantNameOf('c'),
  tenant: 'c.merchant_id',
  keys: [{ sql: 'c.approval_id', type: 'text' }],
  fields: {
    merchantId: { schema: Type.String(), of: ({ merchantId }) => merchantId, operatorOnly: true },
    merchantName: { schema: Type.String(), of: ({ merchantName }) => merchantName, operatorOnly: true },
  },
  filters: {
    q: { schema: exactFilter('Id of the request'), sql: 'c.approval_id = ?' },
    merchantId: { schema: idFilter('Of this merchant'), sql: 'c.merchant_id = ?' },
    status: {
      schema: choiceFilter(CHANGE_STATUSES),
      sql: (filters, status) =>
        status === 'PENDING'
          ? filters.conditions.push('c.outcome is null')
          : filters.add('c.outcome = ?', status),
    },
  },
} satisfies Resource<ListedChange>
