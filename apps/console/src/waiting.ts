import { queryOptions } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from './api.ts'

export type WaitingItem = Schemas['WaitingItem']

export const waitingQuery = queryOptions({
  queryKey: ['waiting'],
  queryFn: () => responseOf(api.GET('/waiting')),
})

/** Where what waits is done. */
export const WAITS_AT: Readonly<Record<WaitingItem['item'], string>> = {
  disputes: '/disputes',
  approvals: '/approvals',
  change_requests: '/approvals',
  payouts_to_approve: '/payouts',
  payouts_unanswered: '/payouts',
  refunds_late: '/refunds',
  credits_to_return: '/payments',
  bank_statements: '/bank-files',
  settlement_files: '/bank-files',
  suspense: '/suspense',
  statement_lines: '/statements',
  settlement_lines: '/settlements/open-lines',
  notices: '/notices',
  events: '/webhooks',
  book_months: '/close',
}
