import { Box, Loader, Modal, NavLink, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type MouseEvent, useEffect, useRef, useState } from 'react'
import { stringifySearch } from '../list-search.ts'
import { type Kind, kindLabel, pathOf, shortId } from '../objects.ts'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { SearchIcon } from '../parts/icons.tsx'
import { type Recent, recentItems, rememberItem } from '../recent.ts'
import type { Act } from './acts-of.ts'

export interface Found extends Recent {
  readonly subtitle?: string | undefined
}

/** Where console or portal find things. */
export interface FindSource {
  readonly base: '/console' | '/portal'
  /** What may be typed. */
  readonly label: string
  readonly nothing: string
  readonly find: (q: string) => Promise<readonly Found[]>
  readonly useActs: (typed: string) => readonly Act[]
  /** The kind of thing that a whole id names, where it has a page. */
  readonly pageOf: (id: string) => Kind | undefined
}

interface FindProps {
  readonly source: FindSource
  readonly opened: boolean
  /** What it begins with. */
  readonly pasted: string
  readonly onClose: () => void
}

const findQuery = ({ base, find }: FindSource, q: string) => ({
  queryKey: ['find', base, q],
  queryFn: () => find(q),
})

/** The form of a whole id, whose prefix says where it leads without a search. */
const WHOLE_ID = /^[a-z]{2,4}_[0-9a-z]{26}$/

/** Finds anything by what people have at hand, and opens it. */
export function Find({ opened, ...finder }: FindProps) {
  return (
    <Modal opened={opened} onClose={finder.onClose} title="Find" size="lg" yOffset="10vh">
      <Finder {...finder} />
    </Modal>
  )
}

function Finder({ source, pasted, onClose }: Omit<FindProps, 'opened'>) {
  const [typed, setTyped] = useState(pasted)
  const [settled] = useDebouncedValue(typed.trim(), 200)
  const results = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLInputElement>(null)
  // At once: the window’s own focus comes after it has faded in, and people press Enter right after they pasted.
  useEffect(() => field.current?.focus(), [])
  const navigate = useNavigate()
  const client = useQueryClient()
  const found = useQuery({ ...findQuery(source, settled), enabled: settled.length >= 2 })
  const searchText = typed.trim()
  const items = settled === searchText ? found.data : undefined
  const go = (item: Recent) => {
    rememberItem(item)
    onClose()
    void navigate({ to: pathOf(item.kind, item.id) })
  }
  const acts = source.useActs(searchText)
  const goTo = ({ search, to }: Act) => {
    onClose()
    void navigate({ to, search: (search ?? {}) as never })
  }
  /** Goes to the first result, without waiting for the list of results to be shown. */
  const submit = async () => {
    const kind = WHOLE_ID.test(searchText) ? source.pageOf(searchText) : undefined
    if (kind) return go({ kind, id: searchText, title: searchText })
    if (acts[0]) return goTo(acts[0])
    if (searchText.length < 2) return
    // The failure of the same query is shown below.
    const [first] = await client.fetchQuery(findQuery(source, searchText)).catch(() => [])
    if (first) go(first)
  }
  return (
    <Stack gap="sm" onKeyDown={(event) => moveFocus(event, results.current)}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextInput
          ref={field}
          data-autofocus
          type="search"
          label={source.label}
          placeholder="Paste it here, press Enter"
          autoComplete="off"
          spellCheck={false}
          leftSection={<SearchIcon />}
          rightSection={found.isFetching && <Loader size="xs" />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </form>
      {found.error && <FailureAlert failed={found.error} tried="Find" />}
      <Box ref={results} role="region" aria-label="Results" aria-live="polite">
        {searchText === '' && <Recents base={source.base} go={go} />}
        <Acts base={source.base} acts={acts} goTo={goTo} />
        {items && <FoundItems source={source} items={items} hasActs={acts.length > 0} go={go} />}
      </Box>
    </Stack>
  )
}

/** Arrow keys go through the results. */
function moveFocus(event: KeyboardEvent, results: HTMLElement | null) {
  const links = [...(results?.querySelectorAll('a') ?? [])]
  const at = links.indexOf(document.activeElement as HTMLAnchorElement)
  const next = event.key === 'ArrowDown' ? links[at + 1] : event.key === 'ArrowUp' ? links[at - 1] : undefined
  if (!next) return
  event.preventDefault()
  next.focus()
}

interface GoProps {
  readonly base: FindSource['base']
  readonly go: (item: Recent) => void
}

function Recents({ base, go }: GoProps) {
  const recent = recentItems()
  if (recent.length === 0) return undefined
  return (
    <>
      <Text size="xs" c="dimmed" fw={600}>
        Opened before
      </Text>
      {recent.map((item) => (
        <Item key={`${item.kind}:${item.id}`} base={base} item={item} detail={shortId(item.id)} go={go} />
      ))}
    </>
  )
}

interface ActsProps {
  readonly base: FindSource['base']
  readonly acts: readonly Act[]
  readonly goTo: (act: Act) => void
}

function Acts({ base, acts, goTo }: ActsProps) {
  return acts.map((act) => (
    <NavLink
      key={act.to + act.label}
      href={`${base}${act.to}${stringifySearch(act.search ?? {})}`}
      onClick={(event) => {
        if (isAside(event)) return
        event.preventDefault()
        goTo(act)
      }}
      label={act.label}
      description={act.detail}
    />
  ))
}

interface FoundItemsProps {
  readonly source: FindSource
  readonly items: readonly Found[]
  /** Whether pages or actions were found, if no items. */
  readonly hasActs: boolean
  readonly go: (item: Recent) => void
}

function FoundItems({ source, items, hasActs, go }: FoundItemsProps) {
  if (items.length === 0 && !hasActs)
    return (
      <Text c="dimmed" size="sm">
        {source.nothing}
      </Text>
    )
  return items.map((item) => (
    <Item
      key={`${item.kind}:${item.id}:${item.title}`}
      base={source.base}
      item={item}
      detail={item.subtitle}
      go={go}
    />
  ))
}

/** Whether a click opens a tab or a window of its own. */
const isAside = ({ ctrlKey, metaKey, shiftKey }: MouseEvent): boolean => ctrlKey || metaKey || shiftKey

interface ItemProps extends GoProps {
  readonly item: Recent
  readonly detail: string | undefined
}

function Item({ base, item, detail, go }: ItemProps) {
  return (
    <NavLink
      href={base + pathOf(item.kind, item.id)}
      onClick={(event) => {
        if (isAside(event)) return
        event.preventDefault()
        go(item)
      }}
      label={item.title}
      description={[kindLabel(item.kind), detail].filter(Boolean).join(' · ')}
      styles={{ label: { overflowWrap: 'anywhere' } }}
    />
  )
}
