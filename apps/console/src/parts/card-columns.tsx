import { Text } from '@mantine/core'
import type { Schemas } from '../api.ts'
import { CARD_STATUSES } from '../words.ts'
import { BY_TIME, type Column } from './data-table.tsx'
import type { Filter } from './filters.tsx'
import { Instant } from './instant.tsx'
import { Money } from './money.tsx'
import { ObjectLink } from './object-link.tsx'
import { StatusBadge } from './status-badge.tsx'

/** What operators and members see of a card. */
export type CardRow = Omit<Schemas['CardRow'], 'partnerId'>

export const CARD_COLUMNS: readonly Column<CardRow>[] = [
  {
    title: 'Card',
    cell: ({ svcCardId, maskedNumber }) => (
      <ObjectLink kind="card" id={svcCardId}>
        <Text span inherit ff="monospace" style={{ whiteSpace: 'nowrap' }}>
          {maskedNumber}
        </Text>
      </ObjectLink>
    ),
  },
  {
    title: 'Holder',
    cell: ({ userId, holderName }) => (
      <ObjectLink kind="user" id={userId}>
        {holderName}
      </ObjectLink>
    ),
  },
  {
    title: 'Company',
    cell: ({ companyId, companyName }) => (
      <ObjectLink kind="company" id={companyId}>
        {companyName}
      </ObjectLink>
    ),
  },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Kind', cell: ({ physical }) => (physical ? 'Physical' : 'Virtual') },
  {
    title: 'Balance',
    align: 'right',
    sum: ({ balance }) => balance,
    cell: ({ balance }) => <Money amount={balance} fw={600} />,
  },
  { title: 'Created', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

export const CARD_FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Last four digits, id, whole e-mail or mobile' },
  { name: 'status', label: 'Status', kind: 'select', options: CARD_STATUSES },
]

/** Set by links from other pages; they have no field of their own, but can be cleared. */
export const CARD_LINKED: readonly Filter[] = [
  { name: 'cardAccountId', label: 'Card account', kind: 'linked' },
  { name: 'userId', label: 'Holder', kind: 'linked' },
]
