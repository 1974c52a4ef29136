import { Alert, Button, Code, Group, Spoiler, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { shortId } from '../objects.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { type Filter, TENANT } from '../parts/filters.tsx'
import { Instant, relativeTo } from '../parts/instant.tsx'
import type { ListKind } from '../parts/list-of-tenant.tsx'
import { List } from '../parts/list-page.tsx'
import { count } from '../parts/money.tsx'
import { IdLink, ObjectLink, WithNames } from '../parts/object-link.tsx'
import { Page } from '../parts/page.tsx'
import { queryClient, useSession } from '../session.ts'

const COLUMNS: readonly Column<Schemas['AuditEntry']>[] = [
  { title: 'No.', cell: ({ sequence }) => count(sequence) },
  { title: 'When', cell: ({ at }) => <Instant at={at} /> },
  { title: 'Who', cell: ({ actor }) => actor },
  { title: 'Action', cell: ({ action }) => <Code>{action}</Code> },
  { title: 'To', cell: ({ target }) => <IdLink id={target} /> },
  { title: 'Details', cell: ({ details }) => <Details details={details} /> },
  {
    title: 'Request',
    cell: (entry) => <RequestedBy entry={entry} />,
  },
]

/** The request log is of the API's callers: what operators request here is recorded in this list alone. */
function RequestedBy({ entry: { actor, requestId } }: { readonly entry: Schemas['AuditEntry'] }) {
  if (!requestId) return '–'
  if (!actor.startsWith('operator ')) return <ObjectLink kind="request" id={requestId} />
  return (
    <Text span inherit ff="monospace" fz="0.9em" title={requestId} style={{ whiteSpace: 'nowrap' }} data-id>
      {shortId(requestId)}
    </Text>
  )
}

function Details({ details }: Pick<Schemas['AuditEntry'], 'details'>) {
  const pairs = Object.entries(details)
  if (pairs.length === 0) return '–'
  return (
    <Spoiler maxHeight={56} showLabel="More" hideLabel="Less">
      {pairs.map(([name, value]) => (
        <Text key={name} size="xs" style={{ overflowWrap: 'anywhere' }}>
          {name}: <WithNames text={typeof value === 'string' ? value : JSON.stringify(value)} />
        </Text>
      ))}
    </Spoiler>
  )
}

const FILTERS: readonly Filter[] = [
  { name: 'target', label: 'Done to', kind: 'text', placeholder: 'Id of a card, merchant …' },
  { name: 'actor', label: 'Who', kind: 'text', placeholder: 'operator asha' },
  { name: 'action', label: 'Action', kind: 'text', placeholder: 'card.status_changed' },
  TENANT,
  { name: 'from', label: 'From', kind: 'from' },
  { name: 'to', label: 'Until', kind: 'to' },
]

export const AUDIT: ListKind<Schemas['AuditEntry']> = {
  name: 'audit',
  caption: 'Audit entries',
  columns: COLUMNS,
  rowKey: ({ sequence }) => String(sequence),
  filters: FILTERS,
  sort: '-created',
}

export function Audit() {
  return (
    <Page
      title="Audit"
      lead="Who did what, and when. Entries are chained by hashes: none can be changed unseen."
    >
      <Verification />
      <List
        {...AUDIT}
        load={listAt('/audit')}
        empty={
          <EmptyState title="Nothing yet">
            Whatever an operator changes, here or with the command line, is written here with their name.
          </EmptyState>
        }
      />
    </Page>
  )
}

const KEY = ['audit', 'verification']

function Verification() {
  const { can } = useSession()
  const query = useQuery({
    queryKey: KEY,
    queryFn: () => responseOf(api.GET('/audit/verification')),
    refetchInterval: ({ state }) => (state.data?.running ? 1_000 : 60_000),
  })
  const run = useMutation({
    mutationFn: () => responseOf(api.POST('/audit/verification')),
    onSuccess: (result) => queryClient.setQueryData(KEY, result),
  })
  const failed = query.error ?? run.error
  if (failed) return <FailureAlert failed={failed} />
  if (!query.data) return undefined
  const { running } = query.data
  const [color, text] = verdictOf(query.data)
  return (
    <Alert color={color} role="status">
      <Group justify="space-between" gap="sm">
        <Text size="sm">{text}</Text>
        {can('verify') && (
          <Button
            size="compact-sm"
            variant="default"
            loading={run.isPending || running}
            onClick={() => run.mutate()}
          >
            Verify the chain now
          </Button>
        )}
      </Group>
    </Alert>
  )
}

function verdictOf({ state, entries, checkedOn, brokenAt, problem, tenantId }: Schemas['AuditVerification']) {
  const when = checkedOn ? relativeTo(checkedOn) : ''
  switch (state) {
    case 'intact':
      return ['teal', `The chains are intact: ${count(entries)} entries, verified ${when}.`] as const
    case 'broken':
      return [
        'red',
        `Entry ${count(brokenAt ?? 0)} of ${tenantId ?? 'the installation'} ${problem ?? 'does not fit'}.`,
      ] as const
    case 'failed':
      return ['orange', `The last verification broke off. ${problem ?? ''}`] as const
    case 'unknown':
      return ['gray', 'The chain has not been verified since the service started.'] as const
  }
}
