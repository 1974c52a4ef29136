import type { ListLoader } from '../api.ts'
import type { BulkAction } from '../bulk.ts'
import type { ListOf } from '../known-pages.ts'
import type { Density } from '../table-view.ts'
import type { BulkBarProps } from './bulk-bar.tsx'
import { type Column, DataTable, Framed, type Slice, type Sorting } from './data-table.tsx'
import { lazyPart } from './lazy-part.tsx'
import { useSelection } from './selection.ts'

// Needed once rows are selected, so it is not part of the first load of lists.
const BulkBar = lazyPart(async () => (await import('./bulk-bar.tsx')).BulkBar, null)

export interface ListRowsProps<Row> {
  readonly name: string
  readonly id?: string | undefined
  readonly caption: string
  readonly load: ListLoader<Row>
  readonly columns: readonly Column<Row>[]
  readonly rowKey: (row: Row) => string
  readonly bulk: readonly BulkAction<Row>[]
  readonly sorting: Sorting
  readonly density: Density
  /** Filters and order, without the place in the list. */
  readonly query: Record<string, string>
}

/** Rows near the window, and where in the list they are. */
export interface Near<Row> {
  readonly rows: readonly Row[]
  readonly slice: Slice
}

interface ShownProps<Row> extends ListRowsProps<Row> {
  /** All that are loaded. */
  readonly loaded: readonly Row[]
  readonly total: ListOf<Row>['total']
  /** Which of them are in the page; all of them without. */
  readonly near?: Near<Row>
}

/** Rows of a list, and what can be done with those that are selected. */
export function ListRows<Row>({ loaded, total, near, ...props }: ShownProps<Row>) {
  const { name, id, caption, load, columns, rowKey, bulk, sorting, density, query } = props
  const selection = useSelection(loaded, rowKey, JSON.stringify([id, query]))
  const bar = { name, actions: bulk, selection, load, query, total } as unknown as BulkBarProps<unknown>
  return (
    <>
      {selection.rows.size > 0 && <BulkBar {...bar} />}
      <Framed>
        <DataTable
          caption={caption}
          columns={columns}
          rows={near ? near.rows : loaded}
          rowKey={rowKey}
          sorting={sorting}
          selection={bulk.length > 0 ? selection : undefined}
          density={density}
          slice={near?.slice}
        />
      </Framed>
    </>
  )
}
