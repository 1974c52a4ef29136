import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { once } from '../../form-key.ts'
import type { Choice } from '../../parts/company-field.tsx'
import { ConfirmAction } from '../../parts/confirm-action.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Filter } from '../../parts/filters.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Id, ObjectLink } from '../../parts/object-link.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { personName } from '../../words.ts'
import { api, getList, payloadOf } from '../api.ts'
import { changed, useMember } from '../session.ts'
import { CardsOf } from './cards.tsx'
import { useCompanyChoices } from './choices.ts'
import { NewHolder } from './new-of-company.tsx'

const loadUsers = () => payloadOf(api.GET('/partner/users'))
type User = Awaited<ReturnType<typeof loadUsers>>['data'][number]

/** What a holder is called: by the name, or by what else is known. */
const calledOf = (user: User): string =>
  user.erasedOn ? 'Erased' : personName(user) || user.email || user.mobile || 'No name'

const usersOf = (companies: readonly Choice[]): readonly Column<User>[] => [
  {
    title: 'Holder',
    cell: (user) => (
      <ObjectLink kind="user" id={user.userId}>
        {calledOf(user)}
      </ObjectLink>
    ),
  },
  {
    title: 'Company',
    cell: ({ companyId }) => (
      <ObjectLink kind="company" id={companyId}>
        {companies.find(({ value }) => value === companyId)?.label}
      </ObjectLink>
    ),
  },
  { title: 'E-mail', cell: ({ email }) => email ?? '–' },
  { title: 'Mobile', cell: ({ mobile }) => mobile ?? '–' },
  { title: 'Registered', cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

/** For good, by an administrator. */
function Erase({ userId }: { readonly userId: string }) {
  return (
    <ConfirmAction
      label="Erase personal data"
      confirm="Erase for good"
      danger
      typed="erase"
      run={async (_, key) => {
        const params = { path: { userId }, header: once(key) }
        await payloadOf(api.POST('/partner/users/{userId}/erase', { params }))
        await changed('users')
      }}
    >
      Name and contacts of this holder are erased, on all cards and in their events, and cannot be restored.
      The cards must be blocked or expired, and nothing may be left on them, nor coins.
    </ConfirmAction>
  )
}

/** People of all companies, or of one. */
export function Holders() {
  const { can } = useMember()
  const choices = useCompanyChoices()
  const companies = choices ?? []
  const filters: readonly Filter[] = [
    { name: 'companyId', label: 'Company', kind: 'select', options: companies },
  ]
  const create = can('operator') && companies.length > 0 && <NewHolder companies={companies} />
  if (choices?.length === 0)
    return (
      <Page title="Holders">
        <EmptyState title="No companies yet">Holders belong to a company: register one first.</EmptyState>
      </Page>
    )
  return (
    <ListPage
      title="Holders"
      lead="People of your companies, who hold cards and coins."
      actions={create}
      name="users"
      caption="Holders"
      load={getList<User>('/partner/users')}
      columns={usersOf(companies)}
      rowKey={({ userId }) => userId}
      filters={filters}
      empty={
        <EmptyState title="No holders yet" action={create}>
          Holders also come to be by the first order of a card for them.
        </EmptyState>
      }
    />
  )
}

export function Holder() {
  const { userId = '' } = useParams({ strict: false })
  const { can } = useMember()
  const holder = useQuery({
    queryKey: ['users', userId],
    queryFn: () => payloadOf(api.GET('/partner/users/{userId}', { params: { path: { userId } } })),
  })
  return (
    <Page
      title={holder.data ? calledOf(holder.data) : 'Holder'}
      trail={[{ to: '/users', label: 'Holders' }]}
      actions={holder.data && !holder.data.erasedOn && can('admin') && <Erase userId={userId} />}
    >
      <Loaded query={holder}>
        {({ companyId, createdOn, email, erasedOn, mobile }) => (
          <>
            <Section title="About">
              <Facts
                facts={[
                  { label: 'Company', value: <ObjectLink kind="company" id={companyId} /> },
                  { label: 'E-mail', value: email },
                  { label: 'Mobile', value: mobile },
                  { label: 'Registered', value: <Instant at={createdOn} long /> },
                  ...(erasedOn ? [{ label: 'Erased', value: <Instant at={erasedOn} long /> }] : []),
                  { label: 'User id', value: <Id id={userId} what="user id" /> },
                ]}
              />
            </Section>
            <Section title="Cards">
              <CardsOf of={{ userId }} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}
