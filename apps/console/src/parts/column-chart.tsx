import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { Group, SegmentedControl, Table, Text } from '@mantine/core'
import { useState } from 'react'

export interface ChartColumn {
  /** Under the column. */
  readonly label: string
  readonly value: number
  /** The value as people read it. */
  readonly shown: string
  readonly note?: string
  /** It still fills: dashed. */
  readonly isRunning?: boolean
}

interface ColumnChartProps {
  /** What is shown, such as `Gross by day`. */
  readonly label: string
  /** Heads the names of the columns, in the table. */
  readonly of: string
  readonly columns: readonly ChartColumn[]
  readonly series: string
}

const SHORT = new Intl.NumberFormat('en-IN', { notation: 'compact', maximumFractionDigits: 1 })

interface BarShape {
  readonly x?: number | undefined
  readonly y?: number | undefined
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly fill?: string | undefined
  // oxlint-disable-next-line typescript/no-explicit-any -- the library's own type of a row
  readonly payload?: any
}

function Bar({ x = 0, y = 0, width = 0, height = 0, fill, payload }: BarShape) {
  const running = (payload as ChartColumn | undefined)?.isRunning && {
    strokeDasharray: '3 2',
    stroke: fill,
    fillOpacity: 0.2,
  }
  return <rect x={x} y={y} width={width} height={Math.max(height, 0)} rx={2} fill={fill} {...running} />
}

/** Sums as columns from zero, the running one dashed; the same as a table, for those who choose it and those who hear the page. */
export function ColumnChart({ label, of, columns, series }: ColumnChartProps) {
  const [view, setView] = useState<'chart' | 'table'>('chart')
  const table = <Values label={label} of={of} columns={columns} series={series} />
  return (
    <>
      <Group justify="flex-end" mb="xs">
        <SegmentedControl
          size="xs"
          aria-label={`${label} as`}
          data={[
            { value: 'chart', label: 'Chart' },
            { value: 'table', label: 'Table' },
          ]}
          value={view}
          onChange={setView}
        />
      </Group>
      {view === 'table' ? (
        <div style={{ maxHeight: 320, overflowY: 'auto' }}>{table}</div>
      ) : (
        <>
          <div aria-hidden="true">
            <BarChart
              h={200}
              data={columns as ChartColumn[]}
              dataKey="label"
              series={[{ name: 'value', label: series, color: 'brand.6' }]}
              valueFormatter={(value) => SHORT.format(value)}
              tooltipProps={{ content: Hint }}
              yAxisProps={{ width: 56, tickFormatter: (value: number) => SHORT.format(value) }}
              xAxisProps={{ minTickGap: 32 }}
              barChartProps={{ accessibilityLayer: false }}
              barProps={{ isAnimationActive: false, shape: Bar }}
            />
          </div>
          <div className="visually-hidden">{table}</div>
        </>
      )}
    </>
  )
}

interface HintProps {
  readonly active?: boolean
  readonly payload?: readonly { readonly payload?: ChartColumn }[]
}

function Hint({ active, payload }: HintProps) {
  const column = payload?.[0]?.payload
  if (!active || !column) return null
  return (
    <div className="chart-hint">
      <Text size="xs" c="dimmed">
        {column.label}
        {column.isRunning && ', until now'}
      </Text>
      <Text size="sm" fw={600}>
        {column.shown}
      </Text>
      {column.note && <Text size="xs">{column.note}</Text>}
    </div>
  )
}

function Values({ label, of, columns, series }: ColumnChartProps) {
  const hasNotes = columns.some(({ note }) => note !== undefined)
  return (
    <Table aria-label={label} verticalSpacing={4}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{of}</Table.Th>
          <Table.Th ta="right">{series}</Table.Th>
          {hasNotes && <Table.Th ta="right">How many</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {columns.toReversed().map(({ label: name, shown, note, isRunning }) => (
          <Table.Tr key={name}>
            <Table.Td>
              {name}
              {isRunning && ' (until now)'}
            </Table.Td>
            <Table.Td ta="right" style={{ fontVariantNumeric: 'tabular-nums' }}>
              {shown}
            </Table.Td>
            {hasNotes && <Table.Td ta="right">{note}</Table.Td>}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
