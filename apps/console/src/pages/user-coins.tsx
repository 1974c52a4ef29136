import { SimpleGrid, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { once } from '../form-key.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Section } from '../parts/page.tsx'
import { Tile } from '../parts/tile.tsx'
import { useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'

type Entry = Schemas['CoinHistoryEntry']
type Allocation = Schemas['CoinAllocationState']

const SIGNS: Readonly<Record<Entry['kind'], string>> = {
  ALLOCATED: '+',
  ACTIVATED: '+',
  REDEEMED: '−',
  EXPIRED: '−',
  VOIDED: '−',
  // They leave the active coins as they are.
  PENDING: '',
  PENDING_VOIDED: '',
}

const HISTORY: readonly Column<Entry>[] = [
  { title: 'When', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  {
    title: 'What',
    cell: ({ kind, event, reason, shortfall }) => (
      <>
        {sentenceCase(kind)}
        {event ? ` for ${event}` : ''}
        {reason !== undefined && (
          <Text size="xs" c="dimmed">
            {reason}
            {shortfall ? `; ${count(shortfall)} spent coins were not taken back` : ''}
          </Text>
        )}
      </>
    ),
  },
  {
    title: 'By',
    cell: ({ coinConfigId, revision }) =>
      coinConfigId ? (
        <ObjectLink kind="coinConfig" id={coinConfigId}>
          {`revision ${revision}`}
        </ObjectLink>
      ) : (
        '–'
      ),
  },
  { title: 'Coins', align: 'right', cell: ({ amount, kind }) => SIGNS[kind] + count(Math.abs(amount)) },
  { title: 'Active after', align: 'right', cell: ({ balance }) => count(balance) },
]

const ALLOCATIONS: readonly Column<Allocation>[] = [
  { title: 'Allocated', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'Event', cell: ({ event }) => event },
  { title: 'Coins', align: 'right', cell: ({ amount }) => count(amount) },
  {
    title: 'Pending',
    align: 'right',
    cell: ({ pending, activatesOn }) =>
      pending === 0 ? (
        '0'
      ) : (
        <>
          {count(pending)}
          <Text size="xs" c="dimmed">
            {activatesOn ? (
              <>
                active <Instant at={activatesOn} />
              </>
            ) : (
              'until confirmed'
            )}
          </Text>
        </>
      ),
  },
  { title: 'Active', align: 'right', cell: ({ remaining }) => count(remaining) },
  { title: 'Spent', align: 'right', cell: ({ spent }) => count(spent) },
  { title: 'Expired', align: 'right', cell: ({ expired }) => count(expired) },
  { title: 'Voided', align: 'right', cell: ({ voided }) => count(voided) },
  { title: 'Expires', cell: ({ expiresOn }) => (expiresOn ? <Instant at={expiresOn} /> : '–') },
  { title: '', cell: (allocation) => <Void allocation={allocation} /> },
]

function Void({ allocation: { allocationId, voidId, event } }: { readonly allocation: Allocation }) {
  const { can } = useSession()
  const queries = useQueryClient()
  if (voidId !== undefined)
    return (
      <Text size="xs" c="dimmed">
        voided
      </Text>
    )
  if (!can('finance')) return null
  return (
    <ConfirmAction
      label="Void"
      confirm="Void allocation"
      danger
      withReason
      compact
      run={async (reason, key) => {
        await responseOf(
          api.POST('/coin-allocations/{allocationId}/void', {
            params: { path: { allocationId }, header: once(key) },
            body: { reason },
          }),
        )
        await queries.invalidateQueries()
      }}
    >
      What is pending or remains of the allocation for {event} is taken back for good. What the user has spent
      of it is taken from other coins only if the service is set so (<code>COIN_CLAWBACK</code>).
    </ConfirmAction>
  )
}

export function UserCoins({ userId }: { readonly userId: string }) {
  const query = useQuery({
    queryKey: ['users', userId, 'coins'],
    queryFn: () => responseOf(api.GET('/users/{userId}/coins', { params: { path: { userId } } })),
  })
  return (
    <Section title="Coins">
      <Loaded query={query}>{(coins) => <Shown {...coins} />}</Loaded>
    </Section>
  )
}

function Shown({ balance, allocations, history, next }: Schemas['UserCoins']) {
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 5 }}>
        <Tile label="Active" value={count(balance.active)} />
        <Tile label="Pending" value={count(balance.pending)} />
        <Tile label="Spent" value={count(balance.spent)} />
        <Tile label="Expired" value={count(balance.expired)} />
        <Tile label="Voided" value={count(balance.voided)} />
      </SimpleGrid>
      {history.length === 0 ? (
        <Text c="dimmed" size="sm">
          No coins yet. A rewards partner awards them.
        </Text>
      ) : (
        <>
          <DataTable
            caption="Coin allocations"
            columns={ALLOCATIONS}
            rows={allocations}
            rowKey={({ allocationId }) => allocationId}
          />
          <DataTable
            caption="Coin history"
            columns={HISTORY}
            rows={history}
            rowKey={({ entry }) => String(entry)}
          />
        </>
      )}
      {next && (
        <Text c="dimmed" size="sm">
          The newest 50 are shown.
        </Text>
      )}
    </>
  )
}
