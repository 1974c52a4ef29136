import { Group, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { type FormKey, once } from '../../form-key.ts'
import { ConfirmAction } from '../../parts/confirm-action.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { FormDialog, needed } from '../../parts/form-dialog.tsx'
import { Instant } from '../../parts/instant.tsx'
import { List } from '../../parts/list-page.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { Replay, type ReplayCalls, ResendFailed } from '../../parts/replay-events.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { HttpStatus, StatusBadge } from '../../parts/status-badge.tsx'
import { api, getList, payloadOf, type Schemas } from '../api.ts'
import { changed, useMember } from '../session.ts'

const inPath = (endpointId: string) => ({ params: { path: { endpointId } } })
const withKey = (endpointId: string, key: FormKey) => ({
  params: { path: { endpointId }, header: once(key) },
})
const load = (endpointId: string) => payloadOf(api.GET('/webhook-endpoints/{endpointId}', inPath(endpointId)))
type Endpoint = Awaited<ReturnType<typeof load>>

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    title: 'Address',
    cell: ({ endpointId, url }) => (
      <ObjectLink kind="webhookEndpoint" id={endpointId}>
        {url}
      </ObjectLink>
    ),
  },
  { title: 'Description', cell: ({ description }) => description || '–' },
  { title: 'Events', cell: ({ types }) => (types.length === 0 ? 'All' : types.join(', ')) },
  { title: 'Status', cell: ({ enabled }) => <StatusBadge state={enabled ? 'ACTIVE' : 'DISABLED'} /> },
]

export function Webhooks() {
  const { can } = useMember()
  const endpoints = useQuery({
    queryKey: ['webhooks'],
    queryFn: () => payloadOf(api.GET('/webhook-endpoints')),
  })
  const create = can('admin') && <CreateWebhook />
  return (
    <Page title="Webhooks" lead="Where the service reports what happens, as it happens." actions={create}>
      <Loaded query={endpoints}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="No webhooks yet" action={create}>
              Give the address of your program; each message is signed with a secret that you get once.
            </EmptyState>
          ) : (
            <Section title="Endpoints">
              <DataTable
                caption="Webhook endpoints"
                columns={COLUMNS}
                rows={data}
                rowKey={({ endpointId }) => endpointId}
              />
            </Section>
          )
        }
      </Loaded>
    </Page>
  )
}

function CreateWebhook() {
  const navigate = useNavigate()
  const [made, setMade] = useState<{ endpointId: string; secret: string }>()
  return (
    <>
      <FormDialog
        label="Create webhook"
        send="Create"
        initial={{ url: '', description: '' }}
        rules={{ url: needed }}
        fields={(form) => (
          <>
            <TextInput
              label="URL"
              placeholder="https://shop.example/hook"
              inputMode="url"
              data-autofocus
              {...form.getInputProps('url')}
            />
            <TextInput label="Description" {...form.getInputProps('description')} />
          </>
        )}
        submit={async (body, key) => {
          const params = { header: once(key) }
          setMade(await payloadOf(api.POST('/webhook-endpoints', { params, body })))
          await changed('webhooks')
        }}
      />
      <SecretOnce
        what="webhook secret"
        secret={made?.secret}
        lost="If it is lost, rotate the secret: the previous one goes on signing for a while."
        onDone={() => {
          const endpointId = made?.endpointId ?? ''
          setMade(undefined)
          void navigate({ to: `/webhooks/${endpointId}` as string })
        }}
      />
    </>
  )
}

type Attempt = Schemas['WebhookAttempt']

export function Webhook() {
  const { endpointId = '' } = useParams({ strict: false })
  const { can } = useMember()
  const endpoint = useQuery({ queryKey: ['webhooks', endpointId], queryFn: () => load(endpointId) })
  return (
    <Page
      title={endpoint.data?.url ?? 'Webhook'}
      badge={endpoint.data && <StatusBadge state={endpoint.data.enabled ? 'ACTIVE' : 'DISABLED'} />}
      trail={[{ to: '/webhooks', label: 'Webhooks' }]}
      actions={endpoint.data && can('admin') && <Actions endpoint={endpoint.data} />}
    >
      <Loaded query={endpoint}>
        {(one) => (
          <Section title="About">
            <Facts
              facts={[
                { label: 'Description', value: one.description },
                { label: 'Events', value: one.types.length === 0 ? 'All' : one.types.join(', ') },
                { label: 'Disabled because', value: one.disabledReason },
                { label: 'Created', value: <Instant at={one.createdOn} /> },
              ]}
            />
          </Section>
        )}
      </Loaded>
      <Section title="Attempts">
        <List
          name="webhook-attempts"
          id={endpointId}
          caption="Attempts to deliver"
          load={getList<Attempt>(`/webhook-endpoints/${encodeURIComponent(endpointId)}/attempts`)}
          columns={attemptColumns(endpointId)}
          rowKey={({ attemptId }) => attemptId}
          filters={[
            { name: 'eventId', label: 'Event id', kind: 'text' },
            {
              name: 'outcome',
              label: 'Outcome',
              kind: 'select',
              options: [{ value: 'failure', label: 'Failed' }],
            },
          ]}
          refreshMs={5_000}
          empty={<Text c="dimmed">Nothing was sent yet.</Text>}
        />
      </Section>
    </Page>
  )
}

