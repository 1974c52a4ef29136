import { Button, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { dayOf, startOfDay } from '../../business-day.ts'
import { stringifySearch, useListSearch } from '../../list-search.ts'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Filter } from '../../parts/filters.tsx'
import { DownloadIcon } from '../../parts/icons.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Money } from '../../parts/money.tsx'
import { NamedObject } from '../../parts/object-link.tsx'
import { StatusBadge, statusLabel } from '../../parts/status-badge.tsx'
import { useSession } from '../../session.ts'
import { sentenceCase } from '../../words.ts'
import { apiAt, getList } from '../api.ts'

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
    cell: ({ paymentId, utr }) => <NamedObject kind="payment" id={paymentId} name={`UTR ${utr}`} />,
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

/** What can be exported: the payments of the filters, and those of the last week. */
function Downloads() {
  const { search } = useListSearch()
  const { timeZone } = useSession()
  const { after: _, ...filters } = search
  const from = startOfDay(dayOf(new Date().toISOString(), timeZone, 1 - LAST_DAYS), timeZone)
  return (
    <>
      <Download label="Last 7 days as CSV" filters={{ from }} />
      <Download label="Export CSV" filters={filters} />
    </>
  )
}

interface DownloadProps {
  readonly label: string
  readonly filters: Readonly<Record<string, string | undefined>>
}

/** Payments as CSV: the operation returns it to callers that accept that media type. */
function Download({ label, filters }: DownloadProps) {
  const [busy, setBusy] = useState(false)
  const download = async () => {
    setBusy(true)
    const response = await fetch(`${apiAt}/payments${stringifySearch(filters)}`, {
      headers: { accept: 'text/csv' },
    })
    setBusy(false)
    if (!response.ok)
      return void notifications.show({ color: 'red', message: 'The payments could not be exported.' })
    const link = document.createElement('a')
    link.href = URL.createObjectURL(await response.blob())
    link.download = 'payments.csv'
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return (
    <Button variant="default" leftSection={<DownloadIcon />} loading={busy} onClick={() => void download()}>
      {label}
    </Button>
  )
}
