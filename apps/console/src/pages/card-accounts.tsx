import { listAt, type Schemas } from '../api.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { COMPANY, type Filter, PARTNER } from '../parts/filters.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { useSession } from '../session.ts'
import { PRODUCTS } from '../words.ts'
import { ACCOUNT_COLUMNS } from './card-account-columns.tsx'

const CreateCardAccount = lazyPart(
  async () => (await import('./create-card-account.tsx')).CreateCardAccount,
  null,
)
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

export function CardAccounts() {
  const { can } = useSession()
  const create = can('operations') && <CreateCardAccount />
  return (
    <ListPage
      title="Card accounts"
      lead="What the cards of a company are loaded from. Money that a partner paid in is entered here."
      actions={create}
      name="card-accounts"
      caption="Card accounts"
      load={listAt('/card-accounts')}
      columns={can('finance') ? [...ACCOUNT_COLUMNS, FUND] : ACCOUNT_COLUMNS}
      rowKey={({ cardAccountId }) => cardAccountId}
      filters={FILTERS}
      sort="-created"
      empty={
        <EmptyState title="No card accounts yet" action={create}>
          Every card is loaded from a card account, which belongs to a company. Open one and fund it; then
          cards can be ordered.
        </EmptyState>
      }
    />
  )
}
