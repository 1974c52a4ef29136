import { Box, Group, SegmentedControl, Table, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { type KeyboardEvent, useState } from 'react'

export interface ChartColumn {
  /** What names it to React. */
  readonly key: string
  /** Under the axis, where there is room. */
  readonly tick: string
  /** In full, for what is shown of it. */
  readonly label: string
  /** Absent: it has not begun. */
  readonly value: number | undefined
  /** Of the period that it is compared with. */
  readonly before?: number | undefined
  readonly note?: string
  /** It is not over. */
  readonly isRunning?: boolean
}

interface ColumnChartProps {
  /** What is shown, such as `Gross by day`. */
  readonly label: string
  readonly columns: readonly ChartColumn[]
  readonly format: (value: number) => string
  /** On the axis. */
  readonly short: (value: number) => string
  readonly valueName: string
  readonly beforeName?: string
}

const HEIGHT = 200
const LEFT = 56
const TOP = 8
const BOTTOM = 24
const TICK_PX = 64
const STEPS = 4

/** A chart of nothing has an axis, too: up to a hundred rupees. */
const LEAST = 10_000

/** A step of 1, 2, 2.5 or 5 of some power of ten, so that so many of them reach the value. */
function stepFor(most: number): number {
  const least = Math.max(most, LEAST) / STEPS
  const power = 10 ** Math.floor(Math.log10(least))
  return ([1, 2, 2.5, 5].find((factor) => factor * power >= least) ?? 10) * power
}

const TABULAR = { fontVariantNumeric: 'tabular-nums' } as const

/**
 * Sums as columns from zero, what they are compared with as a line across each; the same as a table, for those who choose
 * it and those who hear the page.
 */
export function ColumnChart(props: ColumnChartProps) {
  const [view, setView] = useState<'chart' | 'table'>('chart')
  return (
    <>
      <Group justify="flex-end">
        <SegmentedControl
          size="xs"
          aria-label={`${props.label} as`}
          data={[
            { value: 'chart', label: 'Chart' },
            { value: 'table', label: 'Table' },
          ]}
          value={view}
          onChange={setView}
        />
      </Group>
      {view === 'chart' && <Columns {...props} />}
      <div className={view === 'chart' ? 'visually-hidden' : 'chart-table'}>
        <Values {...props} />
      </div>
    </>
  )
}

function Columns({ label, columns, format, short, valueName, beforeName }: ColumnChartProps) {
  const { ref, width } = useElementSize()
  const [chosen, setChosen] = useState<number>()
  const wide = Math.max(width, 240)
  const step = stepFor(Math.max(...columns.map(({ before = 0, value = 0 }) => Math.max(before, value))))
  const most = step * STEPS
  const slot = (wide - LEFT) / Math.max(columns.length, 1)
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most)
  const every = Math.max(1, Math.ceil(TICK_PX / slot))
  const shown = chosen === undefined ? undefined : columns[chosen]
  const choose = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    setChosen((at = by > 0 ? -1 : columns.length) => Math.min(Math.max(at + by, 0), columns.length - 1))
  }
  return (
    <Box>
      <Text size="xs" c="dimmed" mih={20} ta="right" role="status" style={TABULAR}>
        {shown &&
          [
            shown.label,
            `${valueName} ${shown.value === undefined ? 'not begun' : format(shown.value)}${shown.isRunning ? ' until now' : ''}`,
            ...(beforeName && shown.before !== undefined ? [`${beforeName} ${format(shown.before)}`] : []),
            ...(shown.note ? [shown.note] : []),
          ].join(' · ')}
      </Text>
      <Box ref={ref}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys go through its columns */}
        <svg
          className="column-chart"
          width="100%"
          height={HEIGHT}
          role="img"
          aria-label={`${label}, as columns. Arrow keys read each; the table has the same.`}
          tabIndex={0}
          onKeyDown={choose}
          onBlur={() => setChosen(undefined)}
          onMouseLeave={() => setChosen(undefined)}
        >
          {Array.from({ length: STEPS + 1 }, (_, i) => i * step).map((value) => (
            <g key={value}>
              <line x1={LEFT} x2={wide} y1={y(value)} y2={y(value)} className="grid" />
              <text x={LEFT - 8} y={y(value) + 4} textAnchor="end">
                {short(value)}
              </text>
            </g>
          ))}
          {columns.map(({ before, isRunning, key, tick, value }, i) => {
            const x = LEFT + slot * i
            const inner = Math.max(slot * 0.68, 1)
            const left = x + (slot - inner) / 2
            return (
              // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the chart do the same
              <g key={key} onMouseEnter={() => setChosen(i)}>
                <rect
                  x={x}
                  y={TOP}
                  width={slot}
                  height={HEIGHT - TOP - BOTTOM}
                  className={i === chosen ? 'chosen' : 'free'}
                />
                {value !== undefined && value > 0 && (
                  <rect
                    x={left}
                    y={y(value)}
                    width={inner}
                    height={y(0) - y(value)}
                    rx={Math.min(2, inner / 4)}
                    className={isRunning ? 'column running' : 'column'}
                  />
                )}
                {before !== undefined && (
                  <line
                    x1={x + slot * 0.06}
                    x2={x + slot * 0.94}
                    y1={y(before)}
                    y2={y(before)}
                    className="before"
                  />
                )}
                {i % every === 0 && (
                  <text x={x + slot / 2} y={HEIGHT - 6} textAnchor="middle">
                    {tick}
                  </text>
                )}
              </g>
            )
          })}
        </svg>
      </Box>
    </Box>
  )
}

function Values({ label, columns, format, valueName, beforeName }: ColumnChartProps) {
  const hasNotes = columns.some(({ note }) => note !== undefined)
  return (
    <Table aria-label={label} verticalSpacing={4}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>From</Table.Th>
          <Table.Th ta="right">{valueName}</Table.Th>
          {beforeName && <Table.Th ta="right">{beforeName}</Table.Th>}
          {hasNotes && <Table.Th ta="right">How many</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {columns.map(({ before, isRunning, key, label: name, note, value }) => (
          <Table.Tr key={key}>
            <Table.Td>{name}</Table.Td>
            <Table.Td ta="right" style={TABULAR}>
              {value === undefined ? 'not begun' : format(value)}
              {isRunning && ' until now'}
            </Table.Td>
            {beforeName && (
              <Table.Td ta="right" style={TABULAR}>
                {before === undefined ? '' : format(before)}
              </Table.Td>
            )}
            {hasNotes && <Table.Td ta="right">{note}</Table.Td>}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
