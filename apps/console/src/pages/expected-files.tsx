import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { timeLeft } from '../parts/evidence.tsx'
import { ageOf, Day, Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { counted, Money } from '../parts/money.tsx'
import { Section } from '../parts/page.tsx'
import { Mark } from '../parts/status-badge.tsx'

type Expected = Schemas['ExpectedBankFile']

/** What the bank owes, in words. */
function What({ row: { count, kind, name } }: { readonly row: Expected }) {
  if (kind === 'settlement')
    return (
      <>
        Settlement of <Day day={name} />
      </>
    )
  if (kind === 'statement') return <>Statement of {name}</>
  return (
    <>
      Response to {counted(count ?? 0, kind === 'payouts' ? 'payout' : 'refund')} sent <Instant at={name} />
    </>
  )
}

function Due({ row: { dueOn, name } }: { readonly row: Expected }) {
  if (dueOn === undefined) return <Mark color="blue">{`Sent ${ageOf(name)} ago`}</Mark>
  const left = timeLeft(dueOn)
  return left === undefined ? (
    <Mark color="red">{`Late ${ageOf(dueOn)}`}</Mark>
  ) : (
    <Mark color="orange">{`Due in ${left}`}</Mark>
  )
}

const COLUMNS: readonly Column<Expected>[] = [
  { title: 'What', cell: (row) => <What row={row} /> },
  { title: 'When', cell: (row) => <Due row={row} /> },
  { title: 'At least', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
]

/** What the bank owes today. */
export function ExpectedFiles() {
  const query = useQuery({
    queryKey: ['bank-files', 'expected'],
    queryFn: () => responseOf(api.GET('/bank-files/expected')),
  })
  return (
    <Section title="Expected">
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              The bank owes no file today.
            </Text>
          ) : (
            <DataTable
              caption="Expected of the bank"
              columns={COLUMNS}
              rows={data}
              rowKey={({ kind, id }) => `${kind} ${id}`}
            />
          )
        }
      </Loaded>
    </Section>
  )
}
