import { APP } from './app.ts'
import type { Search } from './list-search.ts'

/** Filters of a list under a name that a person gave them. */
export interface SavedFilters {
  readonly name: string
  readonly search: Search
}

const SAVED_MAX = 20

const keyOf = (list: string): string => `svc.${APP}.filters.${list}`

const isSaved = (value: unknown): value is SavedFilters => {
  if (typeof value !== 'object' || value === null) return false
  const { name, search } = value as Record<string, unknown>
  return typeof name === 'string' && typeof search === 'object' && search !== null
}

/** Kept by this browser, in the order of their names. */
export function savedFilters(list: string): readonly SavedFilters[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(list)) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isSaved) : []
  } catch {
    return []
  }
}

const keep = (list: string, saved: readonly SavedFilters[]): void =>
  localStorage.setItem(keyOf(list), JSON.stringify(saved))

/** Under a name that was used before it replaces what was saved; beyond the limit the first one goes. */
export function saveFilters(list: string, { name, search }: SavedFilters): void {
  const others = savedFilters(list).filter((saved) => saved.name !== name)
  const all = [...others.slice(-(SAVED_MAX - 1)), { name, search }]
  keep(
    list,
    all.toSorted((a, b) => a.name.localeCompare(b.name)),
  )
}

export const forgetFilters = (list: string, name: string): void =>
  keep(
    list,
    savedFilters(list).filter((saved) => saved.name !== name),
  )
