import { Alert, Anchor, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apiAt, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Figures } from '../parts/figures.tsx'
import { Instant } from '../parts/instant.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, counted, Money, rupees } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Page, Section } from '../parts/page.tsx'
import { saveAddress } from '../parts/save-file.ts'
import { sentenceCase } from '../words.ts'
import { asked, filesChanged, type Kind, type OfFile, type OfKind, ONE, runsQuery } from './bank-run-kinds.ts'

const IncomingFiles = lazyPart(async () => (await import('./bank-files.tsx')).IncomingFiles)

type Runs = Schemas['BankRuns']

const REFRESH_MS = 10_000

/** What leaves by a file of the bank. */
export function BankRuns() {
  const [kind, setKind] = useState<Kind>('payouts')
  return (
    <Page
      title="Files to the bank"
      lead="Approved payouts and refunds go to the bank in a file. The bank’s response makes each of them paid, or payable again."
    >
      <SegmentedControl
        aria-label="Files of"
        data={[
          { value: 'payouts', label: 'Payouts' },
          { value: 'refunds', label: 'Refunds' },
        ]}
        value={kind}
        onChange={(chosen) => setKind(chosen as Kind)}
        w="fit-content"
      />
      <Files kind={kind} key={kind} />
      <IncomingFiles />
    </Page>
  )
}

/** The columns that the bank wants stay in this browser. */
function Files({ kind }: OfKind) {
  const [columns, setColumns] = useLocalStorage({ key: `svc.bank-file.${kind}`, defaultValue: '' })
  const file = { kind, columns }
  // Others approve meanwhile.
  const runs = useQuery({ ...runsQuery(file), refetchInterval: REFRESH_MS })
  const fields = useQuery(runsQuery({ kind, columns: '' })).data?.fields ?? []
  return (
    <Stack gap="lg">
      <TextInput
        label="Columns of the file"
        description="In their order, each a field or field=HEADING, separated by commas. They stay in this browser."
        placeholder={fields.join(',')}
        defaultValue={columns}
        key={columns}
        onBlur={({ currentTarget: { value } }) => setColumns(value.trim())}
      />
      <Loaded query={runs}>
        {(of) => (
          <Stack gap="lg">
            <Next file={file} of={of} />
            <Section title="Files made">
              {of.runs.length === 0 ? (
                <Text c="dimmed">No file was made yet.</Text>
              ) : (
                <DataTable
                  caption="Files made"
                  columns={columnsOf(file)}
                  rows={of.runs}
                  rowKey={({ runId }) => runId}
                />
              )}
            </Section>
          </Stack>
        )}
      </Loaded>
    </Stack>
  )
}

const addressOf = (file: OfFile, runId: string) =>
  `${apiAt}/bank-runs/${file.kind}/${runId}/file.csv?${new URLSearchParams(asked(file)).toString()}`

const Download = ({ file, runId }: { readonly file: OfFile; readonly runId: string }) => (
  <Anchor
    href={addressOf(file, runId)}
    download={`${runId}.csv`}
    size="sm"
    aria-label={`Download the file ${runId}`}
  >
    Download
  </Anchor>
)

const columnsOf = (file: OfFile): readonly Column<Runs['runs'][number]>[] => [
  { title: 'Made', cell: ({ sentOn }) => <Instant at={sentOn} /> },
  { title: sentenceCase(file.kind), align: 'right', cell: (run) => count(run.count) },
  { title: 'Without a final response', align: 'right', cell: ({ open }) => count(open) },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} fw={600} /> },
  { title: 'File', cell: ({ runId }) => <Download file={file} runId={runId} /> },
]

interface NextProps {
  readonly file: OfFile
  readonly of: Runs
}

function Next({ file, of: { next } }: NextProps) {
  const { kind } = file
  const [made, setMade] = useState<Schemas['SentBankRun']>()
  const run = async () => {
    const params = { path: { kind }, query: asked(file) }
    const sent = await responseOf(api.POST('/bank-runs/{kind}', { params }))
    setMade(sent)
    if (sent.count > 0) saveAddress(addressOf(file, sent.runId), `${sent.runId}.csv`)
    await filesChanged(kind)
  }
  return (
    <Section title="Next file">
      <Stack gap="md">
        <Group justify="space-between" align="end">
          <Figures
            figures={[
              {
                label: kind === 'payouts' ? 'Approved, not sent' : 'Requested, not sent',
                value: count(next.count),
              },
              { label: 'Together', value: <Money amount={next.amount} /> },
            ]}
          />
          {next.count > 0 && (
            <ConfirmAction
              primary
              label={`Make a file of ${rupees(next.amount)}`}
              confirm="Make it"
              run={run}
            >
              {counted(next.count, ONE[kind])} of {rupees(next.amount)} are sent with it. The file is
              downloaded: give it to the bank. Each is in one file only, and this one can be downloaded again.
            </ConfirmAction>
          )}
        </Group>
        {made && made.count > 0 && (
          <Alert
            color="teal"
            title={`Made: ${counted(made.count, ONE[kind])}, ${rupees(made.amount)}`}
            role="status"
          >
            <Download file={file} runId={made.runId} />
          </Alert>
        )}
        {next.leftOut.length > 0 && (
          <DataTable
            caption="No file can contain these"
            columns={leftOutColumns(kind)}
            rows={next.leftOut}
            rowKey={({ id }) => id}
          />
        )}
      </Stack>
    </Section>
  )
}

const leftOutColumns = (kind: Kind): readonly Column<Runs['next']['leftOut'][number]>[] => [
  { title: 'No file can contain', cell: ({ id }) => <ObjectLink kind={ONE[kind]} id={id} /> },
  { title: 'Why', cell: ({ problem }) => problem },
]
