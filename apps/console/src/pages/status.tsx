import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { relativeTo } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count } from '../parts/money.tsx'
import { Page, Section } from '../parts/page.tsx'
import { HttpStatus } from '../parts/status-badge.tsx'
import { useSession } from '../session.ts'
import { Comparison } from './status-comparison.tsx'
import { Installation } from './status-installation.tsx'

type StatusRecord = Schemas['Status']

const REFRESH_MS = 15_000

/** Whether the service is well: what it did today beside other days, what waits, and what it stands on. */
export function Status() {
  const query = useQuery({
    queryKey: ['status'],
    queryFn: () => responseOf(api.GET('/status')),
    refetchInterval: REFRESH_MS,
  })
  return (
    <Page
      title="Status"
      lead="Today until the last full minute, beside yesterday and the same day of last week until the same time of day."
    >
      <Loaded query={query}>
        {(status) => (
          <>
            <Comparison periods={status.periods} />
            <Installation status={status} />
            <Queues status={status} />
            <Latencies latencies={status.latencies} />
            <Errors errors={status.errors} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const milliseconds = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : count(Math.round(ms))} ms`

const LATENCIES: readonly Column<StatusRecord['latencies'][number]>[] = [
  { title: 'Of', cell: ({ kind }) => (kind === 'command' ? 'Commands' : 'Reads (a sample)') },
  { title: 'Measured', align: 'right', cell: (latency) => count(latency.count) },
  { title: 'Median', align: 'right', cell: ({ p50 }) => milliseconds(p50) },
  { title: '95 %', align: 'right', cell: ({ p95 }) => milliseconds(p95) },
  { title: '99 %', align: 'right', cell: ({ p99 }) => milliseconds(p99) },
]

function Latencies({ latencies }: Pick<StatusRecord, 'latencies'>) {
  return (
    <Section title="Latency of the last hour">
      {latencies.length === 0 ? (
        <Text c="dimmed" size="sm">
          No request of the last hour is in the request log.
        </Text>
      ) : (
        <DataTable caption="Latency" columns={LATENCIES} rows={latencies} rowKey={({ kind }) => kind} />
      )}
      <Text size="xs" c="dimmed" mt="xs">
        Measured by the entries of the request log, which has every command and a sample of the reads.
      </Text>
    </Section>
  )
}

type ErrorTrend = StatusRecord['errors'][number]

const ERRORS: readonly Column<ErrorTrend>[] = [
  {
    title: 'Error code',
    cell: ({ error }) => (
      <Anchor component={Link} to="/requests" search={{ error } as never} ff="monospace" size="sm">
        {error}
      </Anchor>
    ),
  },
  { title: 'Status', cell: ({ status }) => <HttpStatus status={status} /> },
  { title: 'Today', align: 'right', cell: ({ today }) => count(today) },
  { title: 'Yesterday', align: 'right', cell: ({ yesterday }) => count(yesterday) },
  { title: 'Last week', align: 'right', cell: ({ lastWeek }) => count(lastWeek) },
  { title: 'Trend', cell: (error) => trendOf(error) },
]

function trendOf({ today, yesterday }: ErrorTrend): string {
  if (today === yesterday) return 'as yesterday'
  if (yesterday === 0) return 'new today'
  if (today === 0) return 'none today'
  return today > yesterday
    ? `${count(today - yesterday)} more than yesterday`
    : `${count(yesterday - today)} fewer than yesterday`
}

function Errors({ errors }: Pick<StatusRecord, 'errors'>) {
  return (
    <Section title="Failures by error code">
      {errors.length === 0 ? (
        <Text c="dimmed" size="sm">
          Nothing failed on these days.
        </Text>
      ) : (
        <DataTable
          caption="Failures by error code"
          columns={ERRORS}
          rows={errors}
          rowKey={({ error }) => error}
        />
      )}
    </Section>
  )
}

type QueueRecord = StatusRecord['queues'][number]

/** How each queue is called, and where its entries are. */
const QUEUES: Readonly<Record<QueueRecord['name'], readonly [label: string, to?: string, search?: object]>> =
  {
    events: ['Events to be numbered'],
    webhooks: ['Webhooks to be delivered', '/webhooks'],
    credits_to_return: ['Credits to be returned to payers', '/payments', { status: 'REFUND_PENDING' }],
    refunds_open: ['Refunds not confirmed', '/refunds'],
    suspense: ['Credits in suspense', '/suspense'],
    bank_notices: ['Bank notices in quarantine', '/notices', { status: 'QUARANTINED' }],
    payouts_to_approve: ['Payouts to be approved', '/payouts', { status: 'PREPARED' }],
    payouts_to_send: ['Payouts to be sent', '/payouts', { status: 'APPROVED' }],
    payouts_at_the_bank: ['Payouts at the bank', '/payouts', { status: 'SENT' }],
    bulk_jobs: ['Bulk jobs not finished'],
  }

const COUNTED_MAX = 10_000

/** Operators alone read notices of the bank. */
const queueColumns = (isOperator: boolean): readonly Column<QueueRecord>[] => [
  {
    title: 'Queue',
    cell: ({ name }) => {
      const [label, to, search] = QUEUES[name]
      return to && (isOperator || name !== 'bank_notices') ? (
        <Anchor component={Link} to={to} search={(search ?? {}) as never} size="sm">
          {label}
        </Anchor>
      ) : (
        label
      )
    },
  },
  {
    title: 'Waiting',
    align: 'right',
    cell: ({ waiting }) => (waiting >= COUNTED_MAX ? 'over 10,000' : count(waiting)),
  },
  {
    title: 'Oldest',
    cell: ({ oldestOn, waiting }) => (oldestOn && waiting > 0 ? relativeTo(oldestOn) : '–'),
  },
]

function Queues({
  status: { commandsWaiting, queues, requestLogDropped },
}: {
  readonly status: StatusRecord
}) {
  const { can } = useSession()
  return (
    <Section title="What waits">
      <DataTable
        caption="Queues"
        columns={queueColumns(can('finance'))}
        rows={queues}
        rowKey={({ name }) => name}
      />
      <Text size="sm" c="dimmed" mt="xs">
        In this process: {count(commandsWaiting)} commands in line, {count(requestLogDropped)} log entries
        dropped.
      </Text>
    </Section>
  )
}
