import { Alert, Anchor, Checkbox, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api, fileAsBody, responseOf, type Schemas } from '../api.ts'
import { pathOf } from '../objects.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Figures } from '../parts/figures.tsx'
import { Day, dayText } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, counted, Money, negated, rupees, sumOf } from '../parts/money.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { ObjectLink } from '../parts/object-link.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient } from '../session.ts'
import { sentenceCase } from '../words.ts'
import type { ReadProps } from './bank-files.tsx'

type Read = Schemas['SettlementImport']
type Unfitting = Schemas['UnfittingLine']

/** A settlement file is read first, which records nothing, and then posted. */
export function ReadSettlement({ as: { format, rail }, file, onDone }: ReadProps) {
  const chosen = { ...(format && { format }), ...(rail && { rail }) }
  const [onlyReadable, setOnlyReadable] = useState(false)
  const query = useQuery({
    queryKey: ['read-file', 'settlement', chosen, file.name, file.lastModified, file.size],
    queryFn: () =>
      responseOf(api.POST('/settlements/read', { params: { query: chosen }, ...fileAsBody(file) })),
    gcTime: 0,
    retry: false,
  })
  const post = async () => {
    const asked = { ...chosen, name: file.name, ...(onlyReadable && { onlyReadable: 'true' as const }) }
    const done = await responseOf(api.POST('/settlements', { params: { query: asked }, ...fileAsBody(file) }))
    for (const key of ['settlements', 'open-settlement-lines'])
      await queryClient.invalidateQueries({ queryKey: [key] })
    await onDone(<Posted done={done} />)
  }
  return (
    <Loaded query={query}>
      {(read) => (
        <>
          <Summary read={read} />
          <Lists read={read} file={file} changed={() => query.refetch()} />
          {read.unreadable > 0 && (
            <Checkbox
              label={`Post the other lines although ${count(read.unreadable)} cannot be read`}
              checked={onlyReadable}
              onChange={(event) => setOnlyReadable(event.currentTarget.checked)}
            />
          )}
          <Group justify="space-between">
            <Text size="sm" c="dimmed">
              {consequence(read)}
            </Text>
            {(read.unreadable === 0 || onlyReadable) && (
              <ConfirmAction primary label={`Post ${rupees(netOf(read))}`} confirm="Post it" run={post}>
                The bank account moves by {rupees(netOf(read))}: {counted(read.lines, 'line')} of the file are
                recorded. Posting the same file again changes nothing.
              </ConfirmAction>
            )}
          </Group>
        </>
      )}
    </Loaded>
  )
}

const netOf = ({ batches }: Pick<Read, 'batches'>) => sumOf(batches.map(({ netAmount }) => netAmount))
const unfittingOf = ({ conflicting, differing, unknown }: Read) => unknown + differing + conflicting

/** What posting enters, and on which days. */
function consequence({ batches, journals }: Read): string {
  if (journals === 0) return 'Posting enters no journal: everything in it is in the books.'
  const days = [...new Set(batches.map(({ valueDate }) => dayText(valueDate)))]
  const dated = days.length > 3 ? `of ${count(days.length)} days` : `dated ${days.join(', ')}`
  return `Posting enters ${counted(journals, 'journal')} ${dated}; what does not fit goes to Unmatched, nothing is lost.`
}

