import { APP } from './app.ts'

/** How a person wants to see a list: kept in this browser, as saved filters are. */
export interface TableView {
  /** Titles of columns, in the order in which they are shown; others follow in their own. */
  readonly order: readonly string[]
  readonly hidden: readonly string[]
}

export const DENSITIES = ['comfortable', 'compact'] as const
export type Density = (typeof DENSITIES)[number]

export const PAGINGS = ['pages', 'scroll'] as const
/** Whether a list is turned page by page, or loads further rows while it is scrolled. */
export type Paging = (typeof PAGINGS)[number]

const NONE: TableView = { order: [], hidden: [] }
const viewKey = (list: string): string => `svc.${APP}.columns.${list}`
const PAGING_KEY = `svc.${APP}.paging`
const DENSITY_KEY = `svc.${APP}.density`

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

export function storedView(list: string): TableView {
  try {
    const { order, hidden } = JSON.parse(localStorage.getItem(viewKey(list)) ?? '{}') as Partial<TableView>
    return isTexts(order) && isTexts(hidden) ? { order, hidden } : NONE
  } catch {
    return NONE
  }
}

export const storeView = (list: string, view: TableView): void =>
  localStorage.setItem(viewKey(list), JSON.stringify(view))

export function forgetView(list: string): TableView {
  localStorage.removeItem(viewKey(list))
  return NONE
}

export const storedDensity = (): Density =>
  localStorage.getItem(DENSITY_KEY) === 'compact' ? 'compact' : 'comfortable'

export const storeDensity = (density: Density): void => localStorage.setItem(DENSITY_KEY, density)

export const storedPaging = (): Paging => (localStorage.getItem(PAGING_KEY) === 'scroll' ? 'scroll' : 'pages')

export const storePaging = (paging: Paging): void => localStorage.setItem(PAGING_KEY, paging)

interface Titled {
  readonly title: string
}

/** A column that can be hidden and moved: the first one names the row, those without a title are its buttons. */
export const chosen = <C extends Titled>(columns: readonly C[]): readonly C[] =>
  columns.slice(1).filter(({ title }) => title !== '')

/** The columns that can be chosen, in the order of the view. */
export function ordered<C extends Titled>(columns: readonly C[], { order }: TableView): readonly C[] {
  const place = ({ title }: C): number => {
    const at = order.indexOf(title)
    return at < 0 ? order.length : at
  }
  return chosen(columns).toSorted((a, b) => place(a) - place(b))
}

/** The columns as the view shows them. */
export const arranged = <C extends Titled>(columns: readonly C[], view: TableView): readonly C[] => [
  ...columns.slice(0, 1),
  ...ordered(columns, view).filter(({ title }) => !view.hidden.includes(title)),
  ...columns.slice(1).filter(({ title }) => title === ''),
]
