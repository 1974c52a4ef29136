import { Text } from '@mantine/core'
import { listAt, type Schemas } from '../api.ts'
import { PLATFORM_TENANT } from '../objects.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import type { Filter } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Money } from '../parts/money.tsx'
import { IdLink, ObjectLink } from '../parts/object-link.tsx'
import { REASONS } from './card-exception-reasons.ts'

type Row = Schemas['CardException']

/** What the network took is against us, what it gave back is with us. */
export const exceptionMoney = ({ creditAmount, debitAmount }: Row): number | undefined =>
  debitAmount > 0 ? -debitAmount : creditAmount > 0 ? creditAmount : undefined

/** What names no known card is with the platform. */
export const PartnerOf = ({ partnerId }: Pick<Row, 'partnerId'>) =>
  partnerId === PLATFORM_TENANT ? 'None known' : <IdLink id={partnerId} />

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Exception',
    cell: ({ exceptionId, reason }) => (
      <ObjectLink kind="cardException" id={exceptionId}>
        {REASONS[reason].title}
      </ObjectLink>
    ),
  },
  {
    title: 'What to do',
    cell: ({ reason }) => (
      <Text size="sm" maw={420}>
        {REASONS[reason].toDo}
      </Text>
    ),
  },
  { title: 'Card', cell: ({ svcCardId }) => (svcCardId ? <ObjectLink kind="card" id={svcCardId} /> : '–') },
  { title: 'Partner', cell: ({ partnerId }) => <PartnerOf partnerId={partnerId} /> },
  {
    title: 'Money',
    align: 'right',
    cell: (row) => <Money amount={exceptionMoney(row)} signed fw={600} none="none" />,
  },
  { title: 'Received', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id of exception, card or message' },
  {
    name: 'reason',
    label: 'Reason',
    kind: 'select',
    options: Object.entries(REASONS).map(([value, { title }]) => ({ value, label: title })),
  },
]

/** What the card network reported and no card, authorisation or capture fits. */
export function CardExceptions() {
  return (
    <ListPage
      title="Card exceptions"
      lead="What the card network reported and no card, authorisation or capture fits, and what could not be read."
      name="card-exceptions"
      caption="Card exceptions"
      load={listAt('/card-exceptions')}
      columns={COLUMNS}
      rowKey={({ exceptionId }) => exceptionId}
      filters={FILTERS}
      sort="-created"
      empty={
        <EmptyState title="No card exceptions yet">
          The network’s reports are never refused: what does not fit shows here.
        </EmptyState>
      }
    />
  )
}
