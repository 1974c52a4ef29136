import { Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { once } from '../../form-key.ts'
import { ConfirmAction } from '../../parts/confirm-action.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Filter } from '../../parts/filters.tsx'
import { FormDialog, needed } from '../../parts/form-dialog.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Id } from '../../parts/object-link.tsx'
import { Page } from '../../parts/page.tsx'
import { personName } from '../../words.ts'
import { api, getList, payloadOf } from '../api.ts'
import { changed, useMember } from '../session.ts'

const loadCompanies = (query: { limit: number; after?: string }) =>
  payloadOf(api.GET('/partner/companies', { params: { query } }))
type Company = Awaited<ReturnType<typeof loadCompanies>>['data'][number]

async function loadAllCompanies(): Promise<readonly Company[]> {
  const all: Company[] = []
  for (let after: string | undefined; ; ) {
    const { data, next } = await loadCompanies({ limit: 500, ...(after !== undefined && { after }) })
    all.push(...data)
    if (next === undefined) return all
    after = next
  }
}

interface Choice {
  readonly value: string
  readonly label: string
}

/** The partner's companies, for select boxes; `undefined` until they are there. */
function useChoices(): Choice[] | undefined {
  const { data } = useQuery({ queryKey: ['companies', 'choices'], queryFn: loadAllCompanies })
  return data?.map(({ companyId, name }) => ({ value: companyId, label: name }))
}
export const useCompanies = (): Choice[] => useChoices() ?? []

const COMPANIES: readonly Column<Company>[] = [
  { title: 'Company', cell: ({ name }) => name },
  { title: 'Id', cell: ({ companyId }) => <Id id={companyId} what="company id" short /> },
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
      submit={async ({ name }, key) => {
        const params = { header: once(key) }
        await payloadOf(api.POST('/partner/companies', { params, body: { name: name.trim() } }))
        await changed('companies')
      }}
    />
  )
}

const loadUsers = () => payloadOf(api.GET('/partner/users'))
type User = Awaited<ReturnType<typeof loadUsers>>['data'][number]

const usersOf = (companies: readonly Choice[]): readonly Column<User>[] => [
  { title: 'Name', cell: (user) => (user.erasedOn ? 'Erased' : personName(user) || '–') },
  {
    title: 'Company',
    cell: ({ companyId }) => companies.find(({ value }) => value === companyId)?.label ?? '–',
  },
  { title: 'E-mail', cell: ({ email }) => email ?? '–' },
  { title: 'Mobile', cell: ({ mobile }) => mobile ?? '–' },
  { title: 'Id', cell: ({ userId }) => <Id id={userId} what="user id" short /> },
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
        run={async (_, key) => {
          const params = { path: { userId }, header: once(key) }
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
  const choices = useChoices()
  const companies = choices ?? []
  const filters: readonly Filter[] = [
    { name: 'companyId', label: 'Company', kind: 'select', options: companies },
  ]
  const create = can('operator') && companies.length > 0 && <CreateUser companies={companies} />
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
      columns={can('admin') ? [...usersOf(companies), ERASE] : usersOf(companies)}
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

function CreateUser({ companies }: { readonly companies: Choice[] }) {
  return (
    <FormDialog
      label="Register holder"
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
      submit={async ({ companyId, ...texts }, key) => {
        const given = Object.entries(texts).filter(([, text]) => text.trim() !== '')
        const body = { companyId, ...Object.fromEntries(given.map(([name, text]) => [name, text.trim()])) }
        await payloadOf(api.POST('/partner/users', { params: { header: once(key) }, body }))
        await changed('users')
      }}
    />
  )
}
