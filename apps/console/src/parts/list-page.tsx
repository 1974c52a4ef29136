import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRouter, useRouterState } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { ListLoader } from '../api.ts'
import type { BulkAction } from '../bulk.ts'
import type { ListOf } from '../known-pages.ts'
import { EVER, listQuery, unbounded } from '../list-query.ts'
import { type ListSearch, useListSearch } from '../list-search.ts'
import { useSession } from '../session.ts'
import { arranged, storedDensity, storedPaging, storedView } from '../table-view.ts'
import type { Column, Sorting } from './data-table.tsx'
import { FailureAlert } from './failure-alert.tsx'
import { type Filter, Filters, isFiltered } from './filters.tsx'
import { DownloadIcon } from './icons.tsx'
import { lazyPart } from './lazy-part.tsx'
import { ListRows, type ListRowsProps } from './list-rows.tsx'
import { Waiting } from './loaded.tsx'
import { about, count } from './money.tsx'
import { Page, type PageTrail } from './page.tsx'
import { SavedFilters } from './saved-filters.tsx'
import { StaleNote } from './stale-note.tsx'
import { ViewMenu } from './view-menu.tsx'

// Needed by those who chose it, so it is not part of the first load of lists.
const ScrolledRows = lazyPart(async () => (await import('./scrolled-rows.tsx')).ScrolledRows)

export interface ListProps<Row> {
  /** First part of the query's key; what changes such things invalidates it. */
  readonly name: string
  /** Whose list it is, where the name does not say it. */
  readonly id?: string
  readonly caption: string
  readonly load: ListLoader<Row>
  readonly columns: readonly Column<Row>[]
  readonly rowKey: (row: Row) => string
  readonly filters: readonly Filter[]
  /** The order that the server returns by default. */
  readonly sort?: string
  /** Shown when there is nothing at all, filters apart. */
  readonly empty: ReactNode
  /** Shown above the rows, for these filters. */
  readonly summary?: (filters: Record<string, string>) => ReactNode
  /** What the person may do with several rows. */
  readonly bulk?: readonly BulkAction<Row>[]
  /** Loads again every so often, while the page is visible. */
  readonly refreshMs?: number
}

interface ListPageProps<Row> extends ListProps<Row> {
  readonly title: string
  readonly lead?: ReactNode
  readonly trail?: PageTrail
  readonly actions?: ReactNode
}

/** A page that is a list: the server searches, filters, sorts and pages; the address says how. */
export function ListPage<Row>({ title, lead, trail, actions, ...list }: ListPageProps<Row>) {
  return (
    <Page title={title} lead={lead} actions={actions} {...(trail && { trail })}>
      <List {...list} />
    </Page>
  )
}

export function List<Row>(props: ListProps<Row>) {
  const { name, id, load, filters, empty, refreshMs, summary } = props
  const list = useListSearch()
  const { timeZone } = useSession()
  const query = listQuery(list.search, filters, timeZone)
  const rows = useQuery({
    queryKey: [name, 'list', id, query],
    queryFn: () => load(query),
    placeholderData: keepPreviousData,
    ...(refreshMs && { refetchInterval: refreshMs }),
  })
  const nothing = rows.data?.data.length === 0
  const filtered = isFiltered(list.search, filters) || list.search['after'] !== undefined
  return (
    <Stack gap="sm">
      {(filtered || !nothing) && <Filters filters={filters} list={list} />}
      {filters.length > 0 && <SavedFilters name={name} filters={filters} list={list} />}
      {rows.error && <FailureAlert failed={rows.error} retry={() => void rows.refetch()} />}
      <StaleNote query={rows} />
      {unbounded(list.search, filters) && <Bounded list={list} />}
      {rows.isPending && <Waiting />}
      {rows.data && !nothing && summary?.(filtersOf(query))}
      {rows.data && !nothing && <Rows {...props} found={rows.data} list={list} query={query} />}
      {nothing && (filtered ? <NothingFits list={list} filters={filters} /> : empty)}
    </Stack>
  )
}

