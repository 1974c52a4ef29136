import {
  Box,
  Card,
  Checkbox,
  Group,
  Paper,
  Stack,
  Table,
  Text,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { memo, type ReactNode, useLayoutEffect, useRef } from 'react'
import type { Density } from '../table-view.ts'
import { BothIcon, DownIcon, UpIcon } from './icons.tsx'
import { Money, sumOf } from './money.tsx'
import type { Selection } from './selection.ts'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ReactNode
  /** The orders that the server knows for it, such as `-created` and `created`; without them it cannot be sorted by. */
  readonly sorts?: readonly string[]
  readonly align?: 'right' | undefined
  /** Rupees of a row, where those of all rows can be added up. */
  readonly sum?: (row: Row) => string | number | undefined
}

export interface Sorting {
  /** Of now. */
  readonly order: string | undefined
  /** `undefined` goes back to the order that the list has by itself. */
  readonly sortBy: (order: string | undefined) => void
}

/** Of a long list only the rows near the window are in the page; `before` and `after` stand for the others, in pixels. */
export interface Slice {
  /** Index of the first row in the page, and of how many. */
  readonly first: number
  readonly count: number
  readonly before: number
  readonly after: number
  readonly measure: (element: Element | null) => void
}

interface DataTableProps<Row> {
  /** Said to people who hear the page. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly sorting?: Sorting
  /** Where something can be done with several rows. */
  readonly selection?: Selection<Row> | undefined
  readonly density?: Density
  readonly slice?: Slice | undefined
}

/** The same columns of a list that has one order. */
export const unsorted = <Row,>(columns: readonly Column<Row>[]): readonly Column<Row>[] =>
  columns.map(({ sorts: _sorts, ...column }) => column)

/** Orders of the columns that show when a thing came to be. */
export const BY_TIME = ['-created', 'created'] as const

export const PHONE = '(max-width: 47.99em)'

/** Rows as a table, and on a phone as one card each, so that nothing must be scrolled sideways. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const phone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false })
  return phone ? <Cards {...props} /> : <Grid {...props} />
}

/** A table on the ground of a page; the cards of a phone have frames of their own. */
export function Framed({ children }: { readonly children: ReactNode }) {
  const phone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false })
  if (phone) return children
  return (
    <Paper withBorder p="sm">
      {children}
    </Paper>
  )
}

/** Marks the frame of a table that is no wider than it: nothing scrolls sideways, so that the header can stay at the top of the window. */
function useFits() {
  const frame = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const table = frame.current?.querySelector('table')
    if (!frame.current || !table) return undefined
    const measure = () => {
      // Always as if it scrolled: a mark changes what is measured, and would come and go with each other.
      frame.current?.removeAttribute('data-fits')
      frame.current?.toggleAttribute('data-fits', table.scrollWidth <= frame.current.clientWidth)
    }
    const observer = new ResizeObserver(measure)
    observer.observe(frame.current)
    observer.observe(table)
    return () => observer.disconnect()
  }, [])
  return frame
}

