import { Alert, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { choicesOf, type Filter, type ValueOf } from '../parts/filters.tsx'
import { Day, Instant } from '../parts/instant.tsx'
import { List } from '../parts/list-page.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, counted, Money, rupees } from '../parts/money.tsx'
import { Id } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { railLabel } from '../words.ts'
import { ReverseSettlement } from './reverse-settlement.tsx'
import { LINE_COLUMNS } from './settlement-lines.tsx'

type Detail = Schemas['Settlement']

const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: choicesOf<ValueOf<'console.listSettlementLines', 'status'>>({
      UNMATCHED: 'Fits nothing',
      UNKNOWN: 'No payment known',
      DIFFERS: 'Differs',
      MATCHED: 'Matched',
      POSTED: 'Booked',
    }),
  },
]

/** One transfer of the bank or the card network, with its lines. */
export function Settlement() {
  const { batchId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['settlements', batchId],
    queryFn: () => responseOf(api.GET('/settlements/{batchId}', { params: { path: { batchId } } })),
  })
  const row = query.data
  return (
    <Page
      title={row ? `Transfer ${row.batchUtr}` : 'Transfer'}
      badge={row && <StatusBadge state={row.status} />}
      trail={[{ to: '/settlements', label: 'Settlements' }]}
      actions={row && <ReverseSettlement transfer={row} />}
    >
      <Loaded query={query}>
        {(transfer) => (
          <>
            <Waits transfer={transfer} />
            <About transfer={transfer} />
            <Section title="Lines">
              <List
                name="settlement-lines"
                id={batchId}
                caption="Lines of the transfer"
                load={listAt('/settlements/{batchId}/lines', { batchId })}
                columns={LINE_COLUMNS}
                rowKey={({ kind, reference, documentId, recordedOn }) =>
                  `${kind} ${reference} ${documentId} ${recordedOn}`
                }
                filters={FILTERS}
                empty={<Text c="dimmed">None.</Text>}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** What is not in order, and what mends it. */
function Waits({
  transfer: { remainder, status, unmatched, statementAmount, netAmount },
}: {
  readonly transfer: Detail
}) {
  const says = [
    ...(status === 'INCOMPLETE'
      ? [
          `${rupees(remainder)} of it is in no line: ask the bank for the lines that are missing, and import them.`,
        ]
      : []),
    ...(status === 'DIFFERS'
      ? [
          `The bank statement shows ${rupees(statementAmount ?? '0.00')}, and not ${rupees(netAmount)}: ask the bank.`,
        ]
      : []),
    ...(status === 'REVERSED'
      ? ['It was taken back: nothing of it counts. If the bank has made it, import the right file.']
      : []),
    ...(unmatched > 0
      ? [`${counted(unmatched, 'line')} without a match: matched as soon as it is known what that is.`]
      : []),
  ]
  if (says.length === 0) return undefined
  return (
    <Alert color="orange" title="Not in order yet">
      {says.map((sentence) => (
        <Text size="sm" key={sentence}>
          {sentence}
        </Text>
      ))}
    </Alert>
  )
}

function About({ transfer }: { readonly transfer: Detail }) {
  const { statementAmount, statementDate } = transfer
  return (
    <Section title="About">
      <Facts
        facts={[
          { label: 'Net amount', value: <Money amount={transfer.netAmount} fw={700} fz="lg" /> },
          { label: 'Value date', value: <Day day={transfer.valueDate} /> },
          { label: 'From', value: railLabel(transfer.rail) },
          { label: 'Lines', value: `${count(transfer.lines)}, of which ${count(transfer.matched)} fit` },
          { label: 'In no line', value: <Money amount={transfer.remainder} /> },
          {
            label: 'On the bank statement',
            value: statementDate && statementAmount && (
              <>
                <Money amount={statementAmount} /> on <Day day={statementDate} />
              </>
            ),
          },
          { label: 'First line came', value: <Instant at={transfer.createdOn} long /> },
          { label: 'Bank’s reference', value: <Id id={transfer.batchUtr} what="reference" /> },
          { label: 'Transfer id', value: <Id id={transfer.batchId} what="transfer id" /> },
        ]}
      />
    </Section>
  )
}