const attemptColumns = (endpointId: string): readonly Column<Attempt>[] => [
  { title: 'Event', cell: ({ eventId, type }) => <span title={eventId}>{type ?? 'Forgotten'}</span> },
  { title: 'Attempt', align: 'right', cell: ({ attempt }) => String(attempt) },
  {
    title: 'Response',
    cell: ({ status, failure, responseExcerpt }) => (
      <>
        {status === undefined ? (failure ?? '–') : <HttpStatus status={status} />}
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {responseExcerpt}
        </Text>
      </>
    ),
  },
  { title: 'At', cell: ({ startedOn }) => <Instant at={startedOn} /> },
  { title: 'Next try', cell: ({ nextOn }) => (nextOn ? <Instant at={nextOn} /> : '–') },
  { title: 'What to do', cell: ({ eventId }) => <Resend endpointId={endpointId} eventId={eventId} /> },
]

function Resend({ endpointId, eventId }: { readonly endpointId: string; readonly eventId: string }) {
  const { can } = useMember()
  if (!can('admin')) return '–'
  return (
    <ConfirmAction
      label="Send again"
      confirm="Send"
      compact
      run={async (_, key) => {
        await payloadOf(
          api.POST('/webhook-endpoints/{endpointId}/resend', {
            ...withKey(endpointId, key),
            body: { eventId },
          }),
        )
        notifications.show({ color: 'teal', message: 'Queued. The new attempt appears above.' })
        await changed('webhook-attempts')
      }}
    >
      The event goes to this endpoint once more, with the same id.
    </ConfirmAction>
  )
}

const REPLAY_CALLS: ReplayCalls = {
  replay: (endpointId, body, key) =>
    payloadOf(api.POST('/webhook-endpoints/{endpointId}/replay', { ...withKey(endpointId, key), body })),
  changed: () => changed('webhook-attempts'),
}

function Actions({ endpoint }: { readonly endpoint: Endpoint }) {
  const { endpointId, enabled } = endpoint
  const navigate = useNavigate()
  const [secret, setSecret] = useState<string>()
  return (
    <Group gap="xs">
      {enabled && <ResendFailed endpoint={endpoint} calls={REPLAY_CALLS} />}
      {enabled && <Replay endpoint={endpoint} calls={REPLAY_CALLS} />}
      <ConfirmAction
        label="Rotate secret"
        confirm="Make a new secret"
        run={async (_, key) => {
          const rotated = await payloadOf(
            api.POST('/webhook-endpoints/{endpointId}/rotate-secret', {
              ...withKey(endpointId, key),
              body: {},
            }),
          )
          setSecret((rotated as { secret: string }).secret)
        }}
      >
        The previous secret goes on signing beside it for a while, so that nothing is lost.
      </ConfirmAction>
      <ConfirmAction
        label={enabled ? 'Disable' : 'Enable'}
        confirm={enabled ? 'Disable' : 'Enable'}
        run={async (_, key) => {
          await payloadOf(
            api.PATCH('/webhook-endpoints/{endpointId}', {
              ...withKey(endpointId, key),
              body: { enabled: !enabled },
            }),
          )
          await changed('webhooks')
        }}
      >
        {enabled ? 'Nothing is sent to it; events can be sent again later.' : 'Events are sent to it again.'}
      </ConfirmAction>
      <ConfirmAction
        label="Delete"
        confirm="Delete it"
        danger
        run={async (_, key) => {
          await payloadOf(api.DELETE('/webhook-endpoints/{endpointId}', withKey(endpointId, key)))
          await changed('webhooks')
          await navigate({ to: '/webhooks' as string })
        }}
      >
        Nothing is sent to it any more. This cannot be undone.
      </ConfirmAction>
      <SecretOnce
        what="webhook secret"
        secret={secret}
        lost="If it is lost, rotate the secret again."
        onDone={() => setSecret(undefined)}
      />
    </Group>
  )
}
