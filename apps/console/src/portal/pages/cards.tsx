import { CARD_COLUMNS, CARD_FILTERS, CARD_LINKED, type CardRow } from '../../parts/card-columns.tsx'
import { unsorted } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { CREATED, type Filter } from '../../parts/filters.tsx'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { List, ListPage } from '../../parts/list-page.tsx'
import { NamedLink } from '../../parts/object-link.tsx'
import { getOwnList } from '../api.ts'
import { useMember } from '../session.ts'
import { useAccounts, useCompanies } from './choices.ts'

const IssueCard = lazyPart(async () => (await import('./issue-cards.tsx')).IssueCard, null)

const common = {
  name: 'cards',
  caption: 'Cards',
  columns: unsorted(CARD_COLUMNS),
  rowKey: ({ svcCardId }: CardRow) => svcCardId,
} as const

/** Cards of all accounts. */
export function Cards() {
  const { can } = useMember()
  const accounts = useAccounts()
  const companies = useCompanies()
  const filters: readonly Filter[] = [
    ...CARD_FILTERS,
    { name: 'companyId', label: 'Company', kind: 'select', options: companies },
    ...CREATED,
    ...CARD_LINKED,
  ]
  return (
    <ListPage
      {...common}
      title="Cards"
      lead="All cards of your companies, with what is on them. Open one for its transactions, or to lock it."
      actions={can('operator') && accounts.length > 0 && <IssueCard accounts={accounts} />}
      load={getOwnList<CardRow>('/cards', {}, can('admin'))}
      filters={filters}
      empty={
        <EmptyState title="No cards yet">
          Cards are loaded from a{' '}
          <NamedLink to="/card-accounts" inText>
            card account
          </NamedLink>
          . Issue one here or many by a file on the page of the account; your programs can order them too.
        </EmptyState>
      }
    />
  )
}

/** Cards of an account, a company or a holder, on its page. */
export const CardsOf = ({ of }: { readonly of: Readonly<Record<string, string>> }) => (
  <List
    {...common}
    id={JSON.stringify(of)}
    load={getOwnList<CardRow>('/cards', of)}
    filters={CARD_FILTERS}
    empty={<EmptyState title="No cards yet">They appear here once they are issued.</EmptyState>}
  />
)
