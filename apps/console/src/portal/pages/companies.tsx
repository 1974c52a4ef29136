import { Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { once } from '../../form-key.ts'
import { ACCOUNT_COLUMNS, type AccountRow } from '../../parts/card-account-columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { FormDialog, needed } from '../../parts/form-dialog.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Id, NamedLink, ObjectLink } from '../../parts/object-link.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { api, getList, payloadOf, type Schemas } from '../api.ts'
import { changed, useMember } from '../session.ts'
import { CardsOf } from './cards.tsx'
import { NewCardAccount, NewHolder } from './new-of-company.tsx'

type Company = Schemas['PartnerCompany']

const COMPANIES: readonly Column<Company>[] = [
  {
    title: 'Company',
    cell: ({ companyId, name }) => (
      <ObjectLink kind="company" id={companyId}>
        {name}
      </ObjectLink>
    ),
  },
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

function Accounts({ companyId }: { readonly companyId: string }) {
  const accounts = useQuery({
    queryKey: ['card-accounts', 'of', companyId],
    queryFn: () => getList<AccountRow>('/partner/card-accounts', { companyId })({}),
  })
  return (
    <Section title="Card accounts">
      <Loaded query={accounts}>
        {({ data }) =>
          data.length === 0 ? (
            <Text c="dimmed">None yet. Its cards are loaded from a card account: create one above.</Text>
          ) : (
            <DataTable
              caption="Card accounts"
              columns={ACCOUNT_COLUMNS}
              rows={data}
              rowKey={({ cardAccountId }) => cardAccountId}
            />
          )
        }
      </Loaded>
    </Section>
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

export function Company() {
  const { companyId = '' } = useParams({ strict: false })
  const { can } = useMember()
  const inPath = { path: { companyId } }
  const company = useQuery({
    queryKey: ['companies', companyId],
    queryFn: () => payloadOf(api.GET('/partner/companies/{companyId}', { params: inPath })),
  })
  return (
    <Page
      title={company.data?.name ?? 'Company'}
      trail={[{ to: '/companies', label: 'Companies' }]}
      actions={
        can('operator') && (
          <>
            <NewHolder companyId={companyId} variant="default" />
            <NewCardAccount companyId={companyId} />
          </>
        )
      }
    >
      <Loaded query={company}>
        {({ createdOn }) => (
          <>
            <Section
              title="About"
              aside={<NamedLink to={`/users?companyId=${companyId}`}>Its holders</NamedLink>}
            >
              <Facts
                facts={[
                  { label: 'Registered', value: <Instant at={createdOn} long /> },
                  { label: 'Company id', value: <Id id={companyId} what="company id" /> },
                ]}
              />
            </Section>
            <Accounts companyId={companyId} />
            <Section title="Cards">
              <CardsOf of={{ companyId }} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}
