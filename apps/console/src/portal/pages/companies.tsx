import { Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ConfirmAction } from '../../parts/confirm-action.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Filter } from '../../parts/filters.tsx'
import { FormDialog, needed } from '../../parts/form-dialog.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Page } from '../../parts/page.tsx'
import { Id } from '../../parts/thing-link.tsx'
import { newIdempotencyKey, personName } from '../../words.ts'
import { api, getList, listOf, payloadOf } from '../api.ts'
import { changed, useMember } from '../session.ts'

const loadCompanies = () => payloadOf(api.GET('/partner/companies', { params: { query: { limit: 100 } } }))
type Company = Awaited<ReturnType<typeof loadCompanies>>['data'][number]

const once = () => ({ params: { header: { 'Idempotency-Key': newIdempotencyKey() } } })

/** The partner's companies, for select boxes. */
export function useCompanies() {
  const { data } = useQuery({ queryKey: ['companies', 'choices'], queryFn: loadCompanies })
  return (data?.data ?? []).map(({ companyId, name }) => ({ value: companyId, label: name }))
}

const COMPANIES: readonly Column<Company>[] = [
  { title: 'Company', cell: ({ name }) => name },
  { title: 'Id', cell: ({ companyId }) => <Id id={companyId} what="company id" /> },
  { title: 'Registered', cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

export function Companies() {
  const { can } = useMember()
  const create = can('operator') && <CreateCompany />
  return (
    <ListPage
      title="Companies"
      lead="Your customers, whose users hold cards and coins."
      actions={create}
      name="companies"
      caption="Companies"
      load={getList<Company>('/partner/companies')}
      columns={COMPANIES}
      rowKey={({ companyId }) => companyId}
      filters={[]}
      empty={
        <EmptyState title="No companies yet" action={create}>
          Register the first one; then its users and card accounts.
        </EmptyState>
      }
    />
  )
}

function CreateCompany() {
  return (
    <FormDialog
      label="Register company"
      send="Register"
      initial={{ name: '' }}
      rules={{ name: needed }}
      fields={(form) => <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />}
      submit={async ({ name }) => {
        await payloadOf(api.POST('/partner/companies', { ...once(), body: { name: name.trim() } }))
        await changed('companies')
      }}
    />
  )
}

const loadUsers = (query: { companyId: string }) =>
  payloadOf(api.GET('/partner/users', { params: { query } }))
type User = Awaited<ReturnType<typeof loadUsers>>['data'][number]

const USERS: readonly Column<User>[] = [
  { title: 'Name', cell: (user) => (user.erasedOn ? 'Erased' : personName(user) || '–') },
  { title: 'E-mail', cell: ({ email }) => email ?? '–' },
  { title: 'Mobile', cell: ({ mobile }) => mobile ?? '–' },
  { title: 'Id', cell: ({ userId }) => <Id id={userId} what="user id" /> },
  { title: 'Registered', cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const ERASE: Column<User> = {
  title: 'Personal data',
  cell: ({ userId, erasedOn }) =>
    erasedOn ? (
      <Instant at={erasedOn} />
    ) : (
      <ConfirmAction
        label="Erase"
        confirm="Erase for good"
        danger
        compact
        typed="erase"
        run={async () => {
          const params = { path: { userId }, ...once().params }
          await payloadOf(api.POST('/partner/users/{userId}/erase', { params }))
          await changed('users')
        }}
      >
        Name and contacts of this user are erased, on all cards and in their events, and cannot be restored.
        The cards must be blocked or expired, and nothing may be left on them, nor coins.
      </ConfirmAction>
    ),
}

export function Users() {
  const { can } = useMember()
  const companies = useCompanies()
  const filters: readonly Filter[] = [
    { name: 'companyId', label: 'Company', kind: 'select', options: companies },
  ]
  const create = can('operator') && <CreateUser companies={companies} />
  const [first] = companies
  if (!first)
    return (
      <Page title="Users">
        <EmptyState title="No companies yet">Users belong to a company: register one first.</EmptyState>
      </Page>
    )
  return (
    <ListPage
      title="Users"
      lead="People of one of your companies, who hold cards and coins."
      actions={create}
      name="users"
      caption="Users"
      load={listOf((query) => getList<User>('/partner/users')({ companyId: first.value, ...query }))}
      columns={can('admin') ? [...USERS, ERASE] : USERS}
      rowKey={({ userId }) => userId}
      filters={filters}
      empty={
        <EmptyState title="No users yet" action={create}>
          Holders also come to be by the first order of a card for them.
        </EmptyState>
      }
    />
  )
}

interface CompanyChoices {
  readonly companies: { value: string; label: string }[]
}

function CreateUser({ companies }: CompanyChoices) {
  return (
    <FormDialog
      label="Register user"
      send="Register"
      initial={{ companyId: companies[0]?.value ?? '', firstName: '', lastName: '', email: '', mobile: '' }}
      rules={{ companyId: needed }}
      fields={(form) => (
        <>
          <Select label="Company" data={companies} searchable {...form.getInputProps('companyId')} />
          <TextInput label="First name" data-autofocus {...form.getInputProps('firstName')} />
          <TextInput label="Last name" {...form.getInputProps('lastName')} />
          <TextInput label="E-mail" inputMode="email" {...form.getInputProps('email')} />
          <TextInput
            label="Mobile"
            inputMode="tel"
            placeholder="9876543210"
            {...form.getInputProps('mobile')}
          />
        </>
      )}
      submit={async ({ companyId, ...texts }) => {
        const given = Object.entries(texts).filter(([, text]) => text.trim() !== '')
        const body = { companyId, ...Object.fromEntries(given.map(([name, text]) => [name, text.trim()])) }
        await payloadOf(api.POST('/partner/users', { ...once(), body }))
        await changed('users')
      }}
    />
  )
}
