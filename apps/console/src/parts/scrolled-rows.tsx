import { Box, Group, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQueries } from '@tanstack/react-query'
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
import {
  afterReadingAll,
  type KnownPages,
  NO_PAGES,
  pageOfRow,
  type Run,
  rowsAround,
} from '../known-pages.ts'
import { PHONE } from './data-table.tsx'
import { FailureAlert } from './failure-alert.tsx'
import { ListRows, type ListRowsProps, type Near } from './list-rows.tsx'
import { Waiting } from './loaded.tsx'
import { about, count } from './money.tsx'

const PAGE_ROWS = '250'
/** Pages that are held on each side of the window: an action may have the 500 rows of a range. */
const AROUND = 2
/** Other pages are forgotten, and read again when the window comes back. */
const KEPT_MS = 10_000
const OVERSCAN = 4
/** Until the first row has been measured, in pixels. */
const ROW_PX = { table: 35, compact: 27, phone: 90 } as const

interface ScrolledProps<Row> extends ListRowsProps<Row> {
  readonly children: ReactNode
}

/**
 * A list that is read while it is scrolled: the page holds the rows near the window, and memory those of some pages around
 * them, however long the list is.
 */
export function ScrolledRows<Row>({ children, ...props }: ScrolledProps<Row>) {
  const [known, setKnown] = useState(NO_PAGES)
  const [[firstSeen, lastSeen], setSeen] = useState<readonly [number, number]>([0, 0])
  const firstPage = Math.min(firstSeen, known.starts.length - 1)
  const from = Math.max(firstPage - AROUND, 0)
  const readings = useQueries({
    queries: known.starts.slice(from, lastSeen + AROUND + 1).map(({ after }) => readingOf(props, after)),
  })
  const held = useSame(readings.map(({ data }) => data))
  const grown = useMemo(() => afterReadingAll(known, held, from), [known, held, from])
  if (grown !== known) setKnown(grown)
  const run = useMemo(() => rowsAround(known, held, from, firstPage), [known, held, from, firstPage])
  const { rows, total, more } = known
  const failed = readings.find(({ isError }) => isError)
  const alert = failed && <FailureAlert failed={failed.error} retry={() => void failed.refetch()} />
  if (rows === 0 && more) return alert ?? <Waiting />
  return (
    <>
      <Group justify="space-between">
        <Text size="sm" c="dimmed" role="status">
          {more && total ? `${count(rows)} of ${about(total)} loaded` : `${count(rows)} in all`}
        </Text>
        <Group gap="sm">{children}</Group>
      </Group>
      {alert}
      <Windowed
        {...props}
        known={known}
        run={run}
        onPages={(first, last) => {
          if (first !== firstSeen || last !== lastSeen) setSeen([first, last])
        }}
      />
    </>
  )
}

const readingOf = <Row,>({ name, id, load, query }: ListRowsProps<Row>, after: string) => ({
  queryKey: [name, 'list', id, 'scroll', query, after],
  queryFn: () => load({ ...query, limit: PAGE_ROWS, ...(after && { after }) }),
  staleTime: Infinity,
  refetchOnWindowFocus: false,
  gcTime: KEPT_MS,
})

/** The array before, while the same things are in it. */
function useSame<T>(items: readonly T[]): readonly T[] {
  const [kept, keep] = useState(items)
  const same = kept.length === items.length && kept.every((item, i) => item === items[i])
  if (!same) keep(items)
  return same ? kept : items
}

interface WindowedProps<Row> extends ListRowsProps<Row> {
  readonly known: KnownPages
  readonly run: Run<Row>
  /** Receives which pages of the list the window shows. */
  readonly onPages: (first: number, last: number) => void
}

function Windowed<Row>({ known, run, onPages, ...props }: WindowedProps<Row>) {
  const { density } = props
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
    count: known.rows,
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
  const [firstPage, lastPage] = [items[0], items.at(-1)].map((item) => pageOfRow(known, item?.index ?? 0))
  useEffect(() => onPages(firstPage!, lastPage!))
  // Rows are rendered between other tasks, however many of them a jump replaces.
  const shown = useDeferredValue(useShown(virtualizer, top, known.rows, run))
  return (
    <Box ref={frame}>
      <Rows {...(props as unknown as RowsProps)} total={known.total} {...shown} />
    </Box>
  )
}

type RowsProps = ListRowsProps<unknown>

const Rows = memo(ListRows<unknown>)

/** The rows near the window, as far as they are held; the same object while it does not change. */
function useShown(
  virtualizer: Virtualizer<Window, Element>,
  top: number,
  count: number,
  run: Run<unknown>,
): { readonly loaded: readonly unknown[]; readonly near: Near<unknown> } {
  const end = run.first + run.rows.length
  const items = virtualizer.getVirtualItems().filter(({ index }) => index >= run.first && index < end)
  const [first, last] = [items[0], items.at(-1)]
  const from = first?.index ?? run.first
  const shown = items.length
  const before = first ? first.start - top : 0
  const after = virtualizer.getTotalSize() - (last ? last.end - top : 0)
  const measure = virtualizer.measureElement
  return useMemo(() => {
    const rows = run.rows.slice(from - run.first, from - run.first + shown)
    return { loaded: run.rows, near: { rows, slice: { first: from, count, before, after, measure } } }
  }, [run, from, shown, count, before, after, measure])
}
