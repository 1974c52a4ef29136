import { Anchor, Group, SegmentedControl, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import {
  COMPARED,
  type Figure,
  type FiguresOf,
  figureIn,
  figuresQuery,
  isPeriod,
  PERIODS,
  type Period,
  type PeriodName,
  periodOf,
  refreshMs,
  shareText,
} from '../figures.ts'
import { useListSearch } from '../list-search.ts'
import { Change } from '../parts/change.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Figures, type Figure as Shown } from '../parts/figures.tsx'
import { Instant } from '../parts/instant.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, counted, paiseText } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Page, Section } from '../parts/page.tsx'
import { useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'
import { WaitingList } from './waiting-list.tsx'

const VolumeChart = lazyPart(
  async () => (await import('../parts/volume-chart.tsx')).VolumeChart,
  <Skeleton h={220} />,
)
const WaitingApprovals = lazyPart(
  async () => (await import('./waiting-approvals.tsx')).WaitingApprovals,
  null,
)
const ServiceStrip = lazyPart(async () => (await import('./service-strip.tsx')).ServiceStrip, null)

/** What money did, what waits for a person, and whether the service is well. */
export function Home() {
  const days = useSession()
  const { search, filter } = useListSearch()
  const name: PeriodName = isPeriod(search['period']) ? search['period'] : 'today'
  const period = periodOf(name, days)
  const money = useQuery(
    figuresQuery({
      metrics: ['payments', 'refunds', 'fees', 'owed', 'bank', 'clearing'],
      ...period,
    }),
  )
  return (
    <Page
      title="Home"
      lead={
        <>
          Until <Instant at={money.data?.until} />, compared with {COMPARED[name]}.
        </>
      }
      actions={
        <SegmentedControl
          aria-label="Period"
          data={[...PERIODS]}
          value={name}
          onChange={(value) => filter({ period: value === 'today' ? undefined : value })}
        />
      }
    >
      <Loaded query={money}>
        {(all) => (
          <Stack
            gap="md"
            aria-busy={money.isPlaceholderData}
            {...(money.isPlaceholderData && { className: 'stale' })}
          >
            <Sums all={all} period={period} />
            <div className="with-side">
              <Stack gap="md" style={{ minWidth: 0 }}>
                <Volume all={all} period={period} />
                <Movers period={period} />
                <CardsAndCoins period={period} />
              </Stack>
              <WaitingList />
            </div>
            <WaitingApprovals />
            <ServiceStrip />
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

/** Filters of a list that hold it to a period. */
const within = ({ from, until }: Pick<FiguresOf, 'from' | 'until'>) => ({
  createdFrom: from,
  createdTo: until,
})

interface ToListProps {
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  readonly children: string
}

/** A figure that opens the list that it adds up. */
const ToList = ({ to, search = {}, children }: ToListProps) => (
  <Anchor component={Link} to={to} search={search as never} inherit c="var(--mantine-color-text)">
    {children}
  </Anchor>
)

function Sums({ all, period }: { readonly all: FiguresOf; readonly period: Period }) {
  const payments = figureIn(all, 'payments')!
  const refunds = figureIn(all, 'refunds')!
  const before = payments.compared
  const figures: (Shown | false)[] = [
    {
      label: 'Gross volume',
      value: (
        <ToList to="/payments" search={{ status: 'ACCEPTED', ...within(all) }}>
          {paiseText(payments.amount)}
        </ToList>
      ),
      note: (
        <>
          <Change now={payments.amount} before={before?.amount} /> from {paiseText(before?.amount ?? 0)}
        </>
      ),
    },
    {
      label: 'Payments accepted',
      value: (
        <ToList to="/payments" search={{ status: 'ACCEPTED', ...within(all) }}>
          {count(payments.count)}
        </ToList>
      ),
      note: (
        <>
          <Change now={payments.count} before={before?.count} /> from {count(before?.count ?? 0)}
          {payments.count > 0 && ` · average ${paiseText(Math.round(payments.amount / payments.count))}`}
        </>
      ),
    },
    {
      label: 'Refunded',
      value: (
        <ToList to="/refunds" search={within(all)}>
          {paiseText(refunds.amount)}
        </ToList>
      ),
      note: (
        <>
          {shareText(refunds.amount, payments.amount)} of volume ·{' '}
          <Change now={refunds.amount} before={refunds.compared?.amount} isCost />
        </>
      ),
    },
    feesOf(all, payments),
    owedOf(all),
  ]
  return <Figures key={period.from} figures={figures.filter((figure) => figure !== false)} />
}

function feesOf(all: FiguresOf, payments: Figure): Shown | false {
  const fees = figureIn(all, 'fees')
  return (
    fees !== undefined && {
      label: 'Fees earned, before GST',
      value: (
        <ToList to="/ledger" search={{ kind: 'fee_income' }}>
          {paiseText(fees.amount)}
        </ToList>
      ),
      note: `${shareText(fees.amount, payments.amount)} · GST ${paiseText(fees.tax ?? 0)}`,
    }
  )
}

/** What is owed, beside what the bank has or is still to pay for it. */
function owedOf(all: FiguresOf): Shown | false {
  const owed = figureIn(all, 'owed')
  if (!owed) return false
  const bank = figureIn(all, 'bank')
  const clearing = figureIn(all, 'clearing')
  const has = bank && clearing && bank.amount + clearing.amount
  return {
    label: 'Owed to merchants now',
    value: (
      <ToList to="/ledger" search={{ kind: 'payable' }}>
        {paiseText(owed.amount)}
      </ToList>
    ),
    ...(has !== undefined && {
      note: `bank ${paiseText(bank!.amount)}, on its way ${paiseText(clearing!.amount)} · ${has >= owed.amount ? 'covered' : 'not covered'}`,
      bad: has < owed.amount,
    }),
  }
}

const HOURS: Period['bucket'] = 'hour'

function Volume({ all, period }: { readonly all: FiguresOf; readonly period: Period }) {
  const payments = figureIn(all, 'payments')!
  const title = period.bucket === HOURS ? 'Volume by hour' : 'Volume by day'
  return (
    <Section
      title={title}
      aside={
        <Text size="xs" c="dimmed">
          ₹ accepted; lines: the period before
        </Text>
      }
    >
      <VolumeChart all={all} figure={payments} label={title} valueName="Accepted" beforeName="before" />
      {payments.count === 0 && (
        <Text size="sm" c="dimmed">
          No payments yet {period.bucket === HOURS ? 'today' : 'in this period'}.{' '}
          <Anchor component={Link} to="/qr-codes" inherit>
            See the QR codes
          </Anchor>
        </Text>
      )}
    </Section>
  )
}

type Mover = Schemas['Mover']

const MOVERS: readonly Column<Mover>[] = [
  {
    title: 'Merchant',
    cell: ({ merchantId, name }) => (
      <ObjectLink kind="merchant" id={merchantId}>
        {name}
      </ObjectLink>
    ),
  },
  { title: 'Gross', align: 'right', cell: ({ amount }) => paiseText(amount) },
  { title: 'Change', align: 'right', cell: ({ amount, before }) => <Change now={amount} before={before} /> },
  { title: 'Payments', align: 'right', cell: (row) => count(row.count) },
  { title: 'Refunded', align: 'right', cell: ({ amount, refunded }) => shareText(refunded, amount) },
  { title: 'Owed', align: 'right', cell: ({ owed }) => paiseText(owed) },
]

function Movers({ period }: { readonly period: Period }) {
  const { comparison, from, to } = period
  const query = useQuery({
    queryKey: ['movers', from, to, comparison],
    queryFn: () => responseOf(api.GET('/movers', { params: { query: { comparison, from, to } } })),
    refetchInterval: refreshMs(period),
    placeholderData: keepPreviousData,
  })
  return (
    <Section
      title="Largest movers"
      aside={
        <Anchor component={Link} to="/merchants" size="sm">
          All merchants
        </Anchor>
      }
    >
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              No payments in either period.
            </Text>
          ) : (
            <DataTable
              caption="Merchants whose volume changed most"
              columns={MOVERS}
              rows={data}
              rowKey={({ merchantId }) => merchantId}
            />
          )
        }
      </Loaded>
    </Section>
  )
}

const REASONS_SHOWN = 2

function CardsAndCoins({ period }: { readonly period: Period }) {
  const query = useQuery(
    figuresQuery({
      metrics: [
        'cards_issued',
        'card_spend',
        'card_authorizations',
        'card_declines',
        'coins_granted',
        'coin_liability',
      ],
      ...period,
      bucket: 'month',
    }),
  )
  return (
    <Section
      title="Cards and coins"
      aside={
        <Group gap="md">
          <Anchor component={Link} to="/card-accounts" size="sm">
            Card accounts
          </Anchor>
          <Anchor component={Link} to="/cards" size="sm">
            All cards
          </Anchor>
        </Group>
      }
    >
      <Loaded query={query}>{(all) => <CardFigures all={all} />}</Loaded>
    </Section>
  )
}

function CardFigures({ all }: { readonly all: FiguresOf }) {
  const of = (metric: Figure['metric']) => figureIn(all, metric)!
  const [issued, spend, asked, declined] = [
    of('cards_issued'),
    of('card_spend'),
    of('card_authorizations'),
    of('card_declines'),
  ]
  const reasons = (declined.reasons ?? []).slice(0, REASONS_SHOWN)
  const tiles = [
    {
      label: 'Cards issued',
      value: <ToList to="/cards">{count(issued.count)}</ToList>,
      note: `${paiseText(issued.amount)} loaded`,
    },
    {
      label: 'Spent',
      value: paiseText(spend.amount),
      note: counted(spend.count, 'spend'),
    },
    {
      label: 'Declined',
      value: shareText(declined.count, asked.count),
      note:
        reasons
          .map(({ count: times, reason }) => `${sentenceCase(reason).toLowerCase()} ${count(times)}`)
          .join(', ') || `of ${counted(asked.count, 'authorisation')}`,
    },
    {
      label: 'Coins granted',
      value: <ToList to="/coins">{count(of('coins_granted').amount)}</ToList>,
      note: `users hold ${count(of('coin_liability').amount)}`,
    },
  ]
  return (
    <SimpleGrid component="dl" m={0} cols={{ base: 2, md: tiles.length }} spacing="md">
      {tiles.map(({ label, note, value }) => (
        <div key={label}>
          <Text component="dt" size="xs" c="dimmed">
            {label}
          </Text>
          <Text component="dd" m={0} fw={600} style={{ fontVariantNumeric: 'tabular-nums' }}>
            {value}
          </Text>
          <Text component="dd" m={0} size="xs" c="dimmed">
            {note}
          </Text>
        </div>
      ))}
    </SimpleGrid>
  )
}
