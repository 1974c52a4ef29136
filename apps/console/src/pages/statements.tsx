import { Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { kindLabel, kindOf } from '../objects.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { choicesBy, type Filter } from '../parts/filters.tsx'
import { Day } from '../parts/instant.tsx'
import { List } from '../parts/list-page.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { counted, Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Page, Section } from '../parts/page.tsx'
import { StatusBadge, statusLabel } from '../parts/status-badge.tsx'
import { useSession } from '../session.ts'
import { actorName, purposeLabel } from '../words.ts'
import { LineActions } from './statement-line-actions.tsx'

type Account = Schemas['BankAccount']
type Line = Schemas['StatementLine']

export const bankAccountsQuery = {
  queryKey: ['bank-accounts'],
  queryFn: () => responseOf(api.GET('/bank-accounts')),
}

const ACCOUNTS: readonly Column<Account>[] = [
  { title: 'Account', cell: ({ name, accountEnds }) => `${name}, ending in ${accountEnds}` },
  { title: 'For', cell: ({ purpose }) => purposeLabel(purpose) },
  {
    title: 'Statements until',
    cell: ({ through }) => (through ? <Day day={through} /> : 'None yet'),
  },
  { title: 'Balance', align: 'right', cell: ({ balance }) => <Money amount={balance} fw={600} /> },
]

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
  const accounts = useQuery(bankAccountsQuery)
  const add = can('finance') && (
    <Button component={Link} to="/statements/import">
      Import a statement
    </Button>
  )
  return (
    <Page
      title="Bank statements"
      lead="What the banks say of our accounts. Each line is one movement in the books, or waits until it is."
      actions={accounts.data && accounts.data.data.length > 0 && add}
    >
      <Loaded query={accounts}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="No bank accounts yet">
              Bank accounts are entered when the service is set up: the escrow of merchants, the escrow of
              cards, and our own funds.
            </EmptyState>
          ) : (
            <Stack gap="md">
              <Section title="Accounts">
                <DataTable
                  caption="Bank accounts"
                  columns={ACCOUNTS}
                  rows={data}
                  rowKey={({ bankAccountId }) => bankAccountId}
                />
              </Section>
              <Section title="Lines">
                <List
                  name="statement-lines"
                  caption="Lines of bank statements"
                  load={listAt('/statement-lines')}
                  columns={can('finance') ? WITH_ACTIONS : LINES}
                  rowKey={({ lineId }) => lineId}
                  filters={filtersFor(data)}
                  sort="-created"
                  empty={<Text c="dimmed">No lines yet: import the first statement.</Text>}
                />
              </Section>
            </Stack>
          )
        }
      </Loaded>
    </Page>
  )
}
