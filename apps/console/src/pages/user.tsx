import { Anchor, Group, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Money } from '../parts/money.tsx'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Reveal } from '../parts/personal-data.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { useSession } from '../session.ts'
import { personName } from '../words.ts'
import { UserCoins } from './user-coins.tsx'

export function User() {
  const { userId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['users', userId],
    queryFn: () => responseOf(api.GET('/users/{userId}', { params: { path: { userId } } })),
  })
  return (
    <Page
      title={(query.data && (personName(query.data) || query.data.email || query.data.mobile)) || 'Holder'}
      trail={[{ to: '/users', label: 'Holders' }]}
    >
      <Loaded query={query}>{(user) => <Shown user={user} />}</Loaded>
    </Page>
  )
}

function Shown({ user }: { readonly user: Schemas['User'] }) {
  const { userId, companyId, companyName, partnerId, email, mobile, createdOn, erasedOn } = user
  return (
    <>
      <Section
        title="About"
        aside={
          <Group gap="sm">
            <Anchor component={Link} to="/cards" search={{ userId } as never} size="sm">
              Cards
            </Anchor>
            <Reveal id={userId} shown={user} />
            {!erasedOn && <Erase userId={userId} />}
          </Group>
        }
      >
        <Facts
          facts={[
            { label: 'Holder id', value: <Id id={userId} what="holder id" /> },
            { label: 'E-mail', value: email },
            { label: 'Mobile', value: mobile },
            {
              label: 'Company',
              value: (
                <ObjectLink kind="company" id={companyId}>
                  {companyName}
                </ObjectLink>
              ),
            },
            { label: 'Partner', value: <ObjectLink kind="partner" id={partnerId} /> },
            { label: 'Created', value: <Instant at={createdOn} long /> },
            { label: 'Erased', value: erasedOn && <Instant at={erasedOn} long /> },
          ]}
        />
      </Section>
      <Cards userId={userId} />
      <UserCoins userId={userId} />
    </>
  )
}

const CARDS: readonly Column<Schemas['CardRow']>[] = [
  {
    title: 'Card',
    cell: ({ svcCardId, maskedNumber }) => (
      <ObjectLink kind="card" id={svcCardId}>
        {maskedNumber}
      </ObjectLink>
    ),
  },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Balance', align: 'right', cell: ({ balance }) => <Money amount={balance} fw={600} /> },
  { title: 'Expires', cell: ({ expires }) => expires },
]

/** The newest ones; few people have more. */
function Cards({ userId }: { readonly userId: string }) {
  const query = useQuery({
    queryKey: ['cards', 'of', userId],
    queryFn: () => responseOf(api.GET('/cards', { params: { query: { userId, limit: 20 } } })),
  })
  return (
    <Section title="Cards">
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Text c="dimmed" size="sm">
              None.
            </Text>
          ) : (
            <DataTable caption="Cards" columns={CARDS} rows={data} rowKey={({ svcCardId }) => svcCardId} />
          )
        }
      </Loaded>
    </Section>
  )
}

function Erase({ userId }: { readonly userId: string }) {
  const { can } = useSession()
  const queries = useQueryClient()
  if (!can('administer')) return null
  return (
    <ConfirmAction
      label="Erase personal data"
      confirm="Erase for good"
      danger
      withReason
      typed="erase"
      compact
      run={async (reason) => {
        await responseOf(
          api.POST('/users/{userId}/erase', { params: { path: { userId } }, body: { reason } }),
        )
        await queries.invalidateQueries()
      }}
    >
      Name, contacts and addresses are erased here, on all cards of the user and in their events, and cannot
      be restored. Ids, amounts and coins stay. All cards must be blocked or expired, and nothing may be left
      on them.
    </ConfirmAction>
  )
}
