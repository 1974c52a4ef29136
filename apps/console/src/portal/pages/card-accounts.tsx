import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ACCOUNT_COLUMNS } from '../../parts/card-account-columns.tsx'
import { type Column, DataTable, unsorted } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Filter } from '../../parts/filters.tsx'
import { FundingInstructions } from '../../parts/funding-instructions.tsx'
import { dayText, Instant } from '../../parts/instant.tsx'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { count, Money } from '../../parts/money.tsx'
import { Id, NamedLink, ObjectLink } from '../../parts/object-link.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { StatementButton } from '../../parts/statement-button.tsx'
import { accountTypeLabel, productLabel, sentenceCase } from '../../words.ts'
import { api, apiAt, getList, payloadOf } from '../api.ts'
import { useMember } from '../session.ts'
import { CardsOf } from './cards.tsx'
import { useCompanies } from './choices.ts'
import { NewCardAccount } from './new-of-company.tsx'

const IssueCards = lazyPart(async () => (await import('./issue-cards.tsx')).IssueCards, null)

const inPath = (cardAccountId: string) => ({ params: { path: { cardAccountId } } })
const load = (cardAccountId: string) =>
  payloadOf(api.GET('/partner/card-accounts/{cardAccountId}', inPath(cardAccountId)))
type Account = Awaited<ReturnType<typeof load>>

const COLUMNS = unsorted(ACCOUNT_COLUMNS)

export function CardAccounts() {
  const { can } = useMember()
  const companies = useCompanies()
  const create = can('operator') && companies.length > 0 && <NewCardAccount companies={companies} />
  const filters: readonly Filter[] = [
    { name: 'companyId', label: 'Company', kind: 'select', options: companies },
  ]
  return (
    <ListPage
      title="Card accounts"
      lead="What the cards of each company are loaded from. The page of an account says where to transfer money for it."
      actions={create}
      name="card-accounts"
      caption="Card accounts"
      load={getList<Account>('/partner/card-accounts')}
      columns={COLUMNS}
      rowKey={({ cardAccountId }) => cardAccountId}
      filters={filters}
      empty={
        <EmptyState title="No card accounts yet" action={create}>
          An account belongs to a{' '}
          <NamedLink to="/companies" inText>
            company
          </NamedLink>{' '}
          that you have registered; its cards are loaded from it.
        </EmptyState>
      }
    />
  )
}

export function CardAccount() {
  const { cardAccountId = '' } = useParams({ strict: false })
  const { can } = useMember()
  const account = useQuery({ queryKey: ['card-accounts', cardAccountId], queryFn: () => load(cardAccountId) })
  return (
    <Page
      title={account.data?.cardProgramme ?? 'Card account'}
      trail={[{ to: '/card-accounts', label: 'Card accounts' }]}
      actions={account.data && can('operator') && <IssueCards account={account.data} />}
    >
      <Loaded query={account}>
        {(one) => (
          <>
            <Section title="About">
              <Facts
                facts={[
                  { label: 'Balance', value: <Money amount={one.balance} fw={700} /> },
                  { label: 'Low balance', value: <Money amount={one.lowBalance} none="Not set" /> },
                  { label: 'Load by default', value: <Money amount={one.denomination} /> },
                  {
                    label: 'Company',
                    value: (
                      <ObjectLink kind="company" id={one.companyId}>
                        {one.companyName}
                      </ObjectLink>
                    ),
                  },
                  { label: 'Product', value: productLabel(one.product) },
                  { label: 'Type', value: accountTypeLabel(one.accountType) },
                  { label: 'Id', value: <Id id={cardAccountId} what="id" /> },
                ]}
              />
            </Section>
            <Instructions cardAccountId={cardAccountId} />
            <Statement cardAccountId={cardAccountId} />
            <Section title="Cards">
              <CardsOf of={{ cardAccountId }} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Absent where the operator has set no bank. */
function Instructions({ cardAccountId }: { readonly cardAccountId: string }) {
  const { data } = useQuery({
    queryKey: ['card-accounts', cardAccountId, 'instructions'],
    queryFn: () =>
      payloadOf(
        api.GET('/partner/card-accounts/{cardAccountId}/funding-instructions', inPath(cardAccountId)),
      ),
    retry: false,
  })
  return data && <FundingInstructions of={data} />
}

const loadStatement = (cardAccountId: string) =>
  payloadOf(api.GET('/partner/card-accounts/{cardAccountId}/statement', inPath(cardAccountId)))
type Line = Awaited<ReturnType<typeof loadStatement>>['lines'][number]

const LINES: readonly Column<Line>[] = [
  { title: 'At', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'What', cell: ({ kind }) => sentenceCase(kind) },
  {
    title: 'Card or reference',
    cell: ({ svcCardId, reference }) =>
      svcCardId === undefined ? (reference ?? '–') : <ObjectLink kind="card" id={svcCardId} />,
  },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} signed /> },
  { title: 'Balance', align: 'right', cell: ({ balance }) => <Money amount={balance} fw={600} /> },
]

const LINES_SHOWN = 25

function Statement({ cardAccountId }: { readonly cardAccountId: string }) {
  const statement = useQuery({
    queryKey: ['card-accounts', cardAccountId, 'statement'],
    queryFn: () => loadStatement(cardAccountId),
  })
  return (
    <Section
      title="Statement"
      aside={
        <StatementButton
          href={`${apiAt}/partner/card-accounts/${cardAccountId}/statement.pdf`}
          name={`card-account-${cardAccountId}`}
          compact
        />
      }
    >
      <Loaded query={statement}>
        {({ from, to, openingBalance, closingBalance, lines }) => (
          <>
            <Facts
              facts={[
                { label: 'Opening balance', value: <Money amount={openingBalance} /> },
                { label: 'Closing balance', value: <Money amount={closingBalance} /> },
                {
                  label: 'From and to',
                  value: `${dayText(from)} – ${dayText(to)}`,
                },
              ]}
            />
            {lines.length > LINES_SHOWN && (
              <Text size="sm" c="dimmed" mt="sm">
                The last {LINES_SHOWN} of {count(lines.length)} lines; all of them are in the PDF.
              </Text>
            )}
            {lines.length > 0 && (
              <DataTable
                caption="Lines of the statement"
                columns={LINES}
                rows={lines.slice(-LINES_SHOWN)}
                rowKey={({ transactionId }) => transactionId}
              />
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}
