import { Alert, Anchor, Checkbox, Group, Select, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, fileAsBody, responseOf, type Schemas } from '../api.ts'
import { pathOf } from '../objects.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Figures } from '../parts/figures.tsx'
import { choicesOf, type ValueOf } from '../parts/filters.tsx'
import { Day } from '../parts/instant.tsx'
import { count, counted, Money, rupees, sumOf } from '../parts/money.tsx'
import { Page, Section } from '../parts/page.tsx'
import { ReadFirst } from '../parts/read-first.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient } from '../session.ts'
import { railLabel, sentenceCase } from '../words.ts'

type Read = Schemas['SettlementImport']

type Format = ValueOf<'console.readSettlement', 'format'>

const FORMATS = choicesOf<Format>({
  svc: 'Our own columns',
  razorpay: 'Razorpay',
  cashfree: 'Cashfree',
  phonepe: 'PhonePe',
  paytm: 'Paytm',
})

interface Chosen {
  readonly rail: ValueOf<'console.readSettlement', 'rail'>
  readonly format: Format
}

/** A file that was read and is not posted yet. */
interface ReadFile {
  readonly file: File
  readonly read: Read
  readonly chosen: Chosen
}

/** A settlement file is read first, which records nothing, and then posted. */
export function ImportSettlement() {
  const [chosen, setChosen] = useState<Chosen>({ rail: 'upi', format: 'svc' })
  const read = async (file: File): Promise<ReadFile> => {
    const call = api.POST('/settlements/read', { params: { query: chosen }, ...fileAsBody(file) })
    return { file, read: await responseOf(call), chosen }
  }
  return (
    <Page
      title="Import a settlement file"
      lead="The file is read first: nothing is recorded before you have seen what fits and post it."
      trail={[{ to: '/settlements', label: 'Settlements' }]}
    >
      <Choices chosen={chosen} choose={setChosen} />
      <ReadFirst<ReadFile, Read>
        what="a settlement file"
        hint="CSV as the bank or the card network made it, up to 16 MB."
        read={read}
        found={(of, onPosted) => <Found of={of} onPosted={onPosted} />}
        done={(done) => <Posted done={done} />}
      />
    </Page>
  )
}

interface ChoicesProps {
  readonly chosen: Chosen
  readonly choose: (chosen: Chosen) => void
}

const Choices = ({ chosen, choose }: ChoicesProps) => (
  <Group align="end" gap="sm">
    <Select
      label="From"
      data={(['upi', 'card'] as const).map((value) => ({ value, label: railLabel(value) }))}
      value={chosen.rail}
      onChange={(rail) => choose({ ...chosen, rail: rail ?? 'upi' })}
      allowDeselect={false}
    />
    <Select
      label="How the file is written"
      data={FORMATS}
      value={chosen.format}
      onChange={(format) => choose({ ...chosen, format: format ?? 'svc' })}
      allowDeselect={false}
    />
  </Group>
)

const netOf = ({ batches }: Read) => sumOf(batches.map(({ netAmount }) => netAmount))

interface FoundProps {
  readonly of: ReadFile
  readonly onPosted: (done: Read) => void
}

function Found({ of: { file, read, chosen }, onPosted }: FoundProps) {
  const [onlyReadable, setOnlyReadable] = useState(false)
  const net = netOf(read)
  const isReady = read.unreadable === 0 || onlyReadable
  const post = async () => {
    const query = { ...chosen, ...(onlyReadable && { onlyReadable: 'true' as const }) }
    const done = await responseOf(api.POST('/settlements', { params: { query }, ...fileAsBody(file) }))
    await queryClient.invalidateQueries({ queryKey: ['settlements'] })
    onPosted(done)
  }
  return (
    <Stack gap="md">
      <Summary read={read} />
      <Differences read={read} />
      {read.unreadable > 0 && (
        <Checkbox
          label={`Post the other lines although ${count(read.unreadable)} cannot be read`}
          checked={onlyReadable}
          onChange={(event) => setOnlyReadable(event.currentTarget.checked)}
        />
      )}
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          What does not fit is posted as well and waits: nothing is lost.
        </Text>
        {isReady && (
          <ConfirmAction primary label={`Post ${rupees(net)}`} confirm="Post it" run={post}>
            The bank account moves by {rupees(net)}: of the file {counted(read.lines, 'line')} are recorded.
            Posting the same file again changes nothing.
          </ConfirmAction>
        )}
      </Group>
    </Stack>
  )
}

