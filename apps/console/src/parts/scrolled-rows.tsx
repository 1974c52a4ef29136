import { Box, Group, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useWindowVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import {
  memo,
  type ReactNode,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { ListOf } from '../api.ts'
import { PHONE, type Slice } from './data-table.tsx'
import { FailureAlert } from './failure-alert.tsx'
import { ListRows, type ListRowsProps } from './list-rows.tsx'
import { Waiting } from './loaded.tsx'
import { about, count } from './money.tsx'

const PAGE_ROWS = '250'
/** Further rows are loaded when so many are left below the window. */
const AHEAD = 200
const OVERSCAN = 8
/** Until the first row has been measured, in pixels. */
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
  const guessPx = phone ? ROW_PX.phone : density === 'compact' ? ROW_PX.compact : ROW_PX.table
  const [measured, setMeasured] = useState({ guessPx: 0, rowPx: 0 })
  const rowPx = measured.guessPx === guessPx ? measured.rowPx : guessPx
  const virtualizer = useWindowVirtualizer({
    count: loaded.length,
    estimateSize: () => rowPx,
    overscan: OVERSCAN,
    scrollMargin: top,
    // Else every step of a scroll renders at once, however long it takes.
    useFlushSync: false,
  })
  const items = virtualizer.getVirtualItems()
  const firstPx = items[0]?.size ?? rowPx
  // Rows as high as expected are not kept one by one, nor are the places of all reckoned again when they come into view.
  useEffect(() => {
    if (firstPx === rowPx || measured.guessPx === guessPx) return
    setMeasured({ guessPx, rowPx: firstPx })
    virtualizer.measure()
  }, [firstPx, rowPx, guessPx, measured, virtualizer])
  const reached = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (reached >= loaded.length - AHEAD) more()
  })
  // Rows are rendered between other tasks, however many of them a jump replaces.
  const slice = useDeferredValue(useSlice(virtualizer, top, loaded.length))
  return (
    <Box ref={frame}>
      <Rows {...(props as unknown as RowsProps)} slice={slice} />
    </Box>
  )
}

type RowsProps = Omit<Parameters<typeof ListRows<unknown>>[0], 'slice'>

const Rows = memo(ListRows<unknown>)

/** The rows near the window; the same object while it does not change. */
function useSlice(virtualizer: Virtualizer<Window, Element>, top: number, count: number): Slice {
  const items = virtualizer.getVirtualItems()
  const [first, last] = [items[0], items.at(-1)]
  const from = first?.index ?? 0
  const shown = items.length
  const before = first ? first.start - top : 0
  const after = last ? virtualizer.getTotalSize() - (last.end - top) : 0
  const measure = virtualizer.measureElement
  return useMemo(
    () => ({ first: from, shown, count, before, after, measure }),
    [from, shown, count, before, after, measure],
  )
}
