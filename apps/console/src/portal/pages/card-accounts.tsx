import { Button, Group, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { pathOf } from '../../objects.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Filter } from '../../parts/filters.tsx'
import { FundingInstructions } from '../../parts/funding-instructions.tsx'
import { Instant } from '../../parts/instant.tsx'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Money } from '../../parts/money.tsx'
import { Id, NamedLink, ObjectLink } from '../../parts/object-link.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { StatementButton } from '../../parts/statement-button.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { accountTypeLabel, productLabel, sentenceCase } from '../../words.ts'
import { api, apiAt, getList, payloadOf } from '../api.ts'
import { useMember } from '../session.ts'
import { useCompanies } from './companies.tsx'

const IssueCards = lazyPart(async () => (await import('./issue-cards.tsx')).IssueCards, null)

const inPath = (cardAccountId: string) => ({ params: { path: { cardAccountId } } })
const load = (cardAccountId: string) =>
  payloadOf(api.GET('/partner/card-accounts/{cardAccountId}', inPath(cardAccountId)))
type Account = Awaited<ReturnType<typeof load>>

const COLUMNS: readonly Column<Account>[] = [
  {
    title: 'Account',
    cell: ({ cardAccountId, cardProgramme }) => (
      <ObjectLink kind="cardAccount" id={cardAccountId}>
        {cardProgramme}
      </ObjectLink>
    ),
  },
  { title: 'Company', cell: ({ companyName }) => companyName },
  { title: 'Product', cell: ({ product }) => productLabel(product) },
  { title: 'Type', cell: ({ accountType }) => accountTypeLabel(accountType) },
  { title: 'Balance', align: 'right', cell: ({ balance }) => <Money amount={balance} fw={600} /> },
]

export function CardAccounts() {
  const companies = useCompanies()
  const filters: readonly Filter[] = [
    { name: 'companyId', label: 'Company', kind: 'select', options: companies },
  ]
  return (
    <ListPage
      title="Card accounts"
      lead="What pays for the cards of each company."
      name="card-accounts"
      caption="Card accounts"
      load={getList<Account>('/partner/card-accounts')}
      columns={COLUMNS}
      rowKey={({ cardAccountId }) => cardAccountId}
      filters={filters}
      empty={
        <EmptyState title="No card accounts yet">
          Your programs create them with a client from{' '}
          <NamedLink to="/credentials" inText>
            API keys and clients
          </NamedLink>
          ; the page of each says where to transfer money for it.
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
                  { label: 'Company', value: one.companyName },
                  { label: 'Product', value: productLabel(one.product) },
                  { label: 'Type', value: accountTypeLabel(one.accountType) },
                  { label: 'Id', value: <Id id={cardAccountId} what="id" /> },
                ]}
              />
            </Section>
            <Instructions cardAccountId={cardAccountId} />
            <Statement cardAccountId={cardAccountId} />
            {one.product === 'incentive' ? <FindCard /> : <Cards account={one} />}
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
                  value: (
                    <>
                      <Instant at={from} /> – <Instant at={to} />
                    </>
                  ),
                },
              ]}
            />
            {lines.length > 0 && (
              <DataTable
                caption="Lines of the statement"
                columns={LINES}
                rows={lines}
                rowKey={({ transactionId }) => transactionId}
              />
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}

/** Partners of incentives search single cards (specification section 4.4). */
function FindCard() {
  const navigate = useNavigate()
  const [id, setId] = useState('')
  return (
    <Section title="Cards">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (id.trim()) void navigate({ to: pathOf('card', id.trim()) })
        }}
      >
        <Group align="end">
          <TextInput
            label="Card id"
            placeholder="card_…"
            value={id}
            onChange={(event) => setId(event.currentTarget.value)}
          />
          <Button type="submit" variant="default">
            Show card
          </Button>
        </Group>
      </form>
    </Section>
  )
}

const PAGE = 25

function Cards({ account: { cardAccountId, companyId } }: { readonly account: Account }) {
  const [limit, setLimit] = useState(PAGE)
  const cards = useQuery({
    queryKey: ['cards', cardAccountId, limit],
    queryFn: () => searchCards({ cardAccountId, companyId, limit }),
    placeholderData: (before) => before,
  })
  return (
    <Section title="Cards">
      <Loaded query={cards}>
        {({ data }) =>
          data.length === 0 ? (
            <Text c="dimmed">None yet. Issue one above, or by your programs.</Text>
          ) : (
            <>
              <DataTable
                caption="Cards of this account"
                columns={CARDS}
                rows={data}
                rowKey={({ svcCardId }) => svcCardId}
              />
              {data.length >= limit && (
                <Button variant="default" size="compact-sm" onClick={() => setLimit(limit + PAGE)}>
                  Show more
                </Button>
              )}
            </>
          )
        }
      </Loaded>
    </Section>
  )
}

interface CardRow {
  readonly svcCardId: string
  readonly maskedNumber?: string
  readonly firstName?: string
  readonly lastName?: string
  readonly cardStatus: { readonly name: string }
  readonly expiryMonth?: string
  readonly expiryYear?: string
  readonly otbBalance?: number
}

const searchCards = (body: { cardAccountId: string; companyId: string; limit: number }) =>
  payloadOf(api.POST('/partner/svcCard/search', { body } as never)) as Promise<{ data: readonly CardRow[] }>

const CARDS: readonly Column<CardRow>[] = [
  {
    title: 'Card',
    cell: ({ svcCardId, maskedNumber = '' }) => (
      <ObjectLink kind="card" id={svcCardId}>
        {maskedNumber || svcCardId}
      </ObjectLink>
    ),
  },
  { title: 'Holder', cell: ({ firstName = '', lastName = '' }) => `${firstName} ${lastName}`.trim() || '–' },
  { title: 'Status', cell: ({ cardStatus }) => <StatusBadge state={cardStatus.name} /> },
  { title: 'Expires', cell: ({ expiryMonth, expiryYear }) => `${expiryMonth}/${expiryYear}` },
  { title: 'Open to buy', align: 'right', cell: ({ otbBalance }) => <Money amount={otbBalance} /> },
]
