/** A page of a list, as the service returns it. */
export interface ListOf<Row> {
  readonly data: readonly Row[]
  /** Cursor of the next page. */
  readonly next?: string
  readonly total?: { readonly count: number; readonly exact: boolean }
}

/** Where a page of a list begins: the cursor that it is read by, and the index of its first row in the list. */
export interface PageStart {
  readonly after: string
  readonly row: number
}

/** What is known of a list that is read page by page, whether or not a page is still held. */
export interface KnownPages {
  readonly starts: readonly [PageStart, ...PageStart[]]
  /** Rows of all pages that have been read. */
  readonly rows: number
  /** Whether the list goes on after them. */
  readonly more: boolean
  readonly total?: NonNullable<ListOf<unknown>['total']>
}

/** A page that is held, or `undefined` where it is being read. */
export type HeldPage<Row> = ListOf<Row> | undefined

export const NO_PAGES: KnownPages = { starts: [{ after: '', row: 0 }], rows: 0, more: true }

/** The page that has the row. */
export const pageOfRow = ({ starts }: KnownPages, row: number): number =>
  Math.max(
    starts.findLastIndex((start) => start.row <= row),
    0,
  )

/** Whether the page ends where the list was known to go on, or to end. */
function asKnown({ starts, rows, more }: KnownPages, page: number, { data, next }: ListOf<unknown>): boolean {
  const following = starts[page + 1]
  const end = starts[page]!.row + data.length
  return following
    ? following.after === next && following.row === end
    : next === undefined && !more && rows === end
}

/**
 * What is known after the page was read. One that does not end where it did before, because rows came or went, makes all
 * that follow unknown again.
 */
export function afterReading(known: KnownPages, page: number, read: ListOf<unknown>): KnownPages {
  // Pages that were read at different times may count differently, and do so side by side.
  if (asKnown(known, page, read)) return known
  const [first, ...others] = known.starts
  const rows = known.starts[page]!.row + read.data.length
  const total = read.total ?? known.total
  const following = read.next === undefined ? [] : [{ after: read.next, row: rows }]
  return {
    starts: [first, ...others.slice(0, page), ...following],
    rows,
    more: following.length > 0,
    ...(total && { total }),
  }
}

/** What is known after those that are held were read, the first of which is the page `from`; each as it was requested. */
export function afterReadingAll(
  known: KnownPages,
  held: readonly HeldPage<unknown>[],
  from: number,
): KnownPages {
  for (const [i, page] of held.entries()) {
    const after = page ? afterReading(known, from + i, page) : known
    // Those behind it were requested by other cursors.
    if (after !== known) return after
  }
  return known
}

/** Rows that follow each other in the list, from the one with the index `first`. */
export interface Run<Row> {
  readonly first: number
  readonly rows: readonly Row[]
}

/** The rows of the page and of those beside it, as far as they are held; `held` begins with the page `from`. */
export function rowsAround<Row>(
  known: KnownPages,
  held: readonly HeldPage<Row>[],
  from: number,
  page: number,
): Run<Row> {
  const joined = (before: number): boolean => {
    const [one, other] = [held[before - from], held[before + 1 - from]]
    return one !== undefined && other !== undefined && asKnown(known, before, one)
  }
  let [first, last] = [page, page]
  while (joined(first - 1)) first--
  while (joined(last)) last++
  const pages = held.slice(first - from, last + 1 - from)
  return { first: known.starts[first]!.row, rows: pages.flatMap((one) => one?.data ?? []) }
}
