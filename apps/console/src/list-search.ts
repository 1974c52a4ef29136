import { useNavigate, useSearch } from '@tanstack/react-router'

/** What the address holds after the question mark: plain texts, so that addresses can be read, kept and sent on. */
export type Search = Readonly<Record<string, string | undefined>>

export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text))
}

export function stringifySearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString()
  return text && `?${text}`
}

export interface ListSearch {
  readonly search: Search
  /** Changes filters; the list starts over from its first page. */
  readonly filter: (patch: Search) => void
  /** Goes to a page, as a step that the browser's back button undoes. */
  readonly turn: (patch: Search) => void
}

/** The state of a list lives in the address: what one sees can be sent to a colleague. */
export function useListSearch(): ListSearch {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const go = (patch: Search, how: { replace: boolean } | { state: { turned: boolean } }) =>
    void navigate({ to: '.', search: (old: Search) => ({ ...old, ...patch }), ...how } as never)
  return {
    search,
    filter: (patch) => go({ after: undefined, ...patch }, { replace: true }),
    turn: (patch) => go(patch, { state: { turned: patch['after'] !== undefined } }),
  }
}
