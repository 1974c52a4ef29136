import { Anchor, Stack, Text, Textarea } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import type { BulkAction } from '../bulk.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import type { Filter } from '../parts/filters.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { IdLink } from '../parts/object-link.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'

type Row = Schemas['Alert']

/** Where to act on a condition that has no record of its own. */
const PLACES: Readonly<Partial<Record<Row['kind'], string>>> = {
  notices_in_quarantine: '/notices',
  suspense_old: '/suspense',
  settlement_unknown: '/settlements/open-lines',
  settlement_late: '/settlements',
  batch_unconfirmed: '/settlements',
  batch_incomplete: '/settlements',
  statement_missing: '/bank-files',
  statement_unmatched: '/statements',
  escrow_shortfall: '/close',
  proof_failed: '/close',
  invoice_missing: '/close',
  gst_due: '/close',
  close_late: '/close',
  refund_late: '/payments',
  merchant_refund_late: '/refunds',
  books_differ: '/ledger/reconciliation',
  books_unchecked: '/ledger/reconciliation',
  audit_chain_broken: '/audit',
  owner_acted: '/audit',
  events_delayed: '/status',
  archiving_failed: '/status',
  disk_low: '/status',
  service_warning: '/status',
}

const STATUSES = [
  { value: 'open', label: 'Open' },
  { value: 'acknowledged', label: 'Acknowledged' },
  { value: 'closed', label: 'Closed' },
]
const SEVERITIES = [
  { value: 'critical', label: 'Critical' },
  { value: 'warning', label: 'Warning' },
]

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', kind: 'select', options: STATUSES },
  { name: 'severity', label: 'Severity', kind: 'select', options: SEVERITIES },
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id of the alert, or of what it is of' },
]

function Condition({ row: { kind, detail, pageId } }: { readonly row: Row }) {
  const place = PLACES[kind]
  return (
    <Stack gap={2}>
      <Text span fw={600} inherit>
        {place ? (
          <Anchor component={Link} to={place} inherit>
            {sentenceCase(kind)}
          </Anchor>
        ) : (
          sentenceCase(kind)
        )}
        {pageId && (
          <>
            {' '}
            <IdLink id={pageId} />
          </>
        )}
      </Text>
      <Text size="sm" maw={560} style={{ overflowWrap: 'anywhere' }}>
        {detail}
      </Text>
    </Stack>
  )
}

function Acknowledged({ row }: { readonly row: Row }) {
  const { can } = useSession()
  if (row.acknowledgedOn)
    return (
      <>
        <Text size="sm">{row.note}</Text>
        <Text size="xs" c="dimmed">
          {row.acknowledgedBy}, <Instant at={row.acknowledgedOn} />
        </Text>
      </>
    )
  if (row.status !== 'open') return 'no'
  return can('acknowledge') ? <Acknowledge alertId={row.alertId} /> : 'not yet'
}

const acknowledge = (alertId: string, note: string) =>
  responseOf(
    api.POST('/alerts/{alertId}/acknowledge', { params: { path: { alertId } }, body: { note: note.trim() } }),
  )

function Acknowledge({ alertId }: { readonly alertId: string }) {
  return (
    <FormDialog
      label="Acknowledge alert"
      compact="Acknowledge"
      send="Acknowledge"
      variant="default"
      initial={{ note: '' }}
      rules={{ note: needed }}
      fields={(form) => (
        <Textarea
          label="Note"
          description="What is done about it; everybody sees it beside your name"
          required
          maxLength={500}
          data-autofocus
          {...form.getInputProps('note')}
        />
      )}
      submit={async ({ note }) => {
        await acknowledge(alertId, note)
        await queryClient.invalidateQueries({ queryKey: ['alerts'] })
      }}
    />
  )
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'Condition', cell: (row) => <Condition row={row} /> },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Severity', cell: ({ severity }) => <StatusBadge state={severity} /> },
  { title: 'Acknowledged', cell: (row) => <Acknowledged row={row} /> },
  { title: 'Opened', sorts: BY_TIME, cell: ({ openedOn }) => <Instant at={openedOn} /> },
  { title: 'Closed', cell: ({ closedOn }) => (closedOn ? <Instant at={closedOn} /> : 'no') },
]

const BULK: readonly BulkAction<Row>[] = [
  {
    label: 'Acknowledge',
    confirm: 'Acknowledge',
    says: 'You take care of these alerts. Each opens again when it gets worse.',
    text: { label: 'Note', maxLength: 500 },
    applies: ({ status }) => status === 'open',
    nameOf: ({ kind, objectId }) => `${sentenceCase(kind)} ${objectId ?? ''}`,
    run: ({ alertId }, note) => acknowledge(alertId, note),
    changed: () => queryClient.invalidateQueries({ queryKey: ['alerts'] }),
  },
]

const REFRESH_MS = 15_000

export function Alerts() {
  const { can } = useSession()
  return (
    <ListPage
      title="Alerts"
      lead="Conditions of the service that people must act on. Each closes by itself when it ends; an acknowledged one opens again when it gets worse."
      name="alerts"
      caption="Alerts"
      load={listAt('/alerts')}
      columns={COLUMNS}
      rowKey={({ alertId }) => alertId}
      filters={FILTERS}
      bulk={can('acknowledge') ? BULK : []}
      sort="-created"
      refreshMs={REFRESH_MS}
      empty={
        <EmptyState title="No alerts yet">
          When something needs a person, it appears here and in the header, and is sent to the webhook for
          alerts where one is set.
        </EmptyState>
      }
    />
  )
}
