import { Box, Loader, Modal, NavLink, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useRef, useState } from 'react'
import { api, responseOf } from '../api.ts'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { SearchIcon } from '../parts/icons.tsx'
import { type Kind, pathOf, wordOf } from '../things.ts'

interface FindProps {
  readonly opened: boolean
  readonly onClose: () => void
}

const placeOf = ({ kind, id }: { readonly kind: Kind; readonly id: string }) => pathOf(kind, id)

/** Takes an id of anything, a bank reference or an e-mail, and goes to the thing. */
export function Find({ opened, onClose }: FindProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Find" size="lg" yOffset="10vh">
      <Finder onClose={onClose} />
    </Modal>
  )
}

function Finder({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const [settled] = useDebouncedValue(typed.trim(), 200)
  const results = useRef<HTMLDivElement>(null)
  const navigate = useNavigate()
  const found = useQuery({
    queryKey: ['find', settled],
    queryFn: () => responseOf(api.GET('/search', { params: { query: { q: settled } } })),
    enabled: settled.length >= 2,
  })
  const items = settled === typed.trim() ? found.data?.results : undefined
  const go = (path: string) => {
    onClose()
    void navigate({ to: path })
  }
  const move = (event: KeyboardEvent) => {
    const links = [...(results.current?.querySelectorAll('a') ?? [])]
    const at = links.indexOf(document.activeElement as HTMLAnchorElement)
    const next =
      event.key === 'ArrowDown' ? links[at + 1] : event.key === 'ArrowUp' ? links[at - 1] : undefined
    if (!next) return
    event.preventDefault()
    next.focus()
  }
  return (
    <Stack gap="sm" onKeyDown={move}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (items?.[0]) go(placeOf(items[0]))
        }}
      >
        <TextInput
          data-autofocus
          type="search"
          label="Request id, card id, QR id, UTR, e-mail …"
          placeholder="Paste it here"
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
        {items?.map((item) => (
          <NavLink
            key={`${item.kind}:${item.id}`}
            href={`/console${placeOf(item)}`}
            onClick={(event) => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return
              event.preventDefault()
              go(placeOf(item))
            }}
            label={item.title}
            description={[wordOf(item.kind), item.subtitle].filter(Boolean).join(' · ')}
            styles={{ label: { overflowWrap: 'anywhere' } }}
          />
        ))}
        {items?.length === 0 && (
          <Text c="dimmed" size="sm">
            Nothing is called that. Ids and bank references must be whole; names are searched in the lists of
            their pages.
          </Text>
        )}
      </Box>
    </Stack>
  )
}
