import { Anchor, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Figure, type FiguresOf, figureIn, figuresQuery, lastDays, shareText } from '../figures.ts'
import { Figures } from '../parts/figures.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, counted, paiseText } from '../parts/money.tsx'
import { Section } from '../parts/page.tsx'
import { useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'

const VolumeChart = lazyPart(
  async () => (await import('../parts/volume-chart.tsx')).VolumeChart,
  <Skeleton h={220} />,
)

const DAYS = 30
const YEAR = 365

interface OfPartner {
  readonly partnerId: string
}

/** One request serves the figures and the chart. */
function useFigures(partnerId: string) {
  const days = useSession()
  return useQuery(
    figuresQuery({
      metrics: [
        'funding',
        'cards_issued',
        'card_loads',
        'card_spend',
        'card_authorizations',
        'card_declines',
        'coin_liability',
      ],
      tenantId: partnerId,
      ...lastDays(DAYS, days),
    }),
  )
}

/** How a partner does: what is left to load cards with and for how long, and what its cards spend. */
export const PartnerFigures = ({ partnerId }: OfPartner) => (
  <Loaded query={useFigures(partnerId)}>{(all) => <Sums all={all} partnerId={partnerId} />}</Loaded>
)

export const PartnerSpend = ({ partnerId }: OfPartner) => (
  <Loaded query={useFigures(partnerId)}>
    {(all) => (
      <Section title={`Spend by day, ${DAYS} days`}>
        <VolumeChart all={all} figure={figureIn(all, 'card_spend')!} label="Spend by day" valueName="Spent" />
      </Section>
    )}
  </Loaded>
)

/** For how many days the balance lasts, at the pace of the range. */
function daysLeft(balance: number, loaded: number): string {
  if (loaded <= 0) return `nothing loaded in ${DAYS} days`
  const left = Math.floor(balance / (loaded / DAYS))
  return left > YEAR ? 'lasts over a year at this pace' : `lasts ${counted(left, 'day')} at this pace`
}

function Sums({ all, partnerId }: { readonly all: FiguresOf; readonly partnerId: string }) {
  const of = (metric: Figure['metric']) => figureIn(all, metric)!
  const [issued, loads, spend] = [of('cards_issued'), of('card_loads'), of('card_spend')]
  const [asked, declined] = [of('card_authorizations'), of('card_declines')]
  const reason = declined.reasons?.[0]
  return (
    <Figures
      figures={[
        {
          label: 'Balance of its card accounts',
          value: paiseText(of('funding').amount),
          note: daysLeft(of('funding').amount, loads.amount),
        },
        {
          label: `Cards issued, ${DAYS} days`,
          value: (
            <Anchor
              component={Link}
              to="/cards"
              search={{ partnerId } as never}
              inherit
              c="var(--mantine-color-text)"
            >
              {count(issued.count)}
            </Anchor>
          ),
          note: `${paiseText(loads.amount)} loaded`,
        },
        { label: `Spent, ${DAYS} days`, value: paiseText(spend.amount), note: counted(spend.count, 'spend') },
        {
          label: `Declined, ${DAYS} days`,
          value: shareText(declined.count, asked.count),
          note: reason
            ? `${sentenceCase(reason.reason).toLowerCase()} ${count(reason.count)}`
            : `of ${counted(asked.count, 'authorisation')}`,
        },
        { label: 'Coins that users hold', value: count(of('coin_liability').amount) },
      ]}
    />
  )
}
