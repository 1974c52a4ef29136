import { Box, Group, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { ListOf } from '../api.ts'
import { PHONE } from './data-table.tsx'
import { FailureAlert } from './failure-alert.tsx'
import { ListRows, type ListRowsProps } from './list-rows.tsx'
import { Waiting } from './loaded.tsx'
import { about, count } from './money.tsx'

const PAGE_ROWS = '500'
/** Further rows are loaded when so many are left below the window. */
const AHEAD = 200
const OVERSCAN = 15
/** Until a row has been measured, in pixels. */
const ROW_PX = { table: 54, compact: 30, phone: 220 } as const

interface ScrolledProps<Row> extends ListRowsProps<Row> {
  readonly children: ReactNode
}

/** A list that loads further rows while it is scrolled; the page holds only those near the window. */
export function ScrolledRows<Row>({ children, ...props }: ScrolledProps<Row>) {
  const { name, id, load, asked } = props
  const query = useInfiniteQuery({
    queryKey: [name, 'list', id, 'scroll', asked],
    queryFn: ({ pageParam }) => load({ ...asked, limit: PAGE_ROWS, ...(pageParam && { after: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (last: ListOf<Row>) => last.next,
    // All loaded pages would be read again and compared.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    structuralSharing: false,
  })
  const pages = query.data?.pages
  const loaded = useMemo(() => pages?.flatMap(({ data }) => data) ?? [], [pages])
  if (query.isPending) return <Waiting />
  if (!pages) return <FailureAlert failed={query.error} retry={() => void query.refetch()} />
  const more = () => {
    if (query.hasNextPage && !query.isFetching && !query.isFetchNextPageError) void query.fetchNextPage()
  }
  return (
    <>
      <Group justify="space-between">
        <Text size="sm" c="dimmed" role="status">
          {query.hasNextPage && pages[0]?.total
            ? `${count(loaded.length)} of ${about(pages[0].total)} loaded`
            : `${count(loaded.length)} in all`}
        </Text>
        <Group gap="sm">{children}</Group>
      </Group>
      {query.isFetchNextPageError && (
        <FailureAlert failed={query.error} retry={() => void query.fetchNextPage()} />
      )}
      <Windowed {...props} loaded={loaded} total={pages[0]?.total} more={more} />
    </>
  )
}

interface WindowedProps<Row> extends ListRowsProps<Row> {
  readonly loaded: readonly Row[]
  readonly total: ListOf<Row>['total']
  readonly more: () => void
}

function Windowed<Row>({ more, ...props }: WindowedProps<Row>) {
  const { density, loaded } = props
  const phone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false })
  const frame = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    if (frame.current) setTop(frame.current.getBoundingClientRect().top + window.scrollY)
  }, [])
  const rowPx = phone ? ROW_PX.phone : density === 'compact' ? ROW_PX.compact : ROW_PX.table
  const virtualizer = useWindowVirtualizer({
    count: loaded.length,
    estimateSize: () => rowPx,
    overscan: OVERSCAN,
    scrollMargin: top,
  })
  const items = virtualizer.getVirtualItems()
  const [first, last] = [items[0], items.at(-1)]
  const reached = last?.index ?? 0
  useEffect(() => {
    if (reached >= loaded.length - AHEAD) more()
  })
  return (
    <Box ref={frame}>
      <ListRows
        {...props}
        slice={{
          first: first?.index ?? 0,
          shown: items.length,
          count: loaded.length,
          before: first ? first.start - top : 0,
          after: last ? virtualizer.getTotalSize() - (last.end - top) : 0,
          measure: virtualizer.measureElement,
        }}
      />
    </Box>
  )
}
