import { expect, test } from 'vitest'
import {
  afterReading,
  afterReadingAll,
  type HeldPage,
  type KnownPages,
  type ListOf,
  NO_PAGES,
  pageOfRow,
  rowsAround,
} from '../../../apps/console/src/known-pages.ts'

const PAGE_ROWS = 3
let reads = 0

/** The page of the list behind the row that the cursor names, as the service returns it. */
function read(list: readonly number[], after: string): ListOf<number> {
  const from = after === '' ? 0 : list.findIndex((row) => row > Number(after))
  const data = from < 0 ? [] : list.slice(from, from + PAGE_ROWS)
  // Each page counts for itself, and rows come and go meanwhile.
  const page = { data, total: { count: list.length + (++reads % 3), exact: true } }
  return from >= 0 && from + PAGE_ROWS < list.length ? { ...page, next: String(data.at(-1)) } : page
}

function readAll(list: readonly number[]): { known: KnownPages; pages: ListOf<number>[] } {
  let known = NO_PAGES
  const pages: ListOf<number>[] = []
  for (let page = 0; page < known.starts.length; page++) {
    pages[page] = read(list, known.starts[page]!.after)
    known = afterReading(known, page, pages[page]!)
  }
  return { known, pages }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i * 10)

test.each([0, 1, 3, 4, 9, 10])('a list of %i rows is known from its first page to its last', (count) => {
  const list = upTo(count)
  const { known, pages } = readAll(list)
  expect(known).toMatchObject({ rows: count, more: false })
  expect(known.starts).toHaveLength(Math.max(Math.ceil(count / PAGE_ROWS), 1))
  expect(pages.flatMap(({ data }) => data)).toEqual(list)
  for (const [row] of list.entries()) expect(pageOfRow(known, row)).toBe(Math.floor(row / PAGE_ROWS))
  for (const [page, again] of pages.entries()) expect(afterReading(known, page, again)).toBe(known)
})

test('rows are those of consecutive loaded pages', () => {
  const list = upTo(15)
  const { known, pages } = readAll(list)
  const around = (page: number, ...lost: readonly number[]) =>
    rowsAround(
      known,
      pages.map((one, i) => (lost.includes(i) ? undefined : one)),
      0,
      page,
    )
  expect(around(2)).toEqual({ first: 0, rows: list })
  expect(around(2, 0, 4)).toEqual({ first: 3, rows: list.slice(3, 12) })
  expect(around(4, 2)).toEqual({ first: 9, rows: list.slice(9) })
  expect(around(2, 2)).toEqual({ first: 6, rows: [] })
  expect(rowsAround(known, pages.slice(2, 4), 2, 3)).toEqual({ first: 6, rows: list.slice(6, 12) })
})

/** Every place for a new row, and every row that may leave. */
const CHANGES = upTo(10).flatMap((at) => [
  { what: `${at + 5} comes`, change: (list: number[]) => [...list, at + 5].sort((a, b) => a - b) },
  { what: `${at} goes`, change: (list: number[]) => list.filter((row) => row !== at) },
])

test.each(CHANGES)(
  'a page is read again after $what: no row is in the list twice, and none is missing',
  ({ change }) => {
    const before = upTo(10)
    const now = change(before)
    const unique = (rows: readonly number[]): number[] => [...new Set(rows)].sort((a, b) => a - b)
    for (const again of [0, 1, 2, 3]) {
      let { known, pages } = readAll(before) as { known: KnownPages; pages: HeldPage<number>[] }
      const changed = read(now, known.starts[again]!.after)
      pages[again] = changed
      const { rows: atOnce } = rowsAround(known, pages, 0, again)
      expect(atOnce).toEqual(unique(atOnce))
      let steps = 0
      for (;;) {
        const next = afterReadingAll(known, pages, 0)
        if (next === known) break
        expect(++steps).toBeLessThan(10)
        pages = next.starts.map(({ after }, page) =>
          known.starts[page]?.after === after ? pages[page] : read(now, after),
        )
        known = next
      }
      const { first, rows } = rowsAround(known, pages, 0, again)
      expect({ first, rows }).toEqual({ first: 0, rows: unique(rows) })
      expect(known).toMatchObject({ rows: rows.length, more: false })
      expect(rows).toEqual(
        expect.arrayContaining([...changed.data, ...before.filter((row) => now.includes(row))]),
      )
    }
  },
)
