import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { AMOUNT_OF_ALL, CREATED_AT, type Filter, MERCHANT } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import type { ListKind } from '../parts/list-of-tenant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { count, Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { StatusBadge, statusLabel } from '../parts/status-badge.tsx'
import { sentenceCase } from '../words.ts'

type Row = Schemas['PaymentRow']

export const PAYMENT_COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Payment',
    cell: ({ paymentId, utr }) => <ObjectLink kind="payment" id={paymentId}>{`UTR ${utr}`}</ObjectLink>,
  },
  {
    title: 'Merchant',
    cell: ({ merchantId, merchantName }) =>
      merchantName === undefined ? (
        'None: in suspense'
      ) : (
        <ObjectLink kind="merchant" id={merchantId}>
          {merchantName}
        </ObjectLink>
      ),
  },
  {
    title: 'QR code',
    cell: ({ qrCodeId, qrName, referenceNumber }) =>
      qrCodeId === undefined ? (
        '–'
      ) : (
        <ObjectLink kind="qrCode" id={qrCodeId}>
          {qrName ?? referenceNumber}
        </ObjectLink>
      ),
  },
  {
    title: 'Status',
    cell: ({ reason, status }) => (
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
  { title: 'Received', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const STATUSES = ['ACCEPTED', 'REFUND_PENDING', 'REFUNDED', 'SUSPENSE', 'ASSIGNED', 'UNASSIGNED']

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id of the payment, or its UTR' },
  MERCHANT,
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: STATUSES.map((value) => ({ value, label: statusLabel(value) })),
  },
  AMOUNT_OF_ALL,
  { name: 'referenceNumber', label: 'Reference number', kind: 'text', placeholder: 'Of the QR code' },
  ...CREATED_AT,
]

export const PAYMENTS: ListKind<Row> = {
  name: 'payments',
  caption: 'Payments',
  columns: PAYMENT_COLUMNS,
  rowKey: ({ paymentId }) => paymentId,
  filters: FILTERS,
  sort: '-created',
  summary: (filters) => <Totals filters={filters} />,
}

export function Payments() {
  return (
    <ListPage
      title="Payments"
      lead="Credits to the QR codes of all merchants, as the bank reported them."
      {...PAYMENTS}
      load={listAt('/payments')}
      empty={
        <EmptyState title="No payments yet">
          Payments appear here when a customer pays a QR code. In the sandbox, “Pay this code” on the page of
          a QR code plays the payer.
        </EmptyState>
      }
    />
  )
}

/** How many payments the filters find, and what they add up to. */
function Totals({ filters }: { readonly filters: Record<string, string> }) {
  const totals = useQuery({
    queryKey: ['payments', 'totals', filters],
    queryFn: () => responseOf(api.GET('/payments/totals', { params: { query: filters } })),
  })
  if (totals.error) return <FailureAlert failed={totals.error} retry={() => void totals.refetch()} />
  if (!totals.data) return undefined
  const { amount, byStatus, exact, refundedAmount } = totals.data
  return (
    <Group
      component="section"
      aria-label="Totals of these filters"
      gap="xl"
      align="baseline"
      style={{ rowGap: 4 }}
    >
      <Text>
        {!exact && 'at least '}
        <b>{count(totals.data.count)}</b> {totals.data.count === 1 ? 'payment' : 'payments'},{' '}
        <Money amount={amount} fw={700} />
      </Text>
      {byStatus.map((each) => (
        <Text key={each.status} size="sm" c="dimmed">
          {statusLabel(each.status)}: {count(each.count)}, <Money amount={each.amount} />
        </Text>
      ))}
      {refundedAmount !== '0.00' && (
        <Text size="sm" c="dimmed">
          Refunded by merchants: <Money amount={refundedAmount} />
        </Text>
      )}
    </Group>
  )
}
