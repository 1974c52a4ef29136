import { Alert, Button, Checkbox, Collapse, Group, Stack, TextInput } from '@mantine/core'
import { useDisclosure, useLocalStorage } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, fileAsBody, responseOf, type Schemas } from '../api.ts'
import { kindOf } from '../objects.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Figures } from '../parts/figures.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, counted } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { sentenceCase } from '../words.ts'
import type { ReadProps } from './bank-files.tsx'
import { filesChanged, type Kind, type OfKind, ONE, runsQuery } from './bank-run-kinds.ts'

type Responses = Schemas['BankResponses']

/** Where the file has its columns, and the bank’s words; what is empty is as usual. */
type Reading = Readonly<Record<string, string>>

/** The bank’s response is read first, and then recorded. How it is written stays in this browser. */
export function ReadResponses({ file, kind, onDone }: OfKind & ReadProps) {
  const [reading, setReading] = useLocalStorage<Reading>({
    key: `svc.bank-responses.${kind}`,
    defaultValue: {},
    getInitialValueInEffect: false,
  })
  const query = useQuery({
    queryKey: ['read-file', kind, reading, file.name, file.lastModified, file.size],
    queryFn: () => {
      const params = { path: { kind }, query: reading }
      return responseOf(api.POST('/bank-runs/{kind}/responses/read', { params, ...fileAsBody(file) }))
    },
    gcTime: 0,
    retry: false,
  })
  const usual = useQuery(runsQuery({ kind, columns: '' })).data?.words ?? {}
  return (
    <>
      <Words
        key={String(query.isError)}
        isOpen={query.isError}
        {...{ kind, usual, reading }}
        onChange={setReading}
      />
      <Loaded query={query}>{(read) => <Found {...{ file, kind, onDone, read, reading }} />}</Loaded>
    </>
  )
}

const COLUMNS = {
  id: 'Our reference',
  status: 'Outcome',
  utr: 'Bank’s reference',
  reason: 'Reason',
  amount: 'Amount',
}

interface WordsProps extends OfKind {
  readonly usual: Reading
  readonly isOpen: boolean
  readonly reading: Reading
  readonly onChange: (reading: Reading) => void
}

function Words({ isOpen, kind, usual, reading, onChange }: WordsProps) {
  const [opened, { toggle }] = useDisclosure(isOpen)
  const input = (name: string, label: string, placeholder: string) => (
    <TextInput
      key={name}
      label={label}
      placeholder={placeholder}
      value={reading[name] ?? ''}
      onChange={({ currentTarget: { value } }) => {
        const { [name]: _, ...others } = reading
        onChange(value.trim() === '' ? others : { ...others, [name]: value })
      }}
    />
  )
  return (
    <div>
      <Button variant="subtle" size="compact-sm" onClick={toggle} aria-expanded={opened}>
        Columns and words of this bank
      </Button>
      <Collapse expanded={opened}>
        <Stack gap="sm" mt="sm">
          <Group gap="sm">
            {Object.entries(COLUMNS).map(([name, label]) =>
              input(name, `Column: ${label}`, name === 'id' ? `${ONE[kind]}Id` : name),
            )}
          </Group>
          <Group gap="sm">
            {Object.entries(usual).map(([name, words]) => input(name, `Words for ${name}`, words))}
          </Group>
        </Stack>
      </Collapse>
    </div>
  )
}

interface FoundProps extends OfKind, Pick<ReadProps, 'file' | 'onDone'> {
  readonly read: Responses
  readonly reading: Reading
}

function Found({ file, kind, onDone, read, reading }: FoundProps) {
  const [onlyReadable, setOnlyReadable] = useState(false)
  const run = async () => {
    const query = { ...reading, name: file.name, ...(onlyReadable && { onlyReadable: 'true' as const }) }
    const params = { path: { kind }, query }
    const done = await responseOf(api.POST('/bank-runs/{kind}/responses', { params, ...fileAsBody(file) }))
    await filesChanged(kind)
    await onDone(<Recorded kind={kind} done={done} />)
  }
  return (
    <Stack gap="md">
      <Outcomes kind={kind} of={read} />
      {read.unreadable > 0 && (
        <Checkbox
          label={`Record the other lines although ${count(read.unreadable)} cannot be read`}
          checked={onlyReadable}
          onChange={(event) => setOnlyReadable(event.currentTarget.checked)}
        />
      )}
      <Group justify="flex-end">
        {(read.unreadable === 0 || onlyReadable) && (
          <ConfirmAction
            primary
            label={`Record ${counted(read.results.length, 'response')}`}
            confirm="Record"
            run={run}
          >
            What was paid is paid; what failed is payable again, above the limit once a second person approves
            it. Recording the same file again changes nothing.
          </ConfirmAction>
        )}
      </Group>
    </Stack>
  )
}

const resultColumns = (kind: Kind): readonly Column<Responses['results'][number]>[] => [
  { title: 'Line', cell: ({ line }) => count(line) },
  {
    title: sentenceCase(ONE[kind]),
    // A file may state any reference.
    cell: ({ id }) => (kindOf(id) === ONE[kind] ? <ObjectLink kind={ONE[kind]} id={id} /> : id),
  },
  { title: 'Result', cell: ({ result }) => sentenceCase(result) },
]
const PROBLEMS: readonly Column<Responses['problems'][number]>[] = [
  { title: 'Line', cell: ({ line }) => count(line) },
  { title: 'Column', cell: ({ column }) => column },
  { title: 'Cannot be read', cell: ({ reason }) => reason },
]

const Outcomes = ({ kind, of }: OfKind & { readonly of: Responses }) => (
  <Stack gap="md">
    <Figures
      figures={[
        { label: 'Lines', value: count(of.lines) },
        { label: 'Fit', value: count(of.done) },
        { label: 'Need a look', value: count(of.results.length - of.done), bad: of.results.length > of.done },
        { label: 'Cannot be read', value: count(of.unreadable), bad: of.unreadable > 0 },
      ]}
    />
    {of.problems.length > 0 && (
      <DataTable
        caption="Cannot be read"
        columns={PROBLEMS}
        rows={of.problems}
        rowKey={({ column, line }) => `${line} ${column}`}
      />
    )}
    <DataTable
      caption="Responses"
      columns={resultColumns(kind)}
      rows={of.results}
      rowKey={({ line }) => String(line)}
    />
  </Stack>
)

const Recorded = ({ kind, done }: OfKind & { readonly done: Responses }) => (
  <Stack gap="md">
    <Alert color="teal" title={`Recorded: ${counted(done.done, 'response')}`} role="status" />
    <Outcomes kind={kind} of={done} />
  </Stack>
)
