import { Text } from '@mantine/core'
import { listAt, type Schemas } from '../api.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { COMPANY, CREATED, type Filter, PARTNER } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Money } from '../parts/money.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { ThingLink } from '../parts/thing-link.tsx'
import { shortId } from '../things.ts'
import { CARD_STATUSES } from '../words.ts'

const COLUMNS: readonly Column<Schemas['CardRow']>[] = [
  {
    title: 'Card',
    cell: ({ svcCardId, maskedNumber }) => (
      <>
        <ThingLink kind="card" id={svcCardId}>
          <Text span inherit ff="monospace" style={{ whiteSpace: 'nowrap' }}>
            {maskedNumber}
          </Text>
        </ThingLink>
        <Text size="xs" c="dimmed" ff="monospace" title={svcCardId}>
          {shortId(svcCardId)}
        </Text>
      </>
    ),
  },
  {
    title: 'Holder',
    cell: ({ userId, holderName }) => (
      <ThingLink kind="user" id={userId}>
        {holderName || shortId(userId)}
      </ThingLink>
    ),
  },
  {
    title: 'Company',
    cell: ({ companyId, companyName }) => (
      <ThingLink kind="company" id={companyId}>
        {companyName}
      </ThingLink>
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
  { name: 'userId', label: 'User', kind: 'linked' },
]

export function Cards() {
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
      sort="-created"
      empty={
        <EmptyState
          title="No cards yet"
          command="svc admin card-account fund acc_… --amount 250000   # then the partner orders: POST /api/v0/partner/svcCard"
        >
          Partners order cards with encrypted requests. They need a company, a funded card account and an
          OAuth client; the guide “Encrypt a request” shows the rest.
        </EmptyState>
      }
    />
  )
}
