import { Text } from '@mantine/core'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import type { BulkAction } from '../bulk.ts'
import { type FormKey, once } from '../form-key.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { COMPANY, CREATED, type Filter, PARTNER } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { CARD_STATUSES } from '../words.ts'

const COLUMNS: readonly Column<Schemas['CardRow']>[] = [
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
  { title: 'Balance', align: 'right', cell: ({ balance }) => <Money amount={balance} fw={600} /> },
  { title: 'Created', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Card or user id, whole e-mail or mobile' },
  { name: 'status', label: 'Status', kind: 'select', options: CARD_STATUSES },
  PARTNER,
  COMPANY,
  ...CREATED,
]

/** Set by links from other pages; they have no field of their own, but can be cleared. */
const LINKED: readonly Filter[] = [
  { name: 'cardAccountId', label: 'Card account', kind: 'linked' },
  { name: 'userId', label: 'Holder', kind: 'linked' },
]

type Row = Schemas['CardRow']

const REASON = { label: 'Reason', maxLength: 200 }

const setStatus = ({ svcCardId }: Row, status: 'L' | 'UL', reason: string, key: FormKey) =>
  responseOf(
    api.POST('/cards/{svcCardId}/status', {
      params: { path: { svcCardId }, header: once(key) },
      body: { status, reason },
    }),
  )

const common = {
  text: REASON,
  nameOf: ({ holderName, maskedNumber }: Row) => [maskedNumber, holderName].filter(Boolean).join(', '),
  changed: () => queryClient.invalidateQueries({ queryKey: ['cards'] }),
}

const BULK: readonly BulkAction<Row>[] = [
  {
    ...common,
    label: 'Lock',
    confirm: 'Lock cards',
    says: 'These cards cannot be used until they are unlocked. Their balances stay.',
    applies: ({ status }) => status === 'UL',
    run: (row, reason, key) => setStatus(row, 'L', reason, key),
    undo: (row, key) => setStatus(row, 'UL', 'Undone by the operator', key),
  },
  {
    ...common,
    label: 'Unlock',
    confirm: 'Unlock cards',
    says: 'These cards can be used again.',
    applies: ({ status }) => status === 'L',
    run: (row, reason, key) => setStatus(row, 'UL', reason, key),
    undo: (row, key) => setStatus(row, 'L', 'Undone by the operator', key),
  },
]

export function Cards() {
  const { can } = useSession()
  return (
    <ListPage
      title="Cards"
      lead="Cards of all partners. Numbers are masked everywhere; only the encrypted record has them in full."
      name="cards"
      caption="Cards"
      load={listAt('/cards')}
      columns={COLUMNS}
      rowKey={({ svcCardId }) => svcCardId}
      filters={[...FILTERS, ...LINKED]}
      bulk={can('support') ? BULK : []}
      sort="-created"
      empty={
        <EmptyState title="No cards yet">
          Partners order cards with encrypted requests. They need a company, a funded card account and an
          OAuth client; the guide “Encrypt a request” shows the rest.
        </EmptyState>
      }
    />
  )
}
