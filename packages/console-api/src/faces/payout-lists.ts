import { fail } from '@svc/contract/errors'
import { PAYOUT_STATUSES, type PayoutLine } from '@svc/core/payments/payouts/payout'
import { formatRupees } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { query } from '@svc/server/http/operation'
import { fieldsOf, filterSchemas, filtersOf, findRow, listOf } from '@svc/server/http/resource'
import { type ListedPayout, payout, payoutLine, requirePayout } from '@svc/server/payments/payouts'
import { Type } from 'typebox'
import { closed, consoleOperation, idParam, record, rupeesText, text } from '../console-schema.ts'
import { HistoryEntry, historyItemToWire, readHistory } from '../records/history.ts'
import { PATH, payoutHistoryItems, payoutRowToWire, TAG } from './payout-record.ts'

export const listPayoutsInConsole = listOf<ListedPayout>(payout, {
  ...consoleOperation,
  id: 'console.listPayouts',
  path: PATH,
  tag: TAG,
  summary: 'List payouts to all merchants',
  permission: 'view',
})

/** Payouts that are added up; a filter that finds more says so. */
const SUMMED_MAX = 200_000
const summed = Type.Integer({ description: 'Payouts' })
const PayoutTotals = record('PayoutTotals', {
  count: summed,
  amount: rupeesText,
  fees: rupeesText,
  tax: rupeesText,
  exact: Type.Boolean({
    description: `False: the filter finds more than ${SUMMED_MAX} payouts, of which so many are added up`,
  }),
  byStatus: Type.Array(
    record('PayoutTotal', { status: Type.Enum([...PAYOUT_STATUSES]), count: summed, amount: rupeesText }),
  ),
})

interface SumRow {
  status: (typeof PAYOUT_STATUSES)[number]
  count: bigint
  amount: bigint
  fees: bigint
  tax: bigint
}

function totalsToWire(rows: readonly SumRow[]) {
  const sum = (of: (row: SumRow) => bigint) => rows.reduce((total, row) => total + of(row), 0n)
  const count = Number(sum((row) => row.count))
  return {
    count,
    amount: formatRupees(sum(({ amount }) => amount)),
    fees: formatRupees(sum(({ fees }) => fees)),
    tax: formatRupees(sum(({ tax }) => tax)),
    exact: count <= SUMMED_MAX,
    byStatus: PAYOUT_STATUSES.flatMap((status) =>
      rows
        .filter((row) => row.status === status)
        .map((row) => ({ status, count: Number(row.count), amount: formatRupees(row.amount) })),
    ),
  }
}

export const sumPayouts = query({
  ...consoleOperation,
  id: 'console.sumPayouts',
  method: 'GET',
  path: `${PATH}/totals`,
  tag: TAG,
  summary: 'Add up payouts to all merchants',
  permission: 'view',
  query: closed(filterSchemas(payout, 'operator')),
  result: PayoutTotals,
  errors: [],
  mount({ database }) {
    return async ({ query }) => {
      const { conditions, values } = filtersOf<ListedPayout>(
        payout,
        { reader: 'operator' },
        query as Record<string, unknown>,
      )
      const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''
      const text = `select f.status, count(*) as count, sum(f.amount_paise)::bigint as amount,
          sum(f.fee_paise)::bigint as fees, sum(f.cgst_paise + f.sgst_paise + f.igst_paise)::bigint as tax
        from (select y.* from payouts y ${where} limit ${SUMMED_MAX + 1}) f group by f.status`
      const rows = await database.report((tx) => tx.query<SumRow>({ name: '', text }, values))
      return { body: JSON.stringify(totalsToWire(rows)) }
    }
  },
})

const findPayout = async (tx: Tx, payoutId: string): Promise<ListedPayout> =>
  (await findRow<ListedPayout>(tx, payout, { reader: 'operator' }, payoutId)) ?? fail('payout_not_found')

export const showPayout = query({
  ...consoleOperation,
  id: 'console.showPayout',
  method: 'GET',
  path: `${PATH}/:payoutId`,
  tag: TAG,
  summary: 'Show payout with everything that happened to it',
  permission: 'view',
  params: idParam('payoutId'),
  result: record('PayoutDetail', {
    ...fieldsOf(payout, 'operator'),
    bankAccount: record('PayoutBankAccount', {
      holder: text(),
      ends: text('The last four digits of its number'),
      ifsc: text('Code of the branch'),
    }),
    history: Type.Array(HistoryEntry, { description: 'Oldest first' }),
  }),
  errors: ['payout_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { payoutId } }) => {
      const { history, found } = await database.operate(async (tx) => {
        const read = await findPayout(tx, payoutId)
        const subject = {
          tenantId: read.merchantId,
          objectIds: [payoutId],
          known: payoutHistoryItems(read),
        }
        return { found: read, history: await readHistory(tx, subject) }
      })
      const { accountHolder, accountNumber, ifsc } = found
      return {
        body: JSON.stringify({
          ...payoutRowToWire(found, timeZone),
          bankAccount: { holder: accountHolder, ends: accountNumber.slice(-4), ifsc },
          history: history.map((each) => historyItemToWire(each, timeZone)),
        }),
      }
    }
  },
})

export const listPayoutLinesInConsole = listOf<PayoutLine>(payoutLine, {
  ...consoleOperation,
  id: 'console.listPayoutLines',
  path: `${PATH}/:payoutId/lines`,
  tag: TAG,
  summary: 'List payments and refunds of a payout, each with its fee and the tax on it',
  permission: 'view',
  params: idParam('payoutId'),
  errors: ['payout_not_found'],
  within: requirePayout,
})
