import { listAt, type Schemas } from '../api.ts'
import { ACCOUNT_COLUMNS } from '../parts/card-account-columns.tsx'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { COMPANY, type Filter, PARTNER } from '../parts/filters.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import type { ListKind } from '../parts/list-of-tenant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { useSession } from '../session.ts'
import { PRODUCTS } from '../words.ts'

const NewCardAccount = lazyPart(async () => (await import('./new-of-company.tsx')).NewCardAccount, null)
const FundCardAccount = lazyPart(async () => (await import('./fund-card-account.tsx')).FundCardAccount, null)

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id' },
  PARTNER,
  COMPANY,
  { name: 'product', label: 'Product', kind: 'select', options: PRODUCTS },
]

const FUND: Column<Schemas['CardAccount']> = {
  title: 'What to do',
  align: 'right',
  cell: ({ cardAccountId, cardProgramme, companyName }) => (
    <FundCardAccount cardAccountId={cardAccountId} compact={`${cardProgramme} of ${companyName}`} />
  ),
}

export const CARD_ACCOUNTS: ListKind<Schemas['CardAccount']> = {
  name: 'card-accounts',
  caption: 'Card accounts',
  columns: ACCOUNT_COLUMNS,
  rowKey: ({ cardAccountId }) => cardAccountId,
  filters: FILTERS,
  sort: '-created',
}

export function CardAccounts() {
  const { can } = useSession()
  const create = can('operations') && <NewCardAccount />
  return (
    <ListPage
      title="Card accounts"
      lead="What the cards of a company are loaded from. Money that a partner paid in is entered here."
      actions={create}
      {...CARD_ACCOUNTS}
      load={listAt('/card-accounts')}
      columns={can('finance') ? [...ACCOUNT_COLUMNS, FUND] : ACCOUNT_COLUMNS}
      empty={
        <EmptyState title="No card accounts yet" action={create}>
          Every card is loaded from a card account, which belongs to a company. Open one and fund it; then
          cards can be ordered.
        </EmptyState>
      }
    />
  )
}
