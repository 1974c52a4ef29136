import { Button, CloseButton, Group, Popover, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { ListSearch, Search } from '../list-search.ts'
import { forgetFilters, type SavedFilters as Saved, savedFilters, saveFilters } from '../saved-filters.ts'
import type { Filter } from './filters.tsx'
import { FormDialog, needed } from './form-dialog.tsx'

interface SavedFiltersProps {
  /** Name of the list. */
  readonly name: string
  readonly filters: readonly Filter[]
  readonly list: ListSearch
}

/** What is typed may be a person's data, which does not stay in the browser. */
const isKept = ({ kind }: Filter): boolean => kind !== 'text' && kind !== 'amount' && kind !== 'linked'

const namesOf = (filters: readonly Filter[]): string[] => ['sort', ...filters.map(({ name }) => name)]

/** Keeps the filters of a list under a name in this browser, and sets them again. */
export function SavedFilters({ name, filters, list }: SavedFiltersProps) {
  const [saved, setSaved] = useState(() => savedFilters(name))
  const set = namesOf(filters.filter(isKept)).flatMap((one) =>
    list.search[one] ? [[one, list.search[one]]] : [],
  )
  if (set.length === 0 && saved.length === 0) return undefined
  return (
    <Group justify="flex-end" gap="xs">
      {set.length > 0 && (
        <Save
          save={(as) => {
            saveFilters(name, { name: as, search: Object.fromEntries(set) })
            setSaved(savedFilters(name))
          }}
        />
      )}
      {saved.length > 0 && (
        <Choose
          saved={saved}
          choose={(search) =>
            list.filter({
              ...Object.fromEntries(namesOf(filters).map((one) => [one, undefined])),
              ...search,
            })
          }
          forget={(as) => {
            forgetFilters(name, as)
            setSaved(savedFilters(name))
          }}
        />
      )}
    </Group>
  )
}

function Save({ save }: { readonly save: (name: string) => void }) {
  return (
    <FormDialog
      label="Save filters"
      compact="Save filters"
      send="Save"
      variant="default"
      initial={{ name: '' }}
      rules={{ name: needed }}
      fields={(form) => (
        <TextInput
          label="Name"
          description="Kept in this browser; what was typed into a filter is not"
          maxLength={60}
          data-autofocus
          {...form.getInputProps('name')}
        />
      )}
      submit={async ({ name }) => save(name.trim())}
    />
  )
}

interface ChooseProps {
  readonly saved: readonly Saved[]
  readonly choose: (search: Search) => void
  readonly forget: (name: string) => void
}

function Choose({ saved, choose, forget }: ChooseProps) {
  const [opened, setOpened] = useState(false)
  return (
    <Popover position="bottom-end" opened={opened} onChange={setOpened} trapFocus>
      <Popover.Target>
        <Button variant="default" size="compact-sm" onClick={() => setOpened(!opened)}>
          Saved filters
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={4}>
          {saved.map(({ name, search }) => (
            <Group key={name} gap="xs" wrap="nowrap" justify="space-between">
              <Button
                variant="subtle"
                size="compact-sm"
                onClick={() => {
                  choose(search)
                  setOpened(false)
                }}
              >
                {name}
              </Button>
              <CloseButton size="sm" aria-label={`Forget ${name}`} onClick={() => forget(name)} />
            </Group>
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
