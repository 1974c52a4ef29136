import { Alert, Button, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Column, DataTable, Framed } from '../parts/data-table.tsx'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { dayText, Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { NamedLink } from '../parts/object-link.tsx'
import { Page } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { TestClock } from '../parts/test-clock.tsx'
import { useSession } from '../session.ts'
import { actorName, monthName } from '../words.ts'
import { bookMonthsQuery } from './book-months-query.ts'

type Month = Schemas['BookMonth']

const COLUMNS: readonly Column<Month>[] = [
  {
    title: 'Month',
    cell: ({ through }) => <NamedLink to={`/close/${through}`}>{monthName(through)}</NamedLink>,
  },
  { title: 'Status', cell: ({ state }) => <StatusBadge state={state} /> },
  { title: 'Closed by', cell: ({ closedBy }) => (closedBy === undefined ? '–' : actorName(closedBy)) },
  { title: 'Closed', cell: ({ closedOn }) => (closedOn ? <Instant at={closedOn} /> : '–') },
  { title: 'Closed despite', cell: ({ despite }) => despite ?? '–' },
  {
    title: 'Requested by',
    cell: ({ requestedBy }) => (requestedBy === undefined ? '–' : actorName(requestedBy)),
  },
]

/** The months of the books: what is open, and what was signed. */
export function BookMonths() {
  const { can } = useSession()
  const months = useQuery(bookMonthsQuery)
  const verify = useMutation({ mutationFn: () => responseOf(api.POST('/book-months/verify')) })
  return (
    <Page
      title="Close"
      lead="Months are closed one after the other, with signed totals. Nothing is entered in a closed month any more."
      actions={
        can('verify') && (
          <Button variant="default" loading={verify.isPending} onClick={() => verify.mutate()}>
            Verify what was signed
          </Button>
        )
      }
    >
      {verify.error && <FailureAlert failed={verify.error} />}
      {verify.data && <Verified data={verify.data.data} />}
      <Loaded query={months}>
        {({ data }) => (
          <Framed>
            <DataTable caption="Months" columns={COLUMNS} rows={data} rowKey={({ through }) => through} />
          </Framed>
        )}
      </Loaded>
      <TestClock />
    </Page>
  )
}

function Verified({ data }: { readonly data: readonly Schemas['VerifiedBookMonth'][] }) {
  const wrong = data.filter(({ problem }) => problem !== undefined)
  if (data.length === 0)
    return (
      <Alert color="gray" title="No month is closed yet" role="status">
        There is nothing to verify.
      </Alert>
    )
  if (wrong.length === 0)
    return (
      <Alert color="teal" title="The books are as they were signed" role="status">
        Every closed month has the totals that were signed, together with what was entered later.
      </Alert>
    )
  return (
    <Alert color="red" title="The books are not what was signed" role="status">
      {wrong.map(({ through, problem }) => (
        <Text size="sm" key={through}>
          Until {dayText(through)}: {problem}
        </Text>
      ))}
    </Alert>
  )
}
