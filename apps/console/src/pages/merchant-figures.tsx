import { Anchor, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, responseOf } from '../api.ts'
import { type Figure, type FiguresOf, figureIn, figuresQuery, lastDays, shareText } from '../figures.ts'
import { Change } from '../parts/change.tsx'
import { Figures } from '../parts/figures.tsx'
import { dayText } from '../parts/instant.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, counted, paiseText } from '../parts/money.tsx'
import { Section } from '../parts/page.tsx'
import { useSession } from '../session.ts'

const VolumeChart = lazyPart(
  async () => (await import('../parts/volume-chart.tsx')).VolumeChart,
  <Skeleton h={220} />,
)

const WEEK = 7
const MONTH = 30

/** The last buckets of a figure, added up. */
const sumOfLast = ({ buckets = [] }: Figure, many: number) =>
  buckets.slice(-many).reduce((sum, { amount }) => sum + amount, 0)

interface OfMerchant {
  readonly merchantId: string
}

/** One request serves the figures and the chart. */
function useFigures(merchantId: string) {
  const days = useSession()
  return useQuery(
    figuresQuery({
      metrics: ['payments', 'refusals', 'refunds', 'disputes', 'owed'],
      tenantId: merchantId,
      ...lastDays(MONTH, days),
    }),
  )
}

/** How a merchant does: what it is owed, what it took, and how much of that came back. */
export const MerchantFigures = ({ merchantId }: OfMerchant) => (
  <Loaded query={useFigures(merchantId)}>{(all) => <Sums all={all} merchantId={merchantId} />}</Loaded>
)

export const MerchantVolume = ({ merchantId }: OfMerchant) => (
  <Loaded query={useFigures(merchantId)}>
    {(all) => (
      <Section title={`Volume by day, ${MONTH} days`}>
        <VolumeChart
          all={all}
          figure={figureIn(all, 'payments')!}
          label="Volume by day"
          valueName="Accepted"
        />
      </Section>
    )}
  </Loaded>
)

/** The day on which the next payout is prepared, once it is known. */
function useNextPayoutDay(merchantId: string): string | undefined {
  const terms = useQuery({
    queryKey: ['payout-terms', merchantId],
    queryFn: () =>
      responseOf(api.GET('/merchants/{merchantId}/payout-terms', { params: { path: { merchantId } } })),
  })
  return terms.data?.schedules.find(({ preparedOn }) => preparedOn !== undefined)?.preparedOn
}

interface ListLinkProps {
  readonly to: '/refunds' | '/disputes'
  readonly merchantId: string
  readonly children: ReactNode
}

/** Leads from a sum to the list of what it adds up. */
const ListLink = ({ to, merchantId, children }: ListLinkProps) => (
  <Anchor component={Link} to={to} search={{ merchantId } as never} inherit c="inherit" td="underline">
    {children}
  </Anchor>
)

const FromBefore = ({ now, before }: { readonly now: number; readonly before: number }) =>
  before === 0 ? (
    'none in the 7 days before'
  ) : (
    <>
      <Change now={now} before={before} /> from {paiseText(before)}
    </>
  )

function Sums({ all, merchantId }: { readonly all: FiguresOf; readonly merchantId: string }) {
  const nextPayoutDay = useNextPayoutDay(merchantId)
  const of = (metric: Figure['metric']) => figureIn(all, metric)!
  const payments = of('payments')
  const [refused, refunds, disputes] = [of('refusals'), of('refunds'), of('disputes')]
  const week = sumOfLast(payments, WEEK)
  const before = sumOfLast(payments, 2 * WEEK) - week
  return (
    <Figures
      figures={[
        {
          label: 'Owed now, before fees',
          value: paiseText(of('owed').amount),
          note: nextPayoutDay ? `next payout ${dayText(nextPayoutDay)}` : 'paid out when it is prepared',
        },
        {
          label: `Gross, ${WEEK} days`,
          value: paiseText(week),
          note: <FromBefore now={week} before={before} />,
        },
        {
          label: `Gross, ${MONTH} days`,
          value: paiseText(payments.amount),
          note: counted(payments.count, 'payment'),
        },
        {
          label: `Refunded, ${MONTH} days`,
          value: shareText(refunds.amount, payments.amount),
          note: (
            <ListLink to="/refunds" merchantId={merchantId}>
              {paiseText(refunds.amount)}
            </ListLink>
          ),
        },
        {
          label: `Disputed, ${MONTH} days`,
          value: shareText(disputes.count, payments.count),
          note: (
            <Text span inherit>
              <ListLink to="/disputes" merchantId={merchantId}>
                {counted(disputes.count, 'dispute')}
              </ListLink>
            </Text>
          ),
        },
        {
          label: `Success, ${MONTH} days`,
          value: shareText(payments.count, payments.count + refused.count),
          note: `${count(refused.count)} not accepted`,
        },
      ]}
    />
  )
}
