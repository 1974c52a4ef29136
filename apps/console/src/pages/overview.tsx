import { Alert, Anchor, Group, Paper, SegmentedControl, SimpleGrid, Skeleton, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { useListSearch } from '../list-search.ts'
import { DataTable } from '../parts/data-table.tsx'
import { relativeTo } from '../parts/instant.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, rupees } from '../parts/money.tsx'
import { Page, Section } from '../parts/page.tsx'
import { Mark } from '../parts/status-badge.tsx'
import { Tile } from '../parts/tile.tsx'

// The charts weigh as much as all the rest, so they come after it.
const Chart = lazyPart(async () => (await import('./overview-chart.tsx')).OverviewChart, <Skeleton h={240} />)
const WaitingApprovals = lazyPart(
  async () => (await import('./waiting-approvals.tsx')).WaitingApprovals,
  null,
)

type OverviewRecord = Schemas['Overview']
type Range = OverviewRecord['range']

const REFRESH_MS = 5_000
const RANGES = [
  { value: 'hour', label: 'Hour' },
  { value: 'day', label: 'Day' },
  { value: 'week', label: 'Week' },
] as const

const isRange = (text: string | undefined): text is Range => RANGES.some(({ value }) => value === text)

/** What happens now. Loads again every few seconds, and not while the page is hidden. */
export function Overview() {
  const { search, filter } = useListSearch()
  const range = isRange(search['range']) ? search['range'] : 'hour'
  const query = useQuery({
    queryKey: ['overview', range],
    queryFn: () => responseOf(api.GET('/overview', { params: { query: { range } } })),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  })
  return (
    <Page
      title="Overview"
      lead={`The last ${range}. Live while you look.`}
      actions={
        <SegmentedControl
          aria-label="Range"
          data={[...RANGES]}
          value={range}
          onChange={(value) => filter({ range: value === 'hour' ? undefined : value })}
        />
      }
    >
      <Loaded query={query}>
        {(overview) => (
          <>
            <WaitingApprovals />
            <Figures overview={overview} />
            <Charts overview={overview} />
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Failures failures={overview.failures} />
              <Health overview={overview} />
            </SimpleGrid>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const sum = (
  overview: OverviewRecord,
  field: 'requests' | 'failures' | 'payments' | 'paymentsAmount' | 'cardsIssued',
) => overview.buckets.reduce((total, bucket) => total + bucket[field], 0)

function Figures({ overview }: { readonly overview: OverviewRecord }) {
  const requests = sum(overview, 'requests')
  const failures = sum(overview, 'failures')
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      <Paper withBorder p="md">
        <Tile label="Requests" value={count(requests)} hint={`in the last ${overview.range}`} />
      </Paper>
      <Paper withBorder p="md">
        <Tile
          label="Failures"
          value={count(failures)}
          hint={requests > 0 ? `${((failures / requests) * 100).toFixed(1)} % of requests` : 'no requests'}
        />
      </Paper>
      <Paper withBorder p="md">
        <Tile
          label="Payments accepted"
          value={count(sum(overview, 'payments'))}
          hint={rupees(sum(overview, 'paymentsAmount'))}
        />
      </Paper>
      <Paper withBorder p="md">
        <Tile
          label="Cards issued"
          value={count(sum(overview, 'cardsIssued'))}
          hint="one by one and in bulk"
        />
      </Paper>
    </SimpleGrid>
  )
}

const CHARTS = [
  { title: 'Requests and failures', series: ['requests', 'failures'] },
  { title: 'Payments and cards', series: ['payments', 'cardsIssued'] },
] as const

function Charts({ overview }: { readonly overview: OverviewRecord }) {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      {CHARTS.map(({ title, series }) => (
        <Section key={title} title={title}>
          <Chart overview={overview} series={series} label={title} />
        </Section>
      ))}
    </SimpleGrid>
  )
}

function Failures({ failures }: Pick<OverviewRecord, 'failures'>) {
  return (
    <Section
      title="Failures by error code"
      aside={
        <Anchor component={Link} to="/requests" search={{ outcome: 'failure' } as never} size="sm">
          All failed requests
        </Anchor>
      }
    >
      {failures.length === 0 ? (
        <Text c="dimmed" size="sm">
          Nothing failed.
        </Text>
      ) : (
        <DataTable
          caption="Failures by error code"
          columns={[
            {
              title: 'Error code',
              cell: ({ error }) => (
                <Anchor component={Link} to="/requests" search={{ error } as never} ff="monospace" size="sm">
                  {error}
                </Anchor>
              ),
            },
            { title: 'Times', align: 'right', cell: (failure) => count(failure.count) },
          ]}
          rows={failures.slice(0, 10)}
          rowKey={({ error }) => error}
        />
      )}
    </Section>
  )
}

const LEDGER = {
  balanced: ['teal', 'The books add up'],
  differences: ['red', 'The books do not add up'],
  unknown: ['gray', 'Not checked yet'],
} as const

function Health({ overview: { ledger, queues } }: { readonly overview: OverviewRecord }) {
  const [color, text] = LEDGER[ledger.state]
  return (
    <Section
      title="Ledger and queues"
      aside={
        <Anchor component={Link} to="/ledger/reconciliation" size="sm">
          Reconciliation
        </Anchor>
      }
    >
      <Alert color={color} mb="md" p="sm">
        <Group justify="space-between">
          <Text size="sm" fw={600}>
            {text}
          </Text>
          <Text size="sm">
            {count(ledger.accounts)} accounts, {count(ledger.transfers)} transfers
            {ledger.checkedOn && `, checked ${relativeTo(ledger.checkedOn)}`}
          </Text>
        </Group>
      </Alert>
      <SimpleGrid cols={2} spacing="md">
        <Queue label="Events to be numbered" waiting={queues.eventsWaiting} since={queues.oldestEventOn} />
        <Queue
          label="Webhooks to be delivered"
          waiting={queues.deliveriesWaiting}
          since={queues.oldestDeliveryOn}
        />
        <Queue label="Commands in line" waiting={queues.commandsWaiting} />
        <Queue label="Log entries dropped" waiting={queues.requestLogDropped} calm="none" />
      </SimpleGrid>
    </Section>
  )
}

interface QueueProps {
  readonly label: string
  readonly waiting: number
  readonly since?: string | undefined
  readonly calm?: string
}

function Queue({ label, waiting, since, calm = 'empty' }: QueueProps) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Group gap="xs">
        <Text fw={600}>{waiting >= 10_000 ? 'over 10,000' : count(waiting)}</Text>
        {waiting === 0 && <Mark color="teal">{calm}</Mark>}
      </Group>
      {since && waiting > 0 && (
        <Text size="xs" c="dimmed">
          oldest {relativeTo(since)}
        </Text>
      )}
    </div>
  )
}