const Summary = ({ read }: { readonly read: Read }) => (
  <Figures
    figures={[
      {
        label: 'Net of the transfers',
        value: <Money amount={netOf(read)} />,
        note: counted(read.batches.length, 'transfer'),
      },
      { label: 'Payments that fit', value: count(read.matched), note: <Money amount={read.matchedAmount} /> },
      {
        label: 'Do not fit',
        value: count(unfittingOf(read)),
        note: <Money amount={sumOf(read.unfittingLines.map(({ amount }) => amount))} signed />,
        bad: unfittingOf(read) > 0,
      },
      {
        label: 'In the books, not in the file',
        value: count(read.missing?.count ?? 0),
        note: read.missing && read.missing.count > 0 && (
          <>
            <Money amount={read.missing.amount} /> · may come tomorrow
          </>
        ),
      },
      { label: 'Recorded before', value: count(read.repeated) },
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
const MISSING: readonly Column<Schemas['MissingPayment']>[] = [
  {
    title: 'Payment',
    cell: ({ paymentId, utr }) => <ObjectLink kind="payment" id={paymentId}>{`UTR ${utr}`}</ObjectLink>,
  },
  { title: 'Of', cell: ({ merchantName }) => merchantName },
  { title: 'Books', align: 'right', cell: ({ amount }) => <Money amount={amount} fw={600} /> },
]
const CONFLICTING: readonly Column<Read['conflictingLines'][number]>[] = [
  { title: 'Line', align: 'right', cell: ({ line }) => count(line) },
  { title: 'Kind', cell: ({ kind }) => sentenceCase(kind) },
  { title: 'Bank’s reference', cell: ({ reference }) => reference || '–' },
  { title: 'Amount in the file', align: 'right', cell: ({ amount }) => <Money amount={amount} signed /> },
]
const PROBLEMS: readonly Column<Read['problems'][number]>[] = [
  { title: 'Line', align: 'right', cell: ({ line }) => count(line) },
  { title: 'Column', cell: ({ column }) => column },
  { title: 'Why it cannot be read', cell: ({ reason }) => reason },
]

/** What a line may be, and what it says of our own books. */
function Meaning({ line: { differs, kind, merchantName, paymentId } }: { readonly line: Unfitting }) {
  if (paymentId)
    return (
      <>
        <ObjectLink kind="payment" id={paymentId}>
          Payment
        </ObjectLink>{' '}
        of {merchantName}, with another amount
      </>
    )
  if (differs) return 'It is here with another amount'
  return kind === 'payment'
    ? 'No credit has this reference: its notice may come'
    : 'Nothing here has this reference'
}

const unfittingColumns = (take: (line: Unfitting) => ReactNode): readonly Column<Unfitting>[] => [
  { title: 'Line', align: 'right', cell: ({ line }) => (line === undefined ? '–' : count(line)) },
  { title: 'Kind', cell: ({ kind }) => sentenceCase(kind) },
  { title: 'Bank’s reference', cell: ({ reference }) => reference || '–' },
  { title: 'File', align: 'right', cell: ({ amount }) => <Money amount={amount} signed /> },
  { title: 'Books', align: 'right', cell: ({ booksAmount }) => <Money amount={booksAmount} /> },
  {
    title: 'Difference',
    align: 'right',
    cell: ({ amount, booksAmount }) => (
      <Money amount={sumOf([amount, negated(booksAmount ?? '0.00')])} signed fw={600} />
    ),
  },
  { title: 'What it may be', cell: (line) => <Meaning line={line} /> },
  { title: 'What to do', cell: take },
]

interface TakeProps {
  readonly line: Unfitting
  readonly file: File
  readonly changed: () => Promise<unknown>
}

/** The bank is right: the payment is corrected to what the file says, by the line as its reference. */
function Take({ line: { amount, batchUtr, booksAmount, line, paymentId, reference }, ...of }: TakeProps) {
  if (!paymentId || !booksAmount) return 'Waits in Unmatched'
  const run = async () => {
    const adjusted = await responseOf(
      api.POST('/payments/{paymentId}/adjustments', {
        params: { path: { paymentId } },
        body: {
          amount: Number(amount),
          reference: `${batchUtr}${reference}`,
          reason: `${of.file.name}, line ${line ?? 0}`.slice(-255),
        },
      }),
    )
    if ('approvalId' in adjusted) notifyWaiting(adjusted.amount)
    await queryClient.invalidateQueries({ queryKey: ['payments'] })
    await of.changed()
  }
  return (
    <ConfirmAction label={`Take ${rupees(amount)}`} confirm="Correct the payment" compact run={run}>
      The payment amounts to {rupees(booksAmount)}, and is corrected to {rupees(amount)} as the file says.
      What is payable to the merchant changes by the difference; the reason is the line of this file.
    </ConfirmAction>
  )
}

interface ListsProps extends Omit<TakeProps, 'line'> {
  readonly read: Read
}

/** The lists of a file that have something in them, one at a time; what needs a look comes first. */
function Lists({ read, ...of }: ListsProps) {
  const [chosen, setChosen] = useState<string>()
  const table = <Row,>(
    caption: string,
    columns: readonly Column<Row>[],
    rows: readonly Row[],
    many = rows.length,
  ) => ({
    caption,
    many,
    rows: <DataTable caption={caption} columns={columns} rows={rows} rowKey={(row) => JSON.stringify(row)} />,
  })
  const columns = unfittingColumns((line) => <Take line={line} {...of} />)
  const lists = [
    table('Cannot be read', PROBLEMS, read.problems, read.unreadable),
    table('Recorded before with another amount', CONFLICTING, read.conflictingLines, read.conflicting),
    table('Does not fit', columns, read.unfittingLines, read.unknown + read.differing),
    table('Not in the file', MISSING, read.missing?.payments ?? [], read.missing?.count),
    table('Transfers', TRANSFERS, read.batches),
  ].filter(({ many }) => many > 0)
  const shown = lists.find(({ caption }) => caption === chosen) ?? lists[0]
  return (
    <Stack gap="xs">
      {lists.length > 1 && (
        <SegmentedControl
          aria-label="What is shown"
          data={lists.map(({ caption, many }) => ({ value: caption, label: `${caption} ${count(many)}` }))}
          value={shown?.caption ?? ''}
          onChange={setChosen}
          w="fit-content"
        />
      )}
      {shown?.rows}
    </Stack>
  )
}

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
  </Stack>
)
