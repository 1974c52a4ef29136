import { listAt, type Schemas } from '../api.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { COMPANY, type Filter, PARTNER } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { useSession } from '../session.ts'
import { personName } from '../words.ts'
import { NewUser } from './new-of-company.tsx'

const COLUMNS: readonly Column<Schemas['User']>[] = [
  {
    title: 'Holder',
    cell: (user) => (
      <ObjectLink kind="user" id={user.userId}>
        {personName(user) || user.email || user.mobile || 'No name'}
      </ObjectLink>
    ),
  },
  { title: 'E-mail', cell: ({ email }) => email ?? '–' },
  { title: 'Mobile', cell: ({ mobile }) => mobile ?? '–' },
  {
    title: 'Company',
    cell: ({ companyId, companyName }) => (
      <ObjectLink kind="company" id={companyId}>
        {companyName}
      </ObjectLink>
    ),
  },
  { title: 'Created', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id, whole mobile or e-mail' },
  PARTNER,
  COMPANY,
]

export function Users() {
  const { can } = useSession()
  const create = can('operations') && <NewUser />
  return (
    <ListPage
      title="Holders"
      lead="People of companies, who hold the cards and collect the coins."
      actions={create}
      name="users"
      caption="Holders"
      load={listAt('/users')}
      columns={COLUMNS}
      rowKey={({ userId }) => userId}
      filters={FILTERS}
      sort="-created"
      empty={
        <EmptyState title="No holders yet" action={create}>
          A holder comes to be with the first card that is ordered for them, or is created here.
        </EmptyState>
      }
    />
  )
}
