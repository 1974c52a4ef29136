import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Section } from '../parts/page.tsx'
import { statusLabel } from '../parts/status-badge.tsx'

type Row = Schemas['SpendRuleRow']
const SHOWN_MAX = 100

/** What it is about, in the words of its fields. */
const conditionsOf = ({ channels, mccs, exceptMccs, countries, exceptCountries }: Row): string =>
  [
    channels?.map(statusLabel).join(', '),
    mccs && `categories ${mccs.join(', ')}`,
    exceptMccs && `categories but ${exceptMccs.join(', ')}`,
    countries && `in ${countries.join(', ')}`,
    exceptCountries && `outside ${exceptCountries.join(', ')}`,
  ]
    .filter(Boolean)
    .join('; ') || 'Everything'

function Limits({ rule }: { readonly rule: Row }) {
  const amounts = [
    ['a transaction', rule.transactionAmount],
    ['a day', rule.dayAmount],
    ['a month', rule.monthAmount],
  ] as const
  const counts = [
    ['a day', rule.dayCount],
    ['a month', rule.monthCount],
  ] as const
  if (![...amounts, ...counts].some(([, limit]) => limit !== undefined)) return 'Declined'
  return (
    <>
      {amounts.map(
        ([period, amount]) =>
          amount !== undefined && (
            <div key={`amount ${period}`}>
              <Money amount={amount} /> {period}
            </div>
          ),
      )}
      {counts.map(
        ([period, count]) =>
          count !== undefined && (
            <div key={`count ${period}`}>
              {count} {period}
            </div>
          ),
      )}
      {rule.perCard && (
        <Text size="xs" c="dimmed">
          Each card for itself
        </Text>
      )}
    </>
  )
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'Since', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'Rule', cell: ({ name }) => name },
  {
    title: 'Of',
    cell: ({ svcCardId, cardAccountId }) =>
      svcCardId !== undefined ? (
        <ObjectLink kind="card" id={svcCardId} />
      ) : cardAccountId !== undefined ? (
        <ObjectLink kind="cardAccount" id={cardAccountId} />
      ) : (
        'All cards'
      ),
  },
  { title: 'About', cell: conditionsOf },
  { title: 'Permits', cell: (rule) => <Limits rule={rule} /> },
]

interface Of {
  readonly svcCardId?: string
  readonly cardAccountId?: string
  readonly partnerId?: string
}

/** The spend rules in force of a card, a card account, or a partner with those of its cards. */
export function SpendRules(of: Of) {
  const { data } = useQuery({
    queryKey: ['spend-rules', of],
    queryFn: () =>
      responseOf(
        api.GET('/spend-rules', { params: { query: { ...of, status: 'in_force', limit: SHOWN_MAX } } }),
      ),
  })
  if (!data || data.data.length === 0) return undefined
  return (
    <Section title="Spend rules">
      <DataTable
        caption="Spend rules in force"
        columns={COLUMNS}
        rows={data.data}
        rowKey={({ spendRuleId }) => spendRuleId}
      />
    </Section>
  )
}
