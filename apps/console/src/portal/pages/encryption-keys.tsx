import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { responseOf } from '../../api.ts'
import { type FormKey, once } from '../../form-key.ts'
import { ConfirmAction } from '../../parts/confirm-action.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Id } from '../../parts/object-link.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { api, type Schemas } from '../api.ts'
import { changed, useMember } from '../session.ts'

type Key = Schemas['OwnJweKey']

const COLUMNS: readonly Column<Key>[] = [
  { title: 'Key id', cell: ({ kid }) => <Id id={kid} what="key id" /> },
  {
    title: 'Kind',
    cell: ({ alg, kind }) => (
      <>
        {kind === 'shared' ? 'Shared secret' : 'Your public key'}
        <Text size="xs" c="dimmed">
          {alg}
        </Text>
      </>
    ),
  },
  { title: 'Since', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  {
    title: 'Last request with it',
    cell: ({ kind, lastUsedOn }) =>
      kind === 'public' ? '–' : lastUsedOn ? <Instant at={lastUsedOn} /> : 'None logged',
  },
  { title: 'State', cell: ({ retiredOn }) => <StatusBadge state={retiredOn ? 'RETIRED' : 'ACTIVE'} /> },
]

/** With what the partner's programs encrypt orders of cards: two keys work side by side until the old one is ended. */
export function EncryptionKeys() {
  const { can } = useMember()
  const [jwk, setJwk] = useState<string>()
  const keys = useQuery({
    queryKey: ['encryption-keys'],
    queryFn: () => responseOf(api.GET('/encryption-keys')),
    refetchInterval: 10_000,
  })
  const create = async (_: string, key: FormKey) => {
    const made = await responseOf(api.POST('/encryption-keys', { params: { header: once(key) } }))
    setJwk(JSON.stringify(made, undefined, 2))
    await changed('encryption-keys')
  }
  const createButton = can('admin') && (
    <ConfirmAction label="Create key" confirm="Create the key" primary run={create}>
      Keys that exist work on beside it. End the old one when no request uses it any more.
    </ConfirmAction>
  )
  const ending: readonly Column<Key>[] = can('admin')
    ? [{ title: '', align: 'right', cell: (key) => <End of={key} /> }]
    : []
  return (
    <Page
      title="Encryption keys"
      lead="Your programs encrypt orders of cards with them. Without one they use the published keys of the service."
      actions={createButton}
    >
      <Loaded query={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="No keys yet" action={createButton}>
              A key is a secret that you and the service share. It is shown once.
            </EmptyState>
          ) : (
            <Section title="Keys">
              <DataTable
                caption="Encryption keys"
                columns={[...COLUMNS, ...ending]}
                rows={data}
                rowKey={({ kid }) => kid}
              />
            </Section>
          )
        }
      </Loaded>
      <SecretOnce
        what="encryption key"
        secret={jwk}
        lost="If it is lost, create another one and end this one."
        onDone={() => setJwk(undefined)}
      />
    </Page>
  )
}

function End({ of: { kid, lastUsedOn, retiredOn } }: { readonly of: Key }) {
  if (retiredOn) return undefined
  return (
    <ConfirmAction
      label="End"
      confirm="End this key"
      danger
      compact
      run={async () => {
        await responseOf(api.DELETE('/encryption-keys/{kid}', { params: { path: { kid } } }))
        await changed('encryption-keys')
      }}
    >
      Within a second nothing encrypted with it is opened any more. This cannot be undone.{' '}
      {lastUsedOn ? (
        <>
          A request used it last <Instant at={lastUsedOn} />.
        </>
      ) : (
        'No logged request used it.'
      )}
    </ConfirmAction>
  )
}
