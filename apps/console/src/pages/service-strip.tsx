import { Anchor, SimpleGrid } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { shareText } from '../figures.ts'
import { ageOf, relativeTo } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count } from '../parts/money.tsx'
import { Section } from '../parts/page.tsx'
import { Mark } from '../parts/status-badge.tsx'
import { Tile } from '../parts/tile.tsx'

const REFRESH_MS = 15_000
/** The first check of the books begins when they are asked for, and takes seconds. */
const FIRST_CHECK_MS = 2_000
const COUNTED_MAX = 10_000

/** Whether the service is well: the last day of requests and failures, its queues and its books. */
export function ServiceStrip() {
  const query = useQuery({
    queryKey: ['overview', 'day'],
    queryFn: () => responseOf(api.GET('/overview', { params: { query: { range: 'day' } } })),
    refetchInterval: ({ state: { data } }) =>
      data?.ledger.state === 'unknown' ? FIRST_CHECK_MS : REFRESH_MS,
  })
  return (
    <Section
      title="Service"
      aside={
        <Anchor component={Link} to="/status" size="sm">
          Status
        </Anchor>
      }
    >
      <Loaded query={query}>{(overview) => <Strip overview={overview} />}</Loaded>
    </Section>
  )
}

const BOOKS = {
  balanced: ['teal', 'The books add up'],
  differences: ['red', 'The books do not add up'],
  unknown: ['gray', 'Not checked yet'],
} as const

function Strip({ overview: { buckets, ledger, queues } }: { readonly overview: Schemas['Overview'] }) {
  const sum = (field: 'requests' | 'failures') => buckets.reduce((total, bucket) => total + bucket[field], 0)
  const [color, text] = BOOKS[ledger.state]
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 5 }} spacing="md">
      <Tile
        label="Requests, 24 hours"
        value={count(sum('requests'))}
        hint={<Spark label="Requests" values={buckets.map(({ requests }) => requests)} />}
      />
      <Tile
        label="Failed requests, 24 hours"
        value={
          <Anchor
            component={Link}
            to="/requests"
            search={{ outcome: 'failure' } as never}
            inherit
            c="var(--mantine-color-text)"
          >
            {`${count(sum('failures'))} · ${shareText(sum('failures'), sum('requests'))}`}
          </Anchor>
        }
        hint={<Spark label="Failed requests" values={buckets.map(({ failures }) => failures)} />}
      />
      <Queue label="Events to be numbered" waiting={queues.eventsWaiting} since={queues.oldestEventOn} />
      <Queue
        label="Webhooks to be delivered"
        waiting={queues.deliveriesWaiting}
        since={queues.oldestDeliveryOn}
      />
      <Tile
        label="Books"
        value={
          <Anchor component={Link} to="/ledger/reconciliation" inherit>
            <Mark color={color}>{text}</Mark>
          </Anchor>
        }
        hint={`${count(ledger.accounts)} accounts${ledger.checkedOn ? `, checked ${relativeTo(ledger.checkedOn)}` : ''}`}
      />
    </SimpleGrid>
  )
}

interface QueueProps {
  readonly label: string
  readonly waiting: number
  readonly since?: string | undefined
}

const Queue = ({ label, waiting, since }: QueueProps) => (
  <Tile
    label={label}
    value={waiting >= COUNTED_MAX ? `over ${count(COUNTED_MAX)}` : count(waiting)}
    hint={since && waiting > 0 ? `oldest ${ageOf(since)}` : 'nothing waits'}
  />
)

const WIDTH = 160
const HEIGHT = 28

/** The course of a value, straight from one to the next. */
function Spark({ label, values }: { readonly label: string; readonly values: readonly number[] }) {
  const most = Math.max(...values, 1)
  const points = values.map(
    (value, i) =>
      `${((i / Math.max(values.length - 1, 1)) * WIDTH).toFixed(1)},${(HEIGHT - 1 - (value / most) * (HEIGHT - 2)).toFixed(1)}`,
  )
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width="100%"
      height={HEIGHT}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: at most ${count(most)} in a quarter of an hour, ${count(values.at(-1) ?? 0)} in the running one`}
    >
      <polyline points={points.join(' ')} vectorEffect="non-scaling-stroke" />
    </svg>
  )
}
