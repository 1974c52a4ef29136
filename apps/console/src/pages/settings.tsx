import { Code, Pagination, SegmentedControl, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Column, DataTable, Framed } from '../parts/data-table.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { Prose } from '../parts/prose.tsx'

type Setting = Schemas['Setting']

function inForce({ isHidden, isSet, value }: Setting): string {
  if (!isSet) return 'Not set'
  if (isHidden) return 'Set, not shown'
  return value === undefined || value === '' ? 'Set' : value
}

const COLUMNS: readonly Column<Setting>[] = [
  { title: 'Setting', cell: ({ name }) => <Code>{name}</Code> },
  {
    title: 'In force',
    cell: (setting) => (
      <Text size="sm" fw={setting.isDefault ? 400 : 600} maw={280} style={{ overflowWrap: 'anywhere' }}>
        {inForce(setting)}
      </Text>
    ),
  },
  { title: 'By default', cell: ({ byDefault }) => byDefault || '–' },
  { title: 'Meaning', cell: ({ meaning }) => <Prose text={meaning} /> },
]

const SHOWN = [
  { value: 'given', label: 'Not the default' },
  { value: 'all', label: 'All' },
]
const PAGE_ROWS = 25

/** What the process was started with. */
export function Settings() {
  const [typed, setTyped] = useState('')
  const [shown, setShown] = useState('given')
  const [page, setPage] = useState(1)
  const settings = useQuery({ queryKey: ['settings'], queryFn: () => responseOf(api.GET('/settings')) })
  const choose = (value: string) => {
    setShown(value)
    setPage(1)
  }
  const words = typed.trim().toLowerCase()
  const fits = (setting: Setting) =>
    (shown === 'all' || !setting.isDefault) &&
    `${setting.name} ${setting.meaning}`.toLowerCase().includes(words)
  return (
    <Page
      title="Settings"
      lead="What this process was started with. It is changed where the process is started, not here."
      actions={<SegmentedControl data={SHOWN} value={shown} onChange={choose} />}
    >
      <TextInput
        label="Search"
        placeholder="Of the name or the meaning"
        maw={380}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value)
          setPage(1)
        }}
      />
      <Loaded query={settings}>
        {({ data }) => {
          const found = data.filter(fits)
          return (
            <>
              <Framed>
                <DataTable
                  caption="Settings"
                  columns={COLUMNS}
                  rows={found.slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS)}
                  rowKey={({ name }) => name}
                />
              </Framed>
              {found.length > PAGE_ROWS && (
                <Pagination
                  total={Math.ceil(found.length / PAGE_ROWS)}
                  value={page}
                  onChange={setPage}
                  getControlProps={(control) => ({ 'aria-label': control })}
                />
              )}
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
