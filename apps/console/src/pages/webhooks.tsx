import { Text } from '@mantine/core'
import { listAt, type Schemas } from '../api.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { type Filter, TENANT } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import type { ListKind } from '../parts/list-of-tenant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { count } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Mark, StatusBadge } from '../parts/status-badge.tsx'
import { useSession } from '../session.ts'

const CreateWebhook = lazyPart(async () => (await import('./webhook-form.tsx')).CreateWebhook, null)

type Row = Schemas['WebhookRow']

export function EndpointState({ endpoint }: { readonly endpoint: Schemas['WebhookEndpoint'] }) {
  if (endpoint.enabled) return <StatusBadge state="ACTIVE" label="Enabled" />
  return <StatusBadge state="DISABLED" label={endpoint.disabledReason ? 'Switched off' : 'Disabled'} />
}

/** Where counting ends, more are meant. */
export const waitingText = ({ count: events, exact }: Row['waiting']): string =>
  exact ? count(events) : `over ${count(events)}`

export function LastAttempt({ attempt }: { readonly attempt: Row['lastAttempt'] }) {
  if (!attempt) return 'none yet'
  return (
    <>
      <Outcome attempt={attempt} /> <Instant at={attempt.startedOn} />
    </>
  )
}

/** Whether the endpoint accepted what was sent, with the status of its response if there was one. */
export function Outcome({ attempt }: { readonly attempt: NonNullable<Row['lastAttempt']> }) {
  const { delivered, status } = attempt
  const word = delivered ? 'Delivered' : 'Failed'
  return <Mark color={delivered ? 'teal' : 'red'}>{status ? `${word}: ${status}` : word}</Mark>
}

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Endpoint',
    cell: ({ endpointId, url, description }) => (
      <div style={{ overflowWrap: 'anywhere' }}>
        <ObjectLink kind="webhookEndpoint" id={endpointId}>
          {url}
        </ObjectLink>
        {description && (
          <Text size="xs" c="dimmed">
            {description}
          </Text>
        )}
      </div>
    ),
  },
  {
    title: 'Tenant',
    cell: ({ tenantId, tenantKind, tenantName }) => (
      <div style={{ overflowWrap: 'anywhere' }}>
        <ObjectLink kind={tenantKind} id={tenantId}>
          {tenantName}
        </ObjectLink>
        <Text size="xs" c="dimmed">
          {tenantKind}
        </Text>
      </div>
    ),
  },
  { title: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
  { title: 'Waiting', align: 'right', cell: ({ waiting }) => waitingText(waiting) },
  { title: 'Last attempt', cell: ({ lastAttempt }) => <LastAttempt attempt={lastAttempt} /> },
  { title: 'Created', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Endpoint id, or begin of the URL' },
  TENANT,
  {
    name: 'state',
    label: 'State',
    kind: 'select',
    options: [
      { value: 'enabled', label: 'Enabled' },
      { value: 'disabled', label: 'Disabled' },
    ],
  },
]

export const WEBHOOKS: ListKind<Row> = {
  name: 'webhooks',
  caption: 'Webhook endpoints',
  columns: COLUMNS,
  rowKey: ({ endpointId }) => endpointId,
  filters: FILTERS,
  sort: '-created',
}

export function Webhooks() {
  const { can, mode } = useSession()
  // The response has the secret, which operators of live mode do not see (decision O8).
  const create = mode === 'sandbox' && can('operations') && <CreateWebhook />
  return (
    <ListPage
      title="Webhooks"
      lead="Where merchants and partners receive events, and whether deliveries succeed."
      actions={create}
      {...WEBHOOKS}
      load={listAt('/webhooks')}
      refreshMs={10_000}
      empty={
        <EmptyState title="No webhooks yet" action={create}>
          An endpoint is a URL of a merchant or a partner. Each of its events is sent to it, signed, until it
          is taken. They register it with their token, and you can do it for them here.
        </EmptyState>
      }
    />
  )
}
