import { Button, CloseButton, Group, Menu, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { ListSearch, Search } from '../list-search.ts'
import { forgetFilters, savedFilters, saveFilters } from '../saved-filters.ts'
import type { Filter } from './filters.tsx'
import { FormDialog, needed } from './form-dialog.tsx'

interface SavedFiltersProps {
  /** Name of the list. */
  readonly name: string
  readonly filters: readonly Filter[]
  readonly list: ListSearch
}

/** What is typed may be a person's data, which does not stay in the browser. */
const isKept = ({ kind }: Filter): boolean => kind !== 'text' && kind !== 'linked'

/** Keeps the filters of a list under a name in this browser, and sets them again. */
export function SavedFilters({ name, filters, list }: SavedFiltersProps) {
  const [saved, setSaved] = useState(() => savedFilters(name))
  const names = ['sort', ...filters.filter(isKept).map((filter) => filter.name)]
  const set = names.flatMap((one) => (list.search[one] ? [[one, list.search[one]]] : []))
  if (set.length === 0 && saved.length === 0) return undefined
  const nothing: Search = Object.fromEntries(
    ['sort', ...filters.map((filter) => filter.name)].map((one) => [one, undefined]),
  )
  return (
    <Group justify="flex-end" gap="xs">
      {set.length > 0 && (
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
          submit={async (values) => {
            saveFilters(name, { name: values.name.trim(), search: Object.fromEntries(set) })
            setSaved(savedFilters(name))
          }}
        />
      )}
      {saved.length > 0 && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" size="compact-sm">
              Saved filters
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {saved.map((one) => (
              <Group key={one.name} gap={0} wrap="nowrap">
                <Menu.Item onClick={() => list.filter({ ...nothing, ...one.search })}>{one.name}</Menu.Item>
                <CloseButton
                  size="sm"
                  aria-label={`Forget ${one.name}`}
                  onClick={() => {
                    forgetFilters(name, one.name)
                    setSaved(savedFilters(name))
                  }}
                />
              </Group>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </Group>
  )
}
