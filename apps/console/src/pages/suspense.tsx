import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { AMOUNT_OF_ALL, CREATED_AT, type Filter, MERCHANT } from '../parts/filters.tsx'
import { ageOf, Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { count, Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'
import { SuspenseActions } from './suspense-actions.tsx'

type Row = Schemas['PaymentRow']

const IN_SUSPENSE = { status: 'SUSPENSE' } as const

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Credit',
    cell: ({ paymentId, utr }) => <ObjectLink kind="payment" id={paymentId}>{`UTR ${utr}`}</ObjectLink>,
  },
  {
    title: 'Waits for',
    cell: ({ createdOn, reason }) => (
      <>
        {ageOf(createdOn)}
        {reason && (
          <Text size="xs" c="dimmed">
            {sentenceCase(reason)}
          </Text>
        )}
      </>
    ),
  },
  {
    title: 'Merchant',
    cell: ({ merchantId, merchantName }) =>
      merchantName === undefined ? (
        'None named'
      ) : (
        <ObjectLink kind="merchant" id={merchantId}>
          {merchantName}
        </ObjectLink>
      ),
  },
  { title: 'Paid to (tr)', cell: ({ tr }) => tr || '–' },
  { title: 'Payer', cell: ({ payerVpa }) => payerVpa ?? '–' },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} fw={600} /> },
  { title: 'Received', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const ACTIONS: Column<Row> = {
  title: 'What to do',
  align: 'right',
  cell: (row) => (
    <Group gap={4} justify="flex-end">
      <SuspenseActions row={row} compact />
    </Group>
  ),
}

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id of the payment, or its UTR' },
  MERCHANT,
  AMOUNT_OF_ALL,
  ...CREATED_AT,
]

/** Credits that wait until an operator finds out whose they are. */
export function Suspense() {
  const { can } = useSession()
  return (
    <ListPage
      title="Suspense"
      lead="Credits that the bank reported and that fit no QR code. Each goes to a merchant, or back to its payer."
      name="payments"
      id="suspense"
      caption="Credits in suspense"
      load={listAt('/payments', {}, IN_SUSPENSE)}
      columns={can('finance') ? [...COLUMNS, ACTIONS] : COLUMNS}
      rowKey={({ paymentId }) => paymentId}
      filters={FILTERS}
      sort="-created"
      summary={(filters) => <Waiting filters={filters} />}
      empty={
        <EmptyState title="No credits in suspense yet">
          A credit whose reference is that of no QR code waits here until an operator assigns or returns it.
        </EmptyState>
      }
    />
  )
}

function Waiting({ filters }: { readonly filters: Record<string, string> }) {
  const totals = useQuery({
    queryKey: ['payments', 'totals', 'suspense', filters],
    queryFn: () =>
      responseOf(api.GET('/payments/totals', { params: { query: { ...filters, ...IN_SUSPENSE } } })),
  })
  if (totals.error) return <FailureAlert failed={totals.error} retry={() => void totals.refetch()} />
  if (!totals.data) return undefined
  const { amount, exact } = totals.data
  return (
    <Text component="section" aria-label="Totals of these filters">
      {!exact && 'at least '}
      <b>{count(totals.data.count)}</b> {totals.data.count === 1 ? 'credit' : 'credits'},{' '}
      <Money amount={amount} fw={700} />
    </Text>
  )
}