/** Filters to which no index leads find what is recent first. */
const Bounded = ({ list }: { readonly list: ListSearch }) => (
  <Group gap="xs">
    <Text size="sm" c="dimmed">
      Of the last 90 days.
    </Text>
    <Button variant="default" size="compact-sm" onClick={() => list.filter({ createdFrom: EVER })}>
      Search everything
    </Button>
  </Group>
)

/** The filters of a query: without where the page begins and how it is sorted. */
const filtersOf = (query: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(query).filter(([name]) => name !== 'after' && name !== 'sort'))

const sortingOf = ({ search, filter }: ListSearch, byDefault: string | undefined): Sorting => ({
  order: search['sort'] ?? byDefault,
  sortBy: (sort) => filter({ sort }),
})

type RowsProps<Row> = ListProps<Row> & {
  readonly found: ListOf<Row>
  readonly list: ListSearch
  readonly query: Record<string, string>
}

function Rows<Row>({ bulk = [], columns, found, list, sort, query: all, ...props }: RowsProps<Row>) {
  const { load, name } = props
  const { after: _, ...query } = all
  const [view, setView] = useState(() => storedView(name))
  const [density, setDensity] = useState(storedDensity)
  const [paging, setPaging] = useState(storedPaging)
  const rows = {
    ...props,
    query,
    bulk,
    columns: arranged(columns, view),
    density,
    sorting: sortingOf(list, sort),
  }
  const tools = (
    <>
      {load.csv && <ExportButton name={name} href={load.csv(query)} />}
      <ViewMenu {...{ name, columns, view, setView, density, setDensity, paging, setPaging }} />
    </>
  )
  if (paging === 'scroll')
    return (
      // Another list, or another order of it, begins at its first page.
      <ScrolledRows key={JSON.stringify([props.id, query])} {...(rows as unknown as ListRowsProps<unknown>)}>
        {tools}
      </ScrolledRows>
    )
  return (
    <>
      <ListRows {...rows} loaded={found.data} total={found.total} />
      <Turner found={found} list={list}>
        {tools}
      </Turner>
    </>
  )
}

/** The browser writes the file while the service streams it; the session's cookie goes with the request. */
function ExportButton({ name, href }: { readonly name: string; readonly href: string }) {
  return (
    <Button
      component="a"
      href={href}
      download={`${name}.csv`}
      variant="default"
      size="compact-sm"
      leftSection={<DownloadIcon />}
    >
      Export CSV
    </Button>
  )
}

interface TurnerProps<Row> {
  readonly found: ListOf<Row>
  readonly list: ListSearch
  readonly children: ReactNode
}

function Turner<Row>({ found: { next, total, data }, list, children }: TurnerProps<Row>) {
  const router = useRouter()
  const cameByNext = useRouterState({ select: ({ location }) => location.state.turned === true })
  const first = list.search['after'] === undefined
  return (
    <Group justify="space-between">
      <Group gap="sm">
        <Text size="sm" c="dimmed" role="status">
          {total ? `${about(total)} in all` : `${count(data.length)} on this page`}
        </Text>
        {children}
      </Group>
      {(!first || next) && (
        <Group gap="xs" component="nav" aria-label="Pages">
          {!first && (
            <Button variant="default" size="compact-sm" onClick={() => list.turn({ after: undefined })}>
              First page
            </Button>
          )}
          {!first && cameByNext && (
            <Button variant="default" size="compact-sm" onClick={() => router.history.back()}>
              Previous
            </Button>
          )}
          <Button
            variant="default"
            size="compact-sm"
            disabled={!next}
            onClick={() => list.turn({ after: next })}
          >
            Next
          </Button>
        </Group>
      )}
    </Group>
  )
}

function NothingFits({ list, filters }: { readonly list: ListSearch; readonly filters: readonly Filter[] }) {
  const none = Object.fromEntries(filters.map(({ name }) => [name, undefined]))
  return (
    <Paper withBorder p="lg">
      <Group justify="center">
        <Text c="dimmed">Nothing fits these filters.</Text>
        <Button
          variant="default"
          size="compact-sm"
          onClick={() => list.filter({ ...none, after: undefined })}
        >
          Clear them
        </Button>
      </Group>
    </Paper>
  )
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The page of a list was reached by turning, so that going back is the page before. */
    turned?: boolean
  }
}
