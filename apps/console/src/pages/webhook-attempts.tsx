import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import type { BulkAction } from '../bulk.ts'
import { asCallFailed } from '../failure.ts'
import { type FormKey, newFormKey, once } from '../form-key.ts'
import type { Column } from '../parts/data-table.tsx'
import type { Filter } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { List } from '../parts/list-page.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count } from '../parts/money.tsx'
import { Id } from '../parts/object-link.tsx'
import { Facts } from '../parts/page.tsx'
import { Written } from '../parts/written.tsx'
import { useSession } from '../session.ts'
import { webhooksChanged } from './webhook-changes.ts'
import { Outcome } from './webhooks.tsx'

type Attempt = Schemas['WebhookAttempt']
type Endpoint = Schemas['WebhookEndpoint']

/** After an event is sent again, its outcome is expected here. */
export const REFRESH_MS = 2_000

const FILTERS: readonly Filter[] = [
  { name: 'eventId', label: 'Event', kind: 'text', placeholder: 'evt_…' },
  {
    name: 'outcome',
    label: 'Outcome',
    kind: 'select',
    options: [{ value: 'failure', label: 'Failed' }],
  },
]

const COLUMNS: readonly Column<Attempt>[] = [
  { title: 'When', cell: ({ startedOn }) => <Instant at={startedOn} /> },
  {
    title: 'Event',
    cell: ({ eventId, sequence, type }) => (
      <>
        <span title={eventId}>{type ?? 'Forgotten'}</span>
        <Text size="xs" c="dimmed">
          No. {count(sequence)}
        </Text>
      </>
    ),
  },
  {
    title: 'Outcome',
    cell: (attempt) => (
      <>
        <Outcome attempt={attempt} />
        {attempt.failure && (
          <Text size="xs" c="dimmed">
            {attempt.failure}
          </Text>
        )}
      </>
    ),
  },
  { title: 'Attempt', align: 'right', cell: ({ attempt }) => count(attempt) },
  { title: 'Took', align: 'right', cell: ({ durationMs }) => `${count(durationMs)}\u00a0ms` },
  { title: 'Next try', cell: ({ nextOn }) => (nextOn ? <Instant at={nextOn} /> : '–') },
]

/** What was sent to an endpoint and its responses, newest first. */
export function WebhookAttempts({ endpoint }: { readonly endpoint: Endpoint }) {
  const { endpointId, enabled } = endpoint
  const { can } = useSession()
  const [shown, setShown] = useState<Attempt>()
  const [opened, { open, close }] = useDisclosure(false)
  const show = (attempt: Attempt) => {
    setShown(attempt)
    open()
  }
  const columns: Column<Attempt>[] = [
    ...COLUMNS,
    {
      title: '',
      align: 'right',
      cell: (attempt) => (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => show(attempt)}
            aria-label={`Show ${nameOf(attempt)}`}
          >
            Show
          </Button>
          {can('support') && enabled && <Resend endpointId={endpointId} attempt={attempt} />}
        </Group>
      ),
    },
  ]
  return (
    <>
      <List
        name="webhook-attempts"
        id={endpointId}
        caption="Attempts"
        load={listAt('/webhooks/{endpointId}/attempts', { endpointId })}
        columns={columns}
        rowKey={({ attemptId }) => attemptId}
        filters={FILTERS}
        bulk={can('support') && enabled ? bulkOf(endpointId) : []}
        refreshMs={REFRESH_MS}
        empty={
          <Text c="dimmed">
            Nothing has been sent yet. It begins with the next event; to send what happened before, replay it.
          </Text>
        }
      />
      <Modal opened={opened} onClose={close} title={shown && `What was sent: ${nameOf(shown)}`} size="xl">
        {shown && <Exchange attempt={shown} endpointId={endpointId} />}
      </Modal>
    </>
  )
}

const resend = (endpointId: string, eventId: string, key: FormKey) =>
  responseOf(
    api.POST('/webhooks/{endpointId}/resend', {
      params: { path: { endpointId }, header: once(key) },
      body: { eventId },
    }),
  )

const bulkOf = (endpointId: string): readonly BulkAction<Attempt>[] => [
  {
    label: 'Send again',
    confirm: 'Send again',
    says: 'The events of these attempts are sent to the endpoint again.',
    applies: () => true,
    nameOf,
    run: ({ eventId }, _, key) => resend(endpointId, eventId, key),
    changed: webhooksChanged,
  },
]

const nameOf = ({ attempt, sequence, type }: Attempt) =>
  `attempt ${attempt} of ${type ?? 'event'} No. ${count(sequence)}`

/** What was sent, and the begin of what came back. */
function Exchange({ attempt, endpointId }: { readonly attempt: Attempt; readonly endpointId: string }) {
  const { eventId, url, startedOn, durationMs, failure, responseExcerpt, nextOn } = attempt
  const event = useQuery({
    queryKey: ['webhook-event', endpointId, eventId],
    queryFn: () =>
      responseOf(
        api.GET('/webhooks/{endpointId}/events/{eventId}', { params: { path: { endpointId, eventId } } }),
      ),
    staleTime: Infinity,
  })
  const headers = [
    `POST ${url}`,
    'content-type: application/json',
    `webhook-id: ${eventId}`,
    `webhook-timestamp: ${Math.floor(Date.parse(startedOn) / 1_000)}`,
  ]
  return (
    <Stack>
      <Facts
        cols={2}
        facts={[
          { label: 'Event id', value: <Id id={eventId} what="event id" /> },
          { label: 'Sent', value: <Instant at={startedOn} long /> },
          {
            label: 'Outcome',
            value: (
              <>
                <Outcome attempt={attempt} /> after {count(durationMs)} ms
                {failure && <div>{failure}</div>}
              </>
            ),
          },
          { label: 'Next try', value: nextOn ? <Instant at={nextOn} long /> : 'None' },
        ]}
      />
      <Written title="Response, its first 1,024 bytes">{responseExcerpt || 'Empty'}</Written>
      <Written title="Request, without its signatures">{headers.join('\n')}</Written>
      <Loaded query={event}>
        {(sent) => <Written title="Body">{JSON.stringify(sent, undefined, 2)}</Written>}
      </Loaded>
    </Stack>
  )
}

function Resend({ endpointId, attempt }: { readonly endpointId: string; readonly attempt: Attempt }) {
  const [busy, setBusy] = useState(false)
  const [key, setKey] = useState(newFormKey)
  const act = async () => {
    setBusy(true)
    try {
      await resend(endpointId, attempt.eventId, key)
      setKey(newFormKey())
      notifications.show({ color: 'teal', message: 'On its way; its attempt shows up here in a moment.' })
      await webhooksChanged()
    } catch (error) {
      notifications.show({ color: 'red', message: asCallFailed(error).message })
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button
      variant="default"
      size="compact-sm"
      loading={busy}
      onClick={() => void act()}
      aria-label={`Send again: event No. ${count(attempt.sequence)}`}
    >
      Send again
    </Button>
  )
}