function Grid<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, sorting, selection, density, slice } = props
  const compact = density === 'compact'
  const frame = useFits()
  return (
    <Table.ScrollContainer
      minWidth={Math.min(columns.length * 100, 760)}
      scrollAreaProps={{ tabIndex: -1, offsetScrollbars: 'present' }}
      ref={frame}
      className="table-frame"
    >
      <Table
        stickyHeader
        stickyHeaderOffset={48}
        verticalSpacing={compact ? 5 : 7}
        horizontalSpacing="sm"
        {...(compact && { fz: 'xs' })}
        highlightOnHover
        aria-label={caption}
        {...(slice && { 'aria-rowcount': slice.count + 1 })}
      >
        <Table.Thead>
          <Table.Tr>
            {selection && (
              <Table.Th w={36}>
                <SelectAll selection={selection} />
              </Table.Th>
            )}
            {columns.map((column) => (
              <Heading key={column.title} column={column} sorting={sorting} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {slice && <tr aria-hidden style={{ height: slice.before }} />}
          {rows.map((row, index) => (
            <Table.Tr key={rowKey(row)} data-row {...placed(slice, index)}>
              {selection && (
                <Table.Td style={selection.rows.has(rowKey(row)) ? SELECTED : undefined}>
                  <Select selection={selection} of={rowKey(row)} number={(slice?.first ?? 0) + index + 1} />
                </Table.Td>
              )}
              <Cells row={row} columns={columns as readonly Column<unknown>[]} />
            </Table.Tr>
          ))}
          {slice && <tr aria-hidden style={{ height: slice.after }} />}
        </Table.Tbody>
        {!slice && <SumRow columns={columns} rows={rows} selectable={selection !== undefined} />}
      </Table>
    </Table.ScrollContainer>
  )
}

const inRupees = (amount: string | number = 0): string =>
  typeof amount === 'number' ? amount.toFixed(2) : amount

/** What the rows on the page add up to, under the columns that can be added up. */
function SumRow<Row>(
  props: Pick<DataTableProps<Row>, 'columns' | 'rows'> & { readonly selectable: boolean },
) {
  const { columns, rows, selectable } = props
  if (rows.length < 2 || columns.every(({ sum }) => !sum)) return undefined
  return (
    <Table.Tfoot>
      <Table.Tr>
        {selectable && <Table.Td />}
        {columns.map(({ title, align, sum }, index) => (
          <Table.Td key={title} ta={align} fw={600}>
            {sum ? (
              <Money amount={sumOf(rows.map((row) => inRupees(sum(row))))} />
            ) : (
              index === 0 && `These ${rows.length}`
            )}
          </Table.Td>
        ))}
      </Table.Tr>
    </Table.Tfoot>
  )
}

/** Kept while row and columns do not change: most rows stay when a list is scrolled. */
const Cells = memo(function Cells(props: { row: unknown; columns: readonly Column<unknown>[] }) {
  const { row, columns } = props
  return columns.map(({ title, cell, align }) => (
    <Table.Td key={title} ta={align}>
      {cell(row)}
    </Table.Td>
  ))
})

/** A mark at the side: links have too little contrast on most grounds. */
const SELECTED = { boxShadow: 'inset 3px 0 0 var(--mantine-primary-color-filled)' }

const placed = (slice: Slice | undefined, index: number) =>
  slice && {
    ref: slice.measure,
    'data-index': slice.first + index,
    'aria-rowindex': slice.first + index + 2,
  }

function SelectAll<Row>({ selection: { all, toggleAll } }: { readonly selection: Selection<Row> }) {
  return (
    <Checkbox
      size="xs"
      aria-label="Select all rows of this page"
      checked={all === 'all'}
      indeterminate={all === 'some'}
      onChange={toggleAll}
    />
  )
}

interface SelectProps<Row> {
  readonly selection: Selection<Row>
  readonly of: string
  /** Its place on the page, for people who hear it. */
  readonly number: number
}

function Select<Row>({ selection: { rows, toggle }, of, number }: SelectProps<Row>) {
  return (
    <Checkbox
      size="xs"
      data-select
      aria-label={`Select row ${number}`}
      checked={rows.has(of)}
      onChange={({ nativeEvent }) => toggle(of, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)}
    />
  )
}

function Heading<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting | undefined }) {
  const { title, sorts, align } = column
  if (!sorts || !sorting) return <Table.Th ta={align}>{title}</Table.Th>
  const at = sorts.indexOf(sorting.order ?? '')
  const direction = at < 0 ? 'none' : sorting.order!.startsWith('-') ? 'descending' : 'ascending'
  const Icon = { none: BothIcon, descending: DownIcon, ascending: UpIcon }[direction]
  return (
    <Table.Th ta={align} aria-sort={direction}>
      <UnstyledButton
        fz="inherit"
        fw="inherit"
        c="inherit"
        onClick={() => sorting.sortBy(sorts[at + 1] ?? sorts[at - 1])}
      >
        <Group gap={4} wrap="nowrap" justify={align === 'right' ? 'flex-end' : 'flex-start'}>
          {title}
          <Icon />
        </Group>
      </UnstyledButton>
    </Table.Th>
  )
}

function Cards<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, selection, density, slice } = props
  const [first, ...further] = columns
  // Beside the name what the row amounts to; the others follow it in small.
  const amount = further.find(({ align, title }) => align === 'right' && title !== '')
  const others = further.filter((column) => column !== amount)
  return (
    <Stack gap="xs" component="ul" aria-label={caption} m={0} p={0} style={{ listStyle: 'none' }}>
      {slice && <li aria-hidden style={{ height: slice.before }} />}
      {rows.map((row, index) => (
        <Card
          key={rowKey(row)}
          data-row
          {...(slice && { ref: slice.measure, 'data-index': slice.first + index })}
          component="li"
          withBorder
          padding={density === 'compact' ? 6 : 'xs'}
        >
          <Group gap="sm" wrap="nowrap" align="flex-start">
            {selection && (
              <Select selection={selection} of={rowKey(row)} number={(slice?.first ?? 0) + index + 1} />
            )}
            <Box fw={500} style={{ overflowWrap: 'anywhere', minWidth: 0, flex: 1 }}>
              {first?.cell(row)}
            </Box>
            {amount && <Named title={amount.title}>{amount.cell(row)}</Named>}
          </Group>
          <Group gap="2px 12px" fz="xs" mt={4}>
            {others.map(({ title, cell }) => (
              <Named key={title} title={title} seen>
                {cell(row)}
              </Named>
            ))}
          </Group>
        </Card>
      ))}
      {slice && <li aria-hidden style={{ height: slice.after }} />}
    </Stack>
  )
}

interface NamedProps {
  readonly title: string
  /** Whether the name is seen too, not heard alone. */
  readonly seen?: boolean
  readonly children: ReactNode
}

/** A value of a card with the name of its column. */
function Named({ title, seen = false, children }: NamedProps) {
  return (
    <Group
      component="span"
      gap={4}
      wrap="nowrap"
      align="baseline"
      style={{ overflowWrap: 'anywhere', minWidth: 0 }}
    >
      {title !== '' &&
        (seen ? (
          <Text span size="xs" c="dimmed" style={{ flexShrink: 0 }}>
            {title}
          </Text>
        ) : (
          <VisuallyHidden>{title}</VisuallyHidden>
        ))}
      <Box component="span" style={{ minWidth: 0 }}>
        {children}
      </Box>
    </Group>
  )
}
