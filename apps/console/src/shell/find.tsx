import { Box, Loader, Modal, NavLink, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type MouseEvent, useEffect, useRef, useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { stringifySearch } from '../list-search.ts'
import { kindLabel, kindOf, pathOf, shortId } from '../objects.ts'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { SearchIcon } from '../parts/icons.tsx'
import { type Recent, recentItems, rememberItem } from '../recent.ts'
import { type Act, useActs } from './acts.ts'

interface FindProps {
  readonly opened: boolean
  /** What it begins with. */
  readonly pasted: string
  readonly onClose: () => void
}

const findQuery = (q: string) =>
  queryOptions({
    queryKey: ['find', q],
    queryFn: () => responseOf(api.GET('/search', { params: { query: { q } } })),
  })

/** The form of a whole id, whose prefix says where it leads without a search. */
const WHOLE_ID = /^[a-z]{2,4}_[0-9a-z]{26}$/

/** Finds anything by what people have at hand, and opens it. */
export function Find({ opened, pasted, onClose }: FindProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Find" size="lg" yOffset="10vh">
      <Finder pasted={pasted} onClose={onClose} />
    </Modal>
  )
}

function Finder({ pasted, onClose }: Omit<FindProps, 'opened'>) {
  const [typed, setTyped] = useState(pasted)
  const [settled] = useDebouncedValue(typed.trim(), 200)
  const results = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLInputElement>(null)
  // At once: the window’s own focus comes after it has faded in, and people press Enter right after they pasted.
  useEffect(() => field.current?.focus(), [])
  const navigate = useNavigate()
  const client = useQueryClient()
  const found = useQuery({ ...findQuery(settled), enabled: settled.length >= 2 })
  const searchText = typed.trim()
  const items = settled === searchText ? found.data?.results : undefined
  const go = (item: Recent) => {
    rememberItem(item)
    onClose()
    void navigate({ to: pathOf(item.kind, item.id) })
  }
  const acts = useActs(searchText)
  const goTo = ({ search, to }: Act) => {
    onClose()
    void navigate({ to, search: (search ?? {}) as never })
  }
  /** Goes to the first result, without waiting for the list of results to be shown. */
  const submit = async () => {
    const kind = WHOLE_ID.test(searchText) ? kindOf(searchText) : undefined
    if (kind) return go({ kind, id: searchText, title: searchText })
    if (acts[0]) return goTo(acts[0])
    if (searchText.length < 2) return
    // The failure of the same query is shown below.
    const { results: all } = await client.fetchQuery(findQuery(searchText)).catch(() => ({ results: [] }))
    if (all[0]) go(all[0])
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
          label="Page, action, id, UTR, amount, case, reference, card’s last four digits, mobile, e-mail, name …"
          placeholder="Paste it here, press Enter"
          autoComplete="off"
          spellCheck={false}
          leftSection={<SearchIcon />}
          rightSection={found.isFetching && <Loader size="xs" />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </form>
      {found.error && <FailureAlert failed={found.error} />}
      <Box ref={results} role="region" aria-label="Results" aria-live="polite">
        {searchText === '' && <Recents go={go} />}
        <Acts acts={acts} goTo={goTo} />
        {items && <FoundItems items={items} hasActs={acts.length > 0} go={go} />}
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

function Recents({ go }: { readonly go: (item: Recent) => void }) {
  const recent = recentItems()
  if (recent.length === 0) return undefined
  return (
    <>
      <Text size="xs" c="dimmed" fw={600}>
        Opened before
      </Text>
      {recent.map((item) => (
        <Item key={`${item.kind}:${item.id}`} item={item} detail={shortId(item.id)} go={go} />
      ))}
    </>
  )
}

interface ActsProps {
  readonly acts: readonly Act[]
  readonly goTo: (act: Act) => void
}

function Acts({ acts, goTo }: ActsProps) {
  return acts.map((act) => (
    <NavLink
      key={act.to + act.label}
      href={`/console${act.to}${stringifySearch(act.search ?? {})}`}
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
  readonly items: readonly Schemas['SearchResult'][]
  /** Whether pages or actions were found, if no items. */
  readonly hasActs: boolean
  readonly go: (item: Recent) => void
}

function FoundItems({ items, hasActs, go }: FoundItemsProps) {
  if (items.length === 0 && !hasActs)
    return (
      <Text c="dimmed" size="sm">
        Nothing found. Ids, references and bank references must be whole; of names the begin of a word is
        enough; amounts are those of the latest payments.
      </Text>
    )
  return items.map((item) => (
    <Item key={`${item.kind}:${item.id}`} item={item} detail={item.subtitle} go={go} />
  ))
}

/** Whether a click opens a tab or a window of its own. */
const isAside = ({ ctrlKey, metaKey, shiftKey }: MouseEvent): boolean => ctrlKey || metaKey || shiftKey

interface ItemProps {
  readonly item: Recent
  readonly detail: string | undefined
  readonly go: (item: Recent) => void
}

function Item({ item, detail, go }: ItemProps) {
  return (
    <NavLink
      href={`/console${pathOf(item.kind, item.id)}`}
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
