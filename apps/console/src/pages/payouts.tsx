import { Anchor, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, apiAt, listAt, responseOf, type Schemas } from '../api.ts'
import { dayOf } from '../business-day.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { AMOUNT_OF_ALL, CREATED_AT, type Filter, MERCHANT } from '../parts/filters.tsx'
import { DownloadIcon } from '../parts/icons.tsx'
import { dayText, Instant } from '../parts/instant.tsx'
import type { ListKind } from '../parts/list-of-tenant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { count, Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { StatusBadge, statusLabel } from '../parts/status-badge.tsx'
import { useSession } from '../session.ts'
import { PreparePayouts } from './prepare-payouts.tsx'

type Row = Schemas['PayoutRow']

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Payout',
    cell: ({ businessDay, payoutId }) => (
      <ObjectLink kind="payout" id={payoutId}>{`Payout of ${dayText(businessDay)}`}</ObjectLink>
    ),
  },
  {
    title: 'Merchant',
    cell: ({ merchantId, merchantName }) => (
      <ObjectLink kind="merchant" id={merchantId}>
        {merchantName}
      </ObjectLink>
    ),
  },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  {
    title: 'Payments less refunds',
    align: 'right',
    cell: ({ payments, refunds }) => <Money amount={payments.amount - refunds.amount} />,
  },
  {
    title: 'Fees and GST',
    align: 'right',
    cell: ({ fees, tax }) => <Money amount={fees + tax.cgst + tax.sgst + tax.igst} />,
  },
  {
    title: 'Amount',
    align: 'right',
    sum: ({ amount }) => amount,
    cell: ({ amount }) => <Money amount={amount} fw={600} />,
  },
  {
    title: 'Statement',
    cell: ({ businessDay, payoutId }) => (
      <Anchor
        href={`${apiAt}/payouts/${payoutId}/statement.pdf`}
        download={`payout-${businessDay}.pdf`}
        size="sm"
        aria-label={`Statement of ${businessDay} as PDF`}
      >
        PDF
      </Anchor>
    ),
  },
  { title: 'Prepared', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const STATUSES = ['PREPARED', 'APPROVED', 'SENT', 'PAID', 'FAILED', 'CANCELLED']

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id of the payout, or its UTR' },
  MERCHANT,
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: STATUSES.map((value) => ({ value, label: statusLabel(value) })),
  },
  { name: 'businessDay', label: 'Business day', kind: 'day' },
  { ...AMOUNT_OF_ALL, bounds: ['merchantId', 'businessDay', 'q', 'createdFrom'] },
  ...CREATED_AT,
]

/** What is paid out to merchants, and what waits for a second person. */
export const PAYOUTS: ListKind<Row> = {
  name: 'payouts',
  caption: 'Payouts',
  columns: COLUMNS,
  rowKey: ({ payoutId }) => payoutId,
  filters: FILTERS,
  sort: '-created',
  summary: (filters) => <Totals filters={filters} />,
}

export function Payouts() {
  const { can } = useSession()
  return (
    <ListPage
      title="Payouts"
      lead="What is paid out to merchants: payments less refunds, fees and GST. A second person approves each."
      actions={
        <>
          <Settlement />
          {can('finance') && (
            <>
              <Button component={Link} to="/bank-files/out" variant="default">
                File for the bank
              </Button>
              <PreparePayouts />
            </>
          )}
        </>
      }
      {...PAYOUTS}
      load={listAt('/payouts')}
      empty={
        <EmptyState title="No payouts yet">
          A payout is prepared for a business day that is over, for each merchant with a bank account to whom
          something is payable.
        </EmptyState>
      }
    />
  )
}

/** Every payout of the business day before today, of whatever the list is filtered by. */
function Settlement() {
  const { timeZone } = useSession()
  const businessDay = dayOf(new Date().toISOString(), timeZone, -1)
  return (
    <Button
      component="a"
      href={listAt('/payouts').csv?.({ businessDay })}
      download={`payouts-${businessDay}.csv`}
      variant="default"
      leftSection={<DownloadIcon />}
    >
      Yesterday as CSV
    </Button>
  )
}

/** How many payouts the filters find, and what they add up to. */
function Totals({ filters }: { readonly filters: Record<string, string> }) {
  const totals = useQuery({
    queryKey: ['payouts', 'totals', filters],
    queryFn: () => responseOf(api.GET('/payouts/totals', { params: { query: filters } })),
  })
  if (totals.error) return <FailureAlert failed={totals.error} retry={() => void totals.refetch()} />
  if (!totals.data) return undefined
  const { amount, byStatus, exact, fees, tax } = totals.data
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
        <b>{count(totals.data.count)}</b> {totals.data.count === 1 ? 'payout' : 'payouts'},{' '}
        <Money amount={amount} fw={700} />
      </Text>
      {byStatus.map((each) => (
        <Text key={each.status} size="sm" c="dimmed">
          {statusLabel(each.status)}: {count(each.count)}, <Money amount={each.amount} />
        </Text>
      ))}
      <Text size="sm" c="dimmed">
        Fees: <Money amount={fees} />, GST: <Money amount={tax} />
      </Text>
    </Group>
  )
}
