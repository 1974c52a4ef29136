import { fail } from '@svc/contract/errors'
import {
  PAYOUT_STATUSES,
  type PayoutLine,
  PayoutLineRecord,
  payoutLines,
  payoutLineToWire,
} from '@svc/core/payments/payout'
import { formatRupees } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Filters, type ListPlan, readList } from '@svc/server/http/list'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import {
  BY_TIME,
  closed,
  consoleOperation,
  idParam,
  listOf,
  listQuery,
  maybe,
  record,
  rupeesText,
  text,
} from './console-schema.ts'
import { HistoryEntry, historyItemToWire, readHistory } from './history.ts'
import {
  COLUMNS,
  type ListedPayout,
  PATH,
  PAYOUT_FILTERS,
  PayoutRow,
  payoutFilters,
  payoutHistoryItems,
  rowOf,
  TAG,
} from './payout-record.ts'

const JOIN = 'join merchants m on m.merchant_id = y.merchant_id'

export const listPayoutsInConsole = query({
  ...consoleOperation,
  id: 'console.listPayouts',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List payouts to all merchants',
  permission: 'view',
  query: listQuery(BY_TIME, PAYOUT_FILTERS),
  result: listOf(PayoutRow),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const plan: ListPlan = {
        columns: COLUMNS,
        table: 'payouts y',
        alias: 'y',
        joins: JOIN,
        filters: payoutFilters(query),
        keys: [{ sql: 'y.payout_id', type: 'text' }],
        descending: query.sort !== 'created',
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: ListedPayout) => rowOf(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
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
  query: closed(PAYOUT_FILTERS),
  result: PayoutTotals,
  errors: [],
  mount({ database }) {
    return async ({ query }) => {
      const { conditions, values } = payoutFilters(query)
      const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''
      const text = `select f.status, count(*) as count, sum(f.amount_paise)::bigint as amount,
          sum(f.fee_paise)::bigint as fees, sum(f.cgst_paise + f.sgst_paise + f.igst_paise)::bigint as tax
        from (select y.* from payouts y ${where} limit ${SUMMED_MAX + 1}) f group by f.status`
      const rows = await database.report((tx) => tx.query<SumRow>({ name: '', text }, values))
      return { body: JSON.stringify(totalsToWire(rows)) }
    }
  },
})

const FIND = statement<ListedPayout>(
  'console_payout',
  `select ${COLUMNS} from payouts y ${JOIN} where y.payout_id = $1`,
)

const findPayout = async (tx: Tx, payoutId: string): Promise<ListedPayout> =>
  (await tx.query(FIND, [payoutId]))[0] ?? fail('payout_not_found')

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
    row: PayoutRow,
    bankAccount: record('PayoutBankAccount', {
      holder: text(),
      ends: text('The last four digits of its number'),
      ifsc: text('Code of the branch'),
    }),
    runId: maybe('The run that sent it to the bank'),
    history: Type.Array(HistoryEntry, { description: 'Oldest first' }),
  }),
  errors: ['payout_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { payoutId } }) => {
      const { history, payout } = await database.operate(async (tx) => {
        const found = await findPayout(tx, payoutId)
        const subject = {
          tenantId: found.merchantId,
          objectIds: [payoutId],
          known: payoutHistoryItems(found),
        }
        return { payout: found, history: await readHistory(tx, subject) }
      })
      const { accountHolder, accountNumber, ifsc, runId } = payout
      return {
        body: JSON.stringify({
          row: rowOf(payout, timeZone),
          bankAccount: { holder: accountHolder, ends: accountNumber.slice(-4), ifsc },
          runId: runId ?? undefined,
          history: history.map((each) => historyItemToWire(each, timeZone)),
        }),
      }
    }
  },
})

export const listPayoutLinesInConsole = query({
  ...consoleOperation,
  id: 'console.listPayoutLines',
  method: 'GET',
  path: `${PATH}/:payoutId/lines`,
  tag: TAG,
  summary: 'List payments and refunds of a payout, each with its fee and the tax on it',
  permission: 'view',
  params: idParam('payoutId'),
  query: listQuery(['created'], {}),
  result: listOf(PayoutLineRecord),
  errors: ['payout_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { payoutId }, query }) => {
      const page = await database.report(async (tx) => {
        const { merchantId } = await findPayout(tx, payoutId)
        const plan: ListPlan = {
          columns: payoutLines.columns,
          table: 'payout_lines l',
          alias: 'l',
          filters: new Filters().add('l.merchant_id = ?', merchantId).add('l.payout_id = ?', payoutId),
          keys: [
            { sql: 'l.occurred_at', type: 'timestamptz' },
            { sql: 'l.object_id', type: 'text' },
          ],
          descending: false,
        }
        return readList(tx, plan, query, (line: PayoutLine) => payoutLineToWire(line, timeZone))
      })
      return { body: JSON.stringify(page) }
    }
  },
})
