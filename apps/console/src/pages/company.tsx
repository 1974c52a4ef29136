import { Anchor, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, responseOf } from '../api.ts'
import { ACCOUNT_COLUMNS } from '../parts/card-account-columns.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { about } from '../parts/money.tsx'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { useSession } from '../session.ts'
import { NewCardAccount, NewUser } from './new-of-company.tsx'

export function Company() {
  const { companyId = '' } = useParams({ strict: false })
  const { can } = useSession()
  const query = useQuery({
    queryKey: ['companies', companyId],
    queryFn: () => responseOf(api.GET('/companies/{companyId}', { params: { path: { companyId } } })),
  })
  return (
    <Page title={query.data?.name ?? 'Company'} trail={[{ to: '/companies', label: 'Companies' }]}>
      <Loaded query={query}>
        {({ partnerId, partnerName, createdOn, cardAccounts, users }) => (
          <>
            <Section
              title="About"
              aside={
                <Group gap="md">
                  <Anchor component={Link} to="/users" search={{ companyId } as never} size="sm">
                    Users
                  </Anchor>
                  <Anchor component={Link} to="/cards" search={{ partnerId, companyId } as never} size="sm">
                    Cards
                  </Anchor>
                </Group>
              }
            >
              <Facts
                facts={[
                  { label: 'Company id', value: <Id id={companyId} what="company id" /> },
                  {
                    label: 'Partner',
                    value: (
                      <ObjectLink kind="partner" id={partnerId}>
                        {partnerName}
                      </ObjectLink>
                    ),
                  },
                  {
                    label: 'Holders',
                    value: (
                      <Group gap="sm">
                        {about(users)}
                        {can('operations') && <NewUser companyId={companyId} variant="default" />}
                      </Group>
                    ),
                  },
                  { label: 'Created', value: <Instant at={createdOn} long /> },
                ]}
              />
            </Section>
            <Section
              title="Card accounts"
              aside={can('operations') && <NewCardAccount companyId={companyId} />}
            >
              {cardAccounts.length === 0 ? (
                <EmptyState title="No card accounts">
                  Cards are loaded from a card account. Open one, then fund it with what the partner paid in.
                </EmptyState>
              ) : (
                <DataTable
                  caption="Card accounts"
                  columns={ACCOUNT_COLUMNS}
                  rows={cardAccounts}
                  rowKey={({ cardAccountId }) => cardAccountId}
                />
              )}
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}
