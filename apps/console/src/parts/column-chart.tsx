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

/** Where a chart has its values and columns, in pixels. */
interface Scale {
  readonly wide: number
  /** The value between two lines of the grid. */
  readonly step: number
  /** What a column has of the width. */
  readonly slot: number
  readonly y: (value: number) => number
}

function scaleOf(columns: readonly ChartColumn[], width: number): Scale {
  const wide = Math.max(width, 240)
  const step = stepFor(Math.max(...columns.map(({ before = 0, value = 0 }) => Math.max(before, value))))
  const most = step * STEPS
  return {
    wide,
    step,
    slot: (wide - LEFT) / Math.max(columns.length, 1),
    y: (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most),
  }
}

function Columns(props: ColumnChartProps) {
  const { label, columns, short } = props
  const { ref, width } = useElementSize()
  const [chosen, setChosen] = useState<number>()
  const scale = scaleOf(columns, width)
  const every = Math.max(1, Math.ceil(TICK_PX / scale.slot))
  const choose = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    setChosen((at = by > 0 ? -1 : columns.length) => Math.min(Math.max(at + by, 0), columns.length - 1))
  }
  return (
    <Box>
      <Chosen {...props} shown={chosen === undefined ? undefined : columns[chosen]} />
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
          <Grid scale={scale} short={short} />
          {columns.map((column, i) => (
            <Column
              key={column.key}
              column={column}
              x={LEFT + scale.slot * i}
              scale={scale}
              isChosen={i === chosen}
              hasTick={i % every === 0}
              onChoose={() => setChosen(i)}
            />
          ))}
        </svg>
      </Box>
    </Box>
  )
}

interface ChosenProps extends Pick<ColumnChartProps, 'format' | 'valueName' | 'beforeName'> {
  readonly shown: ChartColumn | undefined
}

/** What the chosen column says, in words. */
function Chosen({ shown, format, valueName, beforeName }: ChosenProps) {
  return (
    <Text size="xs" c="dimmed" mih={20} ta="right" role="status" style={TABULAR}>
      {shown &&
        [
          shown.label,
          `${valueName} ${shown.value === undefined ? 'not begun' : format(shown.value)}${shown.isRunning ? ' until now' : ''}`,
          ...(beforeName && shown.before !== undefined ? [`${beforeName} ${format(shown.before)}`] : []),
          ...(shown.note ? [shown.note] : []),
        ].join(' · ')}
    </Text>
  )
}

interface GridProps extends Pick<ColumnChartProps, 'short'> {
  readonly scale: Scale
}

function Grid({ scale: { step, wide, y }, short }: GridProps) {
  return Array.from({ length: STEPS + 1 }, (_, i) => i * step).map((value) => (
    <g key={value}>
      <line x1={LEFT} x2={wide} y1={y(value)} y2={y(value)} className="grid" />
      <text x={LEFT - 8} y={y(value) + 4} textAnchor="end">
        {short(value)}
      </text>
    </g>
  ))
}

interface ColumnProps {
  readonly column: ChartColumn
  /** Where its slot begins. */
  readonly x: number
  readonly scale: Scale
  readonly isChosen: boolean
  readonly hasTick: boolean
  readonly onChoose: () => void
}

function Column({ column, x, scale: { slot, y }, isChosen, hasTick, onChoose }: ColumnProps) {
  const { before, isRunning, tick, value } = column
  const inner = Math.max(slot * 0.68, 1)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the chart do the same
    <g onMouseEnter={onChoose}>
      <rect
        x={x}
        y={TOP}
        width={slot}
        height={HEIGHT - TOP - BOTTOM}
        className={isChosen ? 'chosen' : 'free'}
      />
      {value !== undefined && value > 0 && (
        <rect
          x={x + (slot - inner) / 2}
          y={y(value)}
          width={inner}
          height={y(0) - y(value)}
          rx={Math.min(2, inner / 4)}
          className={isRunning ? 'column running' : 'column'}
        />
      )}
      {before !== undefined && (
        <line x1={x + slot * 0.06} x2={x + slot * 0.94} y1={y(before)} y2={y(before)} className="before" />
      )}
      {hasTick && (
        <text x={x + slot / 2} y={HEIGHT - 6} textAnchor="middle">
          {tick}
        </text>
      )}
    </g>
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
