import '@mantine/charts/styles.css'
import { AreaChart } from '@mantine/charts'
import { Table } from '@mantine/core'
import type { Schemas } from '../api.ts'
import { count } from '../parts/money.tsx'
import { useSession } from '../session.ts'

const SERIES = {
  requests: { label: 'Requests', color: 'brand.5' },
  failures: { label: 'Failures', color: 'red.6' },
  payments: { label: 'Payments', color: 'teal.6' },
  cardsIssued: { label: 'Cards issued', color: 'grape.5' },
} as const

interface OverviewChartProps {
  readonly overview: Schemas['Overview']
  readonly series: readonly (keyof typeof SERIES)[]
  readonly label: string
}

export function OverviewChart({ overview, series, label }: OverviewChartProps) {
  const { timeZone } = useSession()
  const format = new Intl.DateTimeFormat('en-IN', {
    timeZone,
    hour: 'numeric',
    minute: '2-digit',
    ...(overview.range === 'week' && { weekday: 'short', minute: undefined }),
  })
  const data = overview.buckets.map((bucket) => ({ ...bucket, time: format.format(new Date(bucket.at)) }))
  const lines = series.map((name) => ({ name, ...SERIES[name] }))
  return (
    <>
      <div aria-hidden="true">
        <AreaChart
          h={240}
          data={data}
          dataKey="time"
          series={lines}
          curveType="monotone"
          withLegend
          withDots={false}
          fillOpacity={0.15}
          strokeWidth={2}
          valueFormatter={count}
          yAxisProps={{ allowDecimals: false, width: 48 }}
          xAxisProps={{ minTickGap: 40 }}
          areaChartProps={{ accessibilityLayer: false }}
          areaProps={{ isAnimationActive: false }}
        />
      </div>
      <div className="visually-hidden">
        <Table aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>From</Table.Th>
              {lines.map((line) => (
                <Table.Th key={line.name}>{line.label}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.map((bucket) => (
              <Table.Tr key={bucket.at}>
                <Table.Td>{bucket.time}</Table.Td>
                {series.map((name) => (
                  <Table.Td key={name}>{count(bucket[name])}</Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </>
  )
}
