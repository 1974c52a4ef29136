import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { listAt, type Schemas } from '../api.ts'
import { kindLabel, kindOf } from '../objects.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { choicesBy, type Filter } from '../parts/filters.tsx'
import { Day } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { counted, Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { StatusBadge, statusLabel } from '../parts/status-badge.tsx'
import { useSession } from '../session.ts'
import { actorName, purposeLabel } from '../words.ts'
import { bankAccountsQuery } from './bank-accounts.tsx'
import { LineActions } from './statement-line-actions.tsx'

type Account = Schemas['BankAccount']
type Line = Schemas['StatementLine']

const LINES: readonly Column<Line>[] = [
  {
    title: 'Day',
    sorts: ['-created', 'created'],
    cell: ({ date, purpose }) => (
      <>
        <Day day={date} />
        <Text size="xs" c="dimmed">
          {purposeLabel(purpose)}
        </Text>
      </>
    ),
  },
  {
    title: 'What the bank says',
    cell: ({ reference, narration }) => (
      <>
        {reference || '–'}
        {narration && (
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {narration}
          </Text>
        )}
      </>
    ),
  },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  {
    title: 'It is',
    cell: (line) => <Movement line={line} />,
  },
  {
    title: 'Age and owner',
    cell: ({ ageDays, owner }) => (
      <>
        {counted(ageDays, 'day')}
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {actorName(owner)}
        </Text>
      </>
    ),
  },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} signed fw={600} /> },
]

/** What the line is in the books, by name. */
function Movement({ line: { documentId, documentName, lineId } }: { readonly line: Line }) {
  const kind = kindOf(documentId)
  if (documentId === '' || documentId === lineId) return <>–</>
  if (!kind) return <>{documentId.startsWith('pyr_') ? 'A run of payouts' : 'A movement'}</>
  return (
    <ObjectLink kind={kind} id={documentId}>
      {documentName ? `${kindLabel(kind)} ${documentName}` : kindLabel(kind)}
    </ObjectLink>
  )
}

const WITH_ACTIONS: readonly Column<Line>[] = [
  ...LINES,
  { title: 'What to do', cell: (line) => <LineActions line={line} /> },
]

const filtersFor = (accounts: readonly Account[]): readonly Filter[] => [
  { name: 'reference', label: 'Search', kind: 'text', placeholder: 'The bank’s reference, exactly' },
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: choicesBy<Line['status']>(statusLabel, {
      UNMATCHED: true,
      DIFFERS: true,
      MATCHED: true,
      RESOLVED: true,
    }),
  },
  {
    name: 'bankAccountId',
    label: 'Account',
    kind: 'select',
    options: accounts.map(({ bankAccountId, name }) => ({ value: bankAccountId, label: name })),
  },
]

/** What banks say of our accounts, and what each line is in the books. */
export function Statements() {
  const { can } = useSession()
  const accounts = useQuery(bankAccountsQuery).data?.data ?? []
  return (
    <ListPage
      title="Statement lines"
      lead="What the banks say of our accounts. Each line is one movement in the books, or waits until it is."
      name="statement-lines"
      caption="Lines of bank statements"
      load={listAt('/statement-lines')}
      columns={can('finance') ? WITH_ACTIONS : LINES}
      rowKey={({ lineId }) => lineId}
      filters={filtersFor(accounts)}
      sort="-created"
      empty={
        <EmptyState title="No lines yet">
          They come with the statements of the bank, which are dropped under Bank files.
        </EmptyState>
      }
    />
  )
}
