import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Search, useListSearch } from '../list-search.ts'

export interface PageTab<Props> {
  /** In the address. */
  readonly key: string
  readonly label: string
  readonly Part: (props: Props) => ReactNode
}

interface PageTabsProps<Props> {
  /** Of what. */
  readonly label: string
  readonly tabs: readonly PageTab<Props>[]
  /** Shown where the address names none; the first one without it. */
  readonly first?: string | undefined
  readonly given: Props
}

/** What belongs to the thing of a page, one kind at a time; the address says which. */
export function PageTabs<Props extends object>({ label, tabs, first, given }: PageTabsProps<Props>) {
  const { search } = useListSearch()
  const keyOf = (wanted: string | undefined) => tabs.find(({ key }) => key === wanted)
  const { key: shown, Part } = keyOf(search['tab']) ?? keyOf(first) ?? tabs[0]!
  return (
    <div>
      <nav className="place-tabs" aria-label={label}>
        {tabs.map(({ key, label: name }) => (
          <Link
            key={key}
            to="."
            search={{ tab: key } as Search as never}
            replace
            {...(key === shown && { 'aria-current': 'page' as const })}
            activeProps={{}}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {name}
          </Link>
        ))}
      </nav>
      <Part {...given} />
    </div>
  )
}
