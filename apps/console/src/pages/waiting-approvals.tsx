import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Money } from '../parts/money.tsx'
import { Section } from '../parts/page.tsx'
import { useSession } from '../session.ts'
import { Decision, Posting } from './approvals.tsx'

const SHOWN = 5
const REFRESH_MS = 15_000

const COLUMNS: readonly Column<Schemas['Approval']>[] = [
  { title: 'Posting', cell: (row) => <Posting row={row} /> },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} fw={600} /> },
  { title: 'Reason', cell: ({ reason }) => reason },
  { title: 'Requested by', cell: ({ requestedBy }) => requestedBy },
  { title: 'Decision', cell: (row) => <Decision row={row} /> },
]

/** The postings that wait for a second person, for those who may be that person. Nothing while nothing waits. */
export function WaitingApprovals() {
  const { can } = useSession()
  const query = useQuery({
    queryKey: ['approvals', 'waiting'],
    queryFn: () => responseOf(api.GET('/approvals', { params: { query: { status: 'OPEN', limit: SHOWN } } })),
    enabled: can('finance'),
    refetchInterval: REFRESH_MS,
  })
  if (!query.data || query.data.data.length === 0) return undefined
  return (
    <Section
      title="Waits for a second person"
      aside={
        <Anchor component={Link} to="/approvals" size="sm">
          All approvals
        </Anchor>
      }
    >
      <DataTable
        caption="Postings that wait"
        columns={COLUMNS}
        rows={query.data.data}
        rowKey={({ approvalId }) => approvalId}
      />
    </Section>
  )
}
