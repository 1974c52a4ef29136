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
} from '@svc/core/payments/payouts/payout'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { Type } from 'typebox'
import { amountFilters } from '../http/amount-filters.ts'
import { readDay } from '../http/fields.ts'
import { listWithCsv } from '../http/list-csv.ts'
import { tenantOperations } from '../http/operation.ts'
import {
  choiceFilter,
  createdFilters,
  exactFilter,
  findRow,
  idFilter,
  merchantNameOf,
  type Resource,
  type Scope,
  showOf,
} from '../http/resource.ts'

const PATH = '/api/v0/payouts'
export const ofPayouts = tenantOperations({ tag: 'Payouts', auth: 'merchant', envelope: 'response_code' })
const PayoutParams = Type.Object({ payoutId: Type.String({ description: 'The id of the payout' }) })

/** A payout, and for operators whose it is. */
export type ListedPayout = Payout & { readonly merchantName: string }

export const readBusinessDay = (day: string, where: 'body' | 'query'): string =>
  readDay('businessDay', day, where)

/** Payouts, as every reader sees and finds them. */
export const payout = {
  titles: { tenant: 'Payout', operator: 'PayoutRow' },
  record: { schema: PayoutRecord, toWire: payoutToWire },
  looksLikeId: looksLikePayoutId,
  from: {
    columns: payouts.columns,
    table: 'payouts y',
    alias: 'y',
  },
  operatorFrom: merchantNameOf('y'),
  tenant: 'y.merchant_id',
  keys: [{ sql: 'y.payout_id', type: 'text' }],
  fields: {
    merchantId: { schema: Type.String(), of: ({ merchantId }) => merchantId, operatorOnly: true },
    merchantName: { schema: Type.String(), of: ({ merchantName }) => merchantName, operatorOnly: true },
    preparedBy: {
      schema: Type.String({ description: 'Who may not approve it' }),
      of: ({ preparedBy }) => preparedBy,
      operatorOnly: true,
    },
    approvedBy: {
      schema: Type.Optional(Type.String()),
      of: ({ approvedBy }) => approvedBy,
      operatorOnly: true,
    },
    approvedOn: {
      schema: Type.Optional(Type.String({ description: 'RFC 3339 with milliseconds and zone offset' })),
      of: ({ approvedAt }, timeZone) => approvedAt && rfc3339(approvedAt, timeZone),
      operatorOnly: true,
    },
    runId: {
      schema: Type.Optional(Type.String({ description: 'The run that sent it to the bank' })),
      of: ({ runId }) => runId,
      operatorOnly: true,
    },
    returnUtr: {
      schema: Type.Optional(Type.String({ description: 'The bank’s own reference of its return' })),
      of: ({ returnUtr }) => returnUtr,
      operatorOnly: true,
    },
    paidLateOn: {
      schema: Type.Optional(
        Type.String({ description: 'When the bank reported that it had paid it, after its money was spent' }),
      ),
      of: ({ paidLateAt }, timeZone) => paidLateAt && rfc3339(paidLateAt, timeZone),
      operatorOnly: true,
    },
  },
  filters: {
    q: {
      schema: exactFilter('Id of the payout, or the bank’s reference of it or of its return'),
      sql: (filters, q) =>
        q.startsWith('pyo_')
          ? filters.add('y.payout_id = ?', q)
          : filters.add('? in (y.utr, y.return_utr)', canonicalReference(q)),
      operatorOnly: true,
    },
    merchantId: { schema: idFilter('To this merchant'), sql: 'y.merchant_id = ?', operatorOnly: true },
    status: { schema: choiceFilter(PAYOUT_STATUSES), sql: 'y.status = ?' },
    businessDay: {
      schema: exactFilter('Of this business day, `YYYY-MM-DD`', 10),
      sql: (filters, day) => filters.add('y.business_day = ?::date', readBusinessDay(day, 'query')),
    },
    utr: {
      schema: exactFilter('The bank’s own reference of the payout, in any case'),
      sql: (filters, utr) => filters.add('y.utr = ?', canonicalReference(utr)),
    },
    ...amountFilters('y.amount_paise', ['merchantId', 'businessDay', 'q', 'createdFrom']),
    ...createdFilters('pyo', 'y.payout_id', 'y.created_at'),
  },
} satisfies Resource<ListedPayout>

/** Not in the specification (decision Q15). */
export const listPayouts = listWithCsv<ListedPayout>(payout, {
  ...ofPayouts('payouts:read'),
  id: 'listPayouts',
  path: PATH,
  summary: 'List payouts',
  description: 'Newest first; pass `next` back as `after` for the next page.',
})

/** Not in the specification (decision Q15). */
export const getPayout = showOf<ListedPayout>(payout, {
  ...ofPayouts('payouts:read'),
  id: 'getPayout',
  path: `${PATH}/:payoutId`,
  summary: 'Get payout',
  params: PayoutParams,
  errors: ['payout_not_found'],
  notFound: () => fail('payout_not_found'),
})

/** What a payout is made of, as every reader sees it. */
export const payoutLine = {
  titles: { tenant: 'PayoutLine', operator: 'PayoutLine' },
  record: { schema: PayoutLineRecord, toWire: payoutLineToWire },
  from: { columns: payoutLines.columns, table: 'payout_lines l', alias: 'l' },
  tenant: 'l.merchant_id',
  keys: [
    { sql: 'l.occurred_at', type: 'timestamptz' },
    { sql: 'l.object_id', type: 'text' },
    { sql: 'l.kind', type: 'text' },
  ],
  usualSort: 'created',
  fields: {},
  filters: {
    payoutId: {
      schema: idFilter('Of this payout'),
      // The index begins with the merchant.
      sql: 'l.payout_id = ? and l.merchant_id = (select y.merchant_id from payouts y where y.payout_id = ?)',
    },
  },
} satisfies Resource<PayoutLine>

/** Fails where the reader has no such payout. */
export async function requirePayout(tx: Tx, scope: Scope, { payoutId = '' }: { payoutId?: string }) {
  if (!(await findRow<ListedPayout>(tx, payout, scope, payoutId))) fail('payout_not_found')
}

/** Not in the specification (decision Q15). */
export const listPayoutLines = listWithCsv<PayoutLine>(payoutLine, {
  ...ofPayouts('payouts:read'),
  id: 'listPayoutLines',
  path: `${PATH}/:payoutId/lines`,
  summary: 'List payments and refunds of a payout',
  description:
    'Oldest first, each payment with its fee and the tax on it; pass `next` back as `after` for the next page.',
  params: PayoutParams,
  errors: ['payout_not_found'],
  within: requirePayout,
})
