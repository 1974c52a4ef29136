import { TextInput } from '@mantine/core'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { once } from '../form-key.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { type Filter, PARTNER } from '../parts/filters.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import type { ListKind } from '../parts/list-of-tenant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Picker } from '../parts/picker.tsx'
import { queryClient, useSession } from '../session.ts'

const COLUMNS: readonly Column<Schemas['Company']>[] = [
  {
    title: 'Company',
    sorts: ['name'],
    cell: ({ companyId, name }) => (
      <ObjectLink kind="company" id={companyId}>
        {name}
      </ObjectLink>
    ),
  },
  {
    title: 'Partner',
    cell: ({ partnerId, partnerName }) => (
      <ObjectLink kind="partner" id={partnerId}>
        {partnerName}
      </ObjectLink>
    ),
  },
  { title: 'Created', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id, or begin of the name' },
  PARTNER,
]

export const COMPANIES: ListKind<Schemas['Company']> = {
  name: 'companies',
  caption: 'Companies',
  columns: COLUMNS,
  rowKey: ({ companyId }) => companyId,
  filters: FILTERS,
  sort: '-created',
}

export function Companies() {
  const { can } = useSession()
  const create = can('operations') && <CreateCompany />
  return (
    <ListPage
      title="Companies"
      lead="Customers of partners. Their users hold the cards, their card accounts pay for them."
      actions={create}
      {...COMPANIES}
      load={listAt('/companies')}
      empty={
        <EmptyState title="No companies yet" action={create}>
          A partner’s first company comes with its on-boarding: create the partner, then its company here.
        </EmptyState>
      }
    />
  )
}

function CreateCompany() {
  return (
    <FormDialog
      label="Create company"
      send="Create"
      initial={{ partnerId: '', name: '' }}
      rules={{ partnerId: needed, name: needed }}
      fields={(form) => (
        <>
          <Picker of="partner" {...form.getInputProps('partnerId')} />
          <TextInput label="Name" {...form.getInputProps('name')} />
        </>
      )}
      submit={async (body, key) => {
        await responseOf(api.POST('/companies', { params: { header: once(key) }, body }))
        await queryClient.invalidateQueries({ queryKey: ['companies'] })
      }}
    />
  )
}
