import { Text } from '@mantine/core'
import type { Schemas } from '../api.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { count, rupees } from '../parts/money.tsx'
import { Section } from '../parts/page.tsx'

type Period = Schemas['StatusPeriod']

interface Figure {
  readonly label: string
  readonly of: (period: Period) => number
  readonly shown: (value: number) => string
}

const whole = (label: string, of: Figure['of']): Figure => ({ label, of, shown: count })

const FIGURES: readonly Figure[] = [
  whole('Requests', ({ requests }) => requests),
  whole('Failures of callers (4xx)', ({ clientErrors }) => clientErrors),
  whole('Failures of the service (5xx)', ({ serverErrors }) => serverErrors),
  whole('Payments accepted', ({ payments }) => payments),
  {
    label: 'Amount of these payments',
    of: ({ paymentsAmount }) => Number(paymentsAmount),
    shown: rupees,
  },
  whole('Cards issued', ({ cardsIssued }) => cardsIssued),
]

/** What the service did on three days until the same time of day. */
export function Comparison({ periods }: { readonly periods: readonly Period[] }) {
  const [today, ...others] = periods
  if (!today) return undefined
  const columns: Column<Figure>[] = [
    { title: 'Figure', cell: ({ label }) => label },
    { title: 'Today', align: 'right', cell: ({ of, shown }) => <b>{shown(of(today))}</b> },
    ...others.map(
      (other): Column<Figure> => ({
        title: other.name === 'yesterday' ? 'Yesterday' : 'Same day last week',
        align: 'right',
        cell: (figure) => <Compared figure={figure} today={today} other={other} />,
      }),
    ),
  ]
  return (
    <Section title="Compared">
      <DataTable caption="Compared" columns={columns} rows={FIGURES} rowKey={({ label }) => label} />
    </Section>
  )
}

interface ComparedProps {
  readonly figure: Figure
  readonly today: Period
  readonly other: Period
}

function Compared({ figure: { of, shown }, today, other }: ComparedProps) {
  if (!other.isComplete)
    return (
      <Text span inherit c="dimmed">
        not stored
      </Text>
    )
  return (
    <>
      {shown(of(other))}
      <Text size="xs" c="dimmed">
        {changeOf(of(today), of(other))}
      </Text>
    </>
  )
}

/** How today differs, in percent of the other day. */
function changeOf(today: number, other: number): string {
  if (today === other) return 'the same'
  if (other === 0) return 'none then'
  const percent = Math.round(((today - other) / other) * 100)
  return `today ${percent > 0 ? '+' : '−'}${count(Math.abs(percent))} %`
}