const Summary = ({ read }: { readonly read: Read }) => (
  <Figures
    figures={[
      { label: 'Net of the transfers', value: <Money amount={netOf(read)} /> },
      { label: 'Payments that fit', value: count(read.matched), note: <Money amount={read.matchedAmount} /> },
      {
        label: 'Do not fit',
        value: count(read.unknown + read.differing + read.conflicting),
        bad: read.unknown + read.differing + read.conflicting > 0,
      },
      { label: 'Recorded before', value: count(read.repeated) },
      { label: 'Cannot be read', value: count(read.unreadable), bad: read.unreadable > 0 },
    ]}
  />
)

const TRANSFERS: readonly Column<Read['batches'][number]>[] = [
  { title: 'Transfer', cell: ({ batchUtr }) => batchUtr },
  { title: 'Value date', cell: ({ valueDate }) => <Day day={valueDate} /> },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Lines', align: 'right', cell: ({ lines }) => count(lines) },
  { title: 'In no line', align: 'right', cell: ({ remainder }) => <Money amount={remainder} /> },
  { title: 'Net amount', align: 'right', cell: ({ netAmount }) => <Money amount={netAmount} fw={600} /> },
]
const UNFITTING: readonly Column<Read['unfittingLines'][number]>[] = [
  { title: 'Bank’s reference', cell: ({ reference }) => reference || '–' },
  { title: 'Kind', cell: ({ kind }) => sentenceCase(kind) },
  { title: 'Transfer', cell: ({ batchUtr }) => batchUtr },
  {
    title: 'Why',
    cell: ({ differs }) => (differs ? 'It is here with another amount' : 'It fits nothing that is here'),
  },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} signed fw={600} /> },
]
const CONFLICTING: readonly Column<Read['conflictingLines'][number]>[] = [
  { title: 'Line', cell: ({ line }) => `Line ${count(line)}` },
  { title: 'Kind', cell: ({ kind }) => sentenceCase(kind) },
  { title: 'Bank’s reference', cell: ({ reference }) => reference || '–' },
  { title: 'Amount in the file', align: 'right', cell: ({ amount }) => <Money amount={amount} signed /> },
]
const PROBLEMS: readonly Column<Read['problems'][number]>[] = [
  { title: 'Line', cell: ({ line }) => `Line ${count(line)}` },
  { title: 'Column', cell: ({ column }) => column },
  { title: 'Why', cell: ({ reason }) => reason },
]

interface PartProps<Row> {
  readonly title: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
}

/** A table with a heading; absent without rows. */
function Part<Row>({ title, columns, rows }: PartProps<Row>) {
  if (rows.length === 0) return undefined
  return (
    <Section title={title}>
      <DataTable caption={title} columns={columns} rows={rows} rowKey={(row) => JSON.stringify(row)} />
    </Section>
  )
}

const Differences = ({ read }: { readonly read: Read }) => (
  <>
    <Part title="Cannot be read" columns={PROBLEMS} rows={read.problems} />
    <Part title="Recorded before with another amount" columns={CONFLICTING} rows={read.conflictingLines} />
    <Part title="Lines that do not fit" columns={UNFITTING} rows={read.unfittingLines} />
    <Part title="Transfers" columns={TRANSFERS} rows={read.batches} />
  </>
)

const Posted = ({ done }: { readonly done: Read }) => (
  <Stack gap="md">
    <Alert color="teal" title={`Posted: ${rupees(netOf(done))}`} role="status">
      <Stack gap={4}>
        {done.batches.map(({ batchId, batchUtr, unmatched }) => (
          <Text size="sm" key={batchId}>
            <Anchor component={Link} to={pathOf('settlement', batchId)} size="sm">
              Transfer {batchUtr}
            </Anchor>
            {unmatched > 0 && `: ${counted(unmatched, 'line')} without a match yet`}
          </Text>
        ))}
      </Stack>
    </Alert>
    {done.waiting.map(({ amount, approvalId, batchUtr }) => (
      <Alert
        color="blue"
        title={`Transfer ${batchUtr} waits for a second person`}
        role="status"
        key={approvalId}
      >
        <Text size="sm">
          {rupees(amount)} in charges and lines that fit nothing: another operator approves it under{' '}
          <Anchor component={Link} to="/approvals" size="sm">
            Approvals
          </Anchor>
          .
        </Text>
      </Alert>
    ))}
    <Part title="Recorded before with another amount" columns={CONFLICTING} rows={done.conflictingLines} />
  </Stack>
)
