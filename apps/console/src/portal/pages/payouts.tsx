import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { dayText, Instant } from '../../parts/instant.tsx'
import { List, ListPage } from '../../parts/list-page.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { count, Money } from '../../parts/money.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { StatementButton } from '../../parts/statement-button.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { sentenceCase } from '../../words.ts'
import { api, apiAt, getList, payloadOf } from '../api.ts'

const load = (payoutId: string) =>
  payloadOf(api.GET('/payouts/{payoutId}', { params: { path: { payoutId } } }))
type Row = Awaited<ReturnType<typeof load>>
const loadLines = (payoutId: string) =>
  payloadOf(api.GET('/payouts/{payoutId}/lines', { params: { path: { payoutId } } }))
type Line = Awaited<ReturnType<typeof loadLines>>['data'][number]

const taxOf = ({ tax: { cgst, sgst, igst } }: Pick<Row, 'tax'>) =>
  (Math.round((cgst + sgst + igst) * 100) / 100).toFixed(2)

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Business day',
    cell: ({ payoutId, businessDay }) => (
      <ObjectLink kind="payout" id={payoutId}>
        {dayText(businessDay)}
      </ObjectLink>
    ),
  },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Payments', align: 'right', cell: ({ payments }) => <Money amount={payments.amount} /> },
  { title: 'Refunds', align: 'right', cell: ({ refunds }) => <Money amount={refunds.amount} /> },
  { title: 'Fees', align: 'right', cell: ({ fees }) => <Money amount={fees} /> },
  { title: 'GST', align: 'right', cell: (row) => <Money amount={taxOf(row)} /> },
  {
    title: 'Paid out',
    align: 'right',
    sum: ({ amount }) => amount,
    cell: ({ amount }) => <Money amount={amount} fw={600} />,
  },
]

export function Payouts() {
  return (
    <ListPage
      title="Payouts"
      lead="What goes to your bank account for each business day: payments less refunds, fees and GST."
      name="payouts"
      caption="Payouts"
      load={getList<Row>('/payouts')}
      columns={COLUMNS}
      rowKey={({ payoutId }) => payoutId}
      filters={[]}
      empty={
        <EmptyState title="No payouts yet">The first one comes after the first business day.</EmptyState>
      }
    />
  )
}

const LINES: readonly Column<Line>[] = [
  { title: 'What', cell: ({ kind }) => sentenceCase(kind) },
  {
    title: 'Payment',
    cell: ({ paymentId }) => (paymentId === undefined ? '–' : <ObjectLink kind="payment" id={paymentId} />),
  },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
  { title: 'Fee', align: 'right', cell: ({ fee }) => <Money amount={fee} /> },
  { title: 'GST', align: 'right', cell: (line) => <Money amount={taxOf(line)} /> },
  { title: 'At', cell: ({ occurredOn }) => <Instant at={occurredOn} /> },
]

/** The statement of one payout: its sum, and each line of it. */
export function Payout() {
  const { payoutId = '' } = useParams({ strict: false })
  const payout = useQuery({ queryKey: ['payouts', payoutId], queryFn: () => load(payoutId) })
  return (
    <Page
      title={payout.data ? `Payout of ${dayText(payout.data.businessDay)}` : 'Payout'}
      badge={payout.data && <StatusBadge state={payout.data.status} />}
      trail={[{ to: '/payouts', label: 'Payouts' }]}
      actions={
        payout.data && (
          <StatementButton
            href={`${apiAt}/payouts/${payoutId}/statement.pdf`}
            name={`payout-${payout.data.businessDay}`}
          />
        )
      }
    >
      <Loaded query={payout}>
        {(row) => (
          <>
            <Sum row={row} />
            <Section title="Bank">
              <Facts
                facts={[
                  { label: 'Account', value: row.account },
                  { label: 'UTR', value: row.utr },
                  { label: 'Sent', value: <Instant at={row.sentOn} /> },
                  { label: 'Completed', value: <Instant at={row.completedOn} /> },
                  { label: 'Returned by the bank', value: row.returnedOn && <Instant at={row.returnedOn} /> },
                  { label: 'Failed because', value: row.failureReason },
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
      <Section title="Lines">
        <List
          name="payout-lines"
          id={payoutId}
          caption="Lines of the payout"
          load={getList<Line>(`/payouts/${encodeURIComponent(payoutId)}/lines`)}
          columns={LINES}
          rowKey={({ kind, occurredOn, paymentId = '', refundId = '' }) =>
            kind + occurredOn + paymentId + refundId
          }
          filters={[]}
          empty={<Text c="dimmed">None.</Text>}
        />
      </Section>
    </Page>
  )
}

function Sum({ row }: { readonly row: Row }) {
  return (
    <Section title="Sum">
      <DataTable
        caption="How the payout adds up"
        columns={[
          { title: 'What', cell: ([label]: SumRow) => label },
          {
            title: 'Amount',
            align: 'right',
            cell: ([, amount]: SumRow) => <Money amount={amount} />,
          },
        ]}
        rows={sumOf(row)}
        rowKey={([label]) => label}
      />
    </Section>
  )
}

type SumRow = readonly [label: string, amount: number | string]

const sumOf = (row: Row): SumRow[] => [
  [`${count(row.payments.count)} payments`, row.payments.amount],
  ...(row.adjustments ? [['Adjustments', row.adjustments.amount] as const] : []),
  [`${count(row.refunds.count)} refunds`, `-${row.refunds.amount.toFixed(2)}`],
  ['Fees', `-${row.fees.toFixed(2)}`],
  ['GST on fees', `-${taxOf(row)}`],
  ['Paid out', row.amount],
]
