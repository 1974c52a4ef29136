import { Group, Kbd, Modal, SimpleGrid, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Area } from './area.ts'
import { pressRowKey } from './row-keys.ts'

/** Milliseconds in which the second key of `g o` must follow. */
const FOLLOW_MS = 1_200

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName)) &&
  !target.matches('[type=checkbox]')

/** A dialog takes all keys: behind it they would leave the page, and with it what is shown once. */
const isDialogOpen = () => document.querySelector('[role=dialog]') !== null

interface ShortcutsProps {
  readonly areas: readonly Area[]
  readonly onSearch: (pasted?: string) => void
}

/** What is pasted outside of a field is searched for; `/` or ⌘K searches, `?` shows the keys, `g` and a letter go to an area. Keys typed into a field stay there. */
export function Shortcuts({ areas, onSearch }: ShortcutsProps) {
  const [shown, setShown] = useState(false)
  const navigate = useNavigate()
  // Times count from the load of the page: zero would be a moment ago for a page that was just opened.
  const goingSinceMs = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData('text').trim()
      if (!text || isTyping(event.target) || isDialogOpen()) return
      event.preventDefault()
      onSearch(text)
    }
    document.addEventListener('paste', paste)
    return () => document.removeEventListener('paste', paste)
  }, [onSearch])
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
        event.preventDefault()
        if (!isDialogOpen()) onSearch()
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isDialogOpen()) return
      const following = event.timeStamp - goingSinceMs.current < FOLLOW_MS
      goingSinceMs.current = Number.NEGATIVE_INFINITY
      const area = following ? areas.find(({ key }) => key === event.key) : undefined
      if (area) void navigate({ to: area.places[0]!.to })
      else if (event.key === 'g') goingSinceMs.current = event.timeStamp
      else if (event.key === '/') onSearch()
      else if (event.key === '?') setShown(true)
      else if (!pressRowKey(event.key)) return
      event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [areas, navigate, onSearch])
  return (
    <Modal opened={shown} onClose={() => setShown(false)} title="Keys" size="lg">
      <Keys areas={areas} />
    </Modal>
  )
}

const Keys = ({ areas }: { readonly areas: readonly Area[] }) => (
  <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xl">
    <Stack gap="xs">
      <Key keys={['/']} does="Search for an id, a UTR, a name" />
      <Key keys={['⌘ / Ctrl', 'K']} does="The same, while typing too" />
      <Key keys={['j', 'k']} does="Next or previous row of a list" />
      <Key keys={['o', 'Enter']} does="Open the row" />
      <Key keys={['x']} does="Select the row" />
      <Key keys={['Shift', 'x']} does="Select all rows up to it" />
      <Key keys={['f']} does="Filter the list" />
      <Key keys={['c']} does="Choose its columns" />
      <Key keys={['?']} does="Show these keys" />
      <Key keys={['Esc']} does="Close what is open" />
      <Key keys={['Tab']} does="Next field or link" />
    </Stack>
    <Stack gap="xs">
      {areas.map(({ key, label }) => (
        <Key key={key} keys={['g', key]} does={label} />
      ))}
    </Stack>
  </SimpleGrid>
)

function Key({ keys, does }: { readonly keys: readonly string[]; readonly does: string }) {
  return (
    <Group gap="xs" justify="space-between" wrap="nowrap">
      <Text size="sm">{does}</Text>
      <Group gap={4} wrap="nowrap">
        {keys.map((key) => (
          <Kbd key={key}>{key}</Kbd>
        ))}
      </Group>
    </Group>
  )
}
