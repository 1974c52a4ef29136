import { Text } from '@mantine/core'
import { dayOf, startOfDay } from '../../business-day.ts'
import { listQuery } from '../../list-query.ts'
import { useListSearch } from '../../list-search.ts'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { AMOUNT, type Filter } from '../../parts/filters.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Money } from '../../parts/money.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { StatusBadge, statusLabel } from '../../parts/status-badge.tsx'
import { useSession } from '../../session.ts'
import { sentenceCase } from '../../words.ts'
import { getList } from '../api.ts'
import { CsvDownload } from '../csv-download.tsx'

export interface PaymentRow {
  readonly paymentId: string
  readonly utr: string
  readonly amount: number
  readonly status: string
  readonly reason?: string
  readonly createdOn: string
  readonly refundedAmount?: number
  readonly referenceNumber?: string
}

export const PAYMENT_COLUMNS: readonly Column<PaymentRow>[] = [
  {
    title: 'Payment',
    cell: ({ paymentId, utr }) => <ObjectLink kind="payment" id={paymentId}>{`UTR ${utr}`}</ObjectLink>,
  },
  {
    title: 'Status',
    cell: ({ status, reason }) => (
      <>
        <StatusBadge state={status} />
        {reason && (
          <Text size="xs" c="dimmed">
            {sentenceCase(reason)}
          </Text>
        )}
      </>
    ),
  },
  {
    title: 'Amount',
    align: 'right',
    sum: ({ amount }) => amount,
    cell: ({ amount, refundedAmount }) => (
      <>
        <Money amount={amount} fw={600} />
        {refundedAmount !== undefined && (
          <Text size="xs" c="dimmed">
            refunded <Money amount={refundedAmount} />
          </Text>
        )}
      </>
    ),
  },
  { title: 'Reference', cell: ({ referenceNumber }) => referenceNumber ?? '–' },
  { title: 'Received', cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const STATUSES = ['ACCEPTED', 'REFUND_PENDING', 'REFUNDED']

const FILTERS: readonly Filter[] = [
  { name: 'utr', label: 'UTR', kind: 'text' },
  { name: 'referenceNumber', label: 'Reference number', kind: 'text' },
  AMOUNT,
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: STATUSES.map((value) => ({ value, label: statusLabel(value) })),
  },
  { name: 'from', label: 'From', kind: 'at' },
  { name: 'to', label: 'Before', kind: 'at' },
]

export function Payments() {
  return (
    <ListPage
      title="Payments"
      lead="What your customers paid through your QR codes."
      actions={<Downloads />}
      name="payments"
      caption="Payments"
      load={getList<PaymentRow>('/payments')}
      columns={PAYMENT_COLUMNS}
      rowKey={({ paymentId }) => paymentId}
      filters={FILTERS}
      empty={
        <EmptyState title="No payments yet">They appear here as soon as a customer pays a code.</EmptyState>
      }
    />
  )
}

const LAST_DAYS = 7
const PAYMENTS_CSV = { path: '/payments', name: 'payments' } as const

/** What can be exported: the payments of the filters, and those of the last week. */
function Downloads() {
  const { search } = useListSearch()
  const { timeZone } = useSession()
  const { after: _, ...filters } = listQuery(search, FILTERS, timeZone)
  const from = startOfDay(dayOf(new Date().toISOString(), timeZone, 1 - LAST_DAYS), timeZone)
  return (
    <>
      <CsvDownload label="Last 7 days as CSV" {...PAYMENTS_CSV} filters={{ from }} />
      <CsvDownload label="Export CSV" {...PAYMENTS_CSV} filters={filters} />
    </>
  )
}
