import { api, listAt, responseOf, type Schemas } from '../api.ts'
import type { BulkAction } from '../bulk.ts'
import { type FormKey, once } from '../form-key.ts'
import { CARD_COLUMNS, CARD_FILTERS, CARD_LINKED } from '../parts/card-columns.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { COMPANY, CREATED, type Filter, PARTNER } from '../parts/filters.tsx'
import type { ListKind } from '../parts/list-of-tenant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { queryClient, useSession } from '../session.ts'

const FILTERS: readonly Filter[] = [...CARD_FILTERS, PARTNER, COMPANY, ...CREATED, ...CARD_LINKED]

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

export const CARDS: ListKind<Row> = {
  name: 'cards',
  caption: 'Cards',
  columns: CARD_COLUMNS,
  rowKey: ({ svcCardId }) => svcCardId,
  filters: FILTERS,
  sort: '-created',
}

export function Cards() {
  const { can } = useSession()
  return (
    <ListPage
      title="Cards"
      lead="Cards of all partners. Numbers are masked everywhere; only the encrypted record has them in full."
      {...CARDS}
      load={listAt('/cards')}
      bulk={can('support') ? BULK : []}
      empty={
        <EmptyState title="No cards yet">
          Partners order cards with encrypted requests. They need a company, a funded card account and an
          OAuth client; the guide “Encrypt a request” shows the rest.
        </EmptyState>
      }
    />
  )
}
