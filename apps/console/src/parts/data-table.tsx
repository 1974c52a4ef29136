import { Box, Card, Group, Stack, Table, Text, UnstyledButton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { BothIcon, DownIcon, UpIcon } from './icons.tsx'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ReactNode
  /** The orders that the server knows for it, such as `-created` and `created`; without them it cannot be sorted by. */
  readonly sorts?: readonly string[]
  readonly align?: 'right' | undefined
}

export interface Sorting {
  /** Of now. */
  readonly order: string | undefined
  /** `undefined` goes back to the order that the list has by itself. */
  readonly sortBy: (order: string | undefined) => void
}

interface DataTableProps<Row> {
  /** Said to people who hear the page. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly sorting?: Sorting
}

/** Orders of the columns that show when a thing came to be. */
export const BY_TIME = ['-created', 'created'] as const

export const PHONE = '(max-width: 47.99em)'

/** Rows as a table, and on a phone as one card each, so that nothing must be scrolled sideways. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const phone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false })
  return phone ? <Cards {...props} /> : <Grid {...props} />
}

function Grid<Row>({ caption, columns, rows, rowKey, sorting }: DataTableProps<Row>) {
  return (
    <Table.ScrollContainer minWidth={Math.min(columns.length * 120, 760)} scrollAreaProps={{ tabIndex: -1 }}>
      <Table verticalSpacing="xs" horizontalSpacing="sm" highlightOnHover aria-label={caption}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Heading key={column.title} column={column} sorting={sorting} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={rowKey(row)} data-row>
              {columns.map(({ title, cell, align }) => (
                <Table.Td key={title} ta={align}>
                  {cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
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
      <UnstyledButton fz="inherit" fw={700} onClick={() => sorting.sortBy(sorts[at + 1] ?? sorts[at - 1])}>
        <Group gap={4} wrap="nowrap" justify={align === 'right' ? 'flex-end' : 'flex-start'}>
          {title}
          <Icon />
        </Group>
      </UnstyledButton>
    </Table.Th>
  )
}

function Cards<Row>({ caption, columns, rows, rowKey }: DataTableProps<Row>) {
  const [first, ...others] = columns
  return (
    <Stack gap="sm" component="ul" aria-label={caption} m={0} p={0} style={{ listStyle: 'none' }}>
      {rows.map((row) => (
        <Card key={rowKey(row)} data-row component="li" withBorder padding="sm">
          <Box fw={600} mb={6} style={{ overflowWrap: 'anywhere' }}>
            {first?.cell(row)}
          </Box>
          <Stack gap={4}>
            {others.map(({ title, cell }) => (
              <Group key={title} justify="space-between" gap="md" wrap="nowrap" align="baseline">
                <Text size="sm" c="dimmed" style={{ flexShrink: 0 }}>
                  {title}
                </Text>
                <Box ta="right" fz="sm" style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
                  {cell(row)}
                </Box>
              </Group>
            ))}
          </Stack>
        </Card>
      ))}
    </Stack>
  )
}
