import { Button, Group, Select, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api, apiAt, fileAsBody, listAt, responseOf, type Schemas } from '../api.ts'
import type { Column } from '../parts/data-table.tsx'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { FileDrop } from '../parts/file-drop.tsx'
import { choicesBy, choicesOf } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { List } from '../parts/list-page.tsx'
import { Waiting } from '../parts/loaded.tsx'
import { count, Money } from '../parts/money.tsx'
import { Page, Section } from '../parts/page.tsx'
import { Mark } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { actorName, railLabel } from '../words.ts'
import { BankAccounts, bankAccountsQuery } from './bank-accounts.tsx'
import { ExpectedFiles } from './expected-files.tsx'

const ReadResponses = lazyPart(async () => (await import('./read-responses.tsx')).ReadResponses)
const ReadSettlement = lazyPart(async () => (await import('./read-settlement.tsx')).ReadSettlement)
const ReadStatement = lazyPart(async () => (await import('./read-statement.tsx')).ReadStatement)

type Recognized = Schemas['RecognizedBankFile']
type Kind = Recognized['kind']
type Kept = Schemas['BankFile']

const KINDS: Readonly<Record<Kind, string>> = {
  settlement: 'Settlement',
  statement: 'Bank statement',
  payouts: 'Response to payouts',
  refunds: 'Response to refunds',
}

const FORMATS = choicesOf<NonNullable<Recognized['format']>>({
  svc: 'Our own columns',
  razorpay: 'Razorpay',
  cashfree: 'Cashfree',
  phonepe: 'PhonePe',
  paytm: 'Paytm',
})

/** What the bank sends comes in here: dropped, read, looked at, and then recorded. */
export function BankFiles() {
  const { can } = useSession()
  return (
    <Page title="Bank files" lead="What the bank sends comes in here; what it is to pay goes out from here.">
      <IncomingFiles beside={<ExpectedFiles />} />
      <Section title="Earlier">
        <List
          name="bank-files"
          caption="Files that were recorded"
          load={listAt('/bank-files')}
          columns={can('finance') ? [...KEPT, CONTENT] : KEPT}
          rowKey={({ bankFileId }) => bankFileId}
          filters={[{ name: 'kind', label: 'Kind', kind: 'select', options: choicesOf<Kind>(KINDS) }]}
          sort="-created"
          empty={<Text c="dimmed">No file was recorded here yet.</Text>}
        />
      </Section>
      <BankAccounts />
    </Page>
  )
}

/** Takes files of the bank, and shows each until it is recorded. */
export function IncomingFiles({ beside }: { readonly beside?: ReactNode }) {
  const { can } = useSession()
  const [files, setFiles] = useState<readonly File[]>([])
  const discard = (file: File) => setFiles((all) => all.filter((each) => each !== file))
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: can('finance') && beside ? 2 : 1 }} spacing="md">
        {can('finance') && (
          <FileDrop
            what="files of the bank"
            hint="Settlement, statement, response to payouts or refunds: the kind is read from the file. CSV, MT940 or camt.053, up to 16 MB. Nothing is recorded before you have seen it."
            onFiles={(dropped) => setFiles((all) => [...dropped, ...all])}
          />
        )}
        {beside}
      </SimpleGrid>
      {files.map((file) => (
        <Incoming key={`${file.name} ${file.lastModified} ${file.size}`} file={file} discard={discard} />
      ))}
    </>
  )
}

const KEPT: readonly Column<Kept>[] = [
  {
    title: 'File',
    cell: ({ name }) => (
      <Text inherit style={{ overflowWrap: 'anywhere' }}>
        {name}
      </Text>
    ),
  },
  { title: 'Kind', cell: ({ kind }) => KINDS[kind] },
  { title: 'Lines', align: 'right', cell: ({ lines }) => count(lines) },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
  {
    title: 'Did not fit',
    align: 'right',
    cell: ({ unfitting }) => (unfitting > 0 ? <Mark color="orange">{count(unfitting)}</Mark> : '0'),
  },
  { title: 'By', cell: ({ recordedBy }) => actorName(recordedBy) },
  { title: 'When', sorts: ['-created', 'created'], cell: ({ recordedOn }) => <Instant at={recordedOn} /> },
]

const CONTENT: Column<Kept> = {
  title: 'As it came',
  cell: ({ bankFileId, name, sha256 }) => (
    <Button
      component="a"
      href={`${apiAt}/bank-files/${bankFileId}/content`}
      download={name}
      variant="subtle"
      size="compact-sm"
      title={`SHA-256 ${sha256}`}
      aria-label={`Download ${name}`}
    >
      Download
    </Button>
  ),
}

interface IncomingProps {
  readonly file: File
  readonly discard: (file: File) => void
}

/** One file: what it is, what it says, and what became of it. */
function Incoming({ file, discard }: IncomingProps) {
  const [chosen, setChosen] = useState<Recognized>()
  const [done, setDone] = useState<ReactNode>()
  const found = useQuery({
    queryKey: ['recognized', file.name, file.lastModified, file.size],
    queryFn: () => responseOf(api.POST('/bank-files/recognize', fileAsBody(file))),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  })
  const as = chosen ?? found.data
  const recorded = async (what: ReactNode) => {
    setDone(what)
    for (const key of ['bank-files', 'waiting', 'book-months'])
      await queryClient.invalidateQueries({ queryKey: [key] })
  }
  return (
    <Section
      title={file.name}
      aside={
        <Group gap="xs">
          {as && <Mark color={done ? 'teal' : 'blue'}>{done ? 'Recorded' : 'Read, not recorded'}</Mark>}
          <Button variant="subtle" size="compact-sm" onClick={() => discard(file)}>
            {done ? 'Hide' : 'Discard'}
          </Button>
        </Group>
      }
    >
      <Stack gap="md">
        {done ?? (
          <>
            {found.isPending && <Waiting />}
            {!chosen && found.error && <FailureAlert failed={found.error} />}
            {!found.isPending && <ReadAs as={as} choose={setChosen} />}
            {as && <Read key={JSON.stringify(as)} as={as} file={file} onDone={recorded} />}
          </>
        )}
      </Stack>
    </Section>
  )
}

interface ReadAsProps {
  readonly as: Recognized | undefined
  readonly choose: (as: Recognized) => void
}

/** What the file is taken for: recognized, and changed where that is wrong. */
function ReadAs({ as, choose }: ReadAsProps) {
  const accounts = useQuery({ ...bankAccountsQuery, enabled: as?.kind === 'statement' }).data?.data ?? []
  return (
    <Group align="end" gap="sm">
      <Select
        label="It is"
        placeholder="Say what it is"
        data={choicesOf<Kind>(KINDS)}
        value={as?.kind ?? null}
        onChange={(kind) =>
          kind && choose(kind === 'settlement' ? { kind, rail: 'upi', format: 'svc' } : { kind })
        }
        allowDeselect={false}
      />
      {as?.kind === 'settlement' && (
        <>
          <Select
            label="From"
            data={choicesBy<NonNullable<Recognized['rail']>>(railLabel, { upi: true, card: true })}
            value={as.rail ?? 'upi'}
            onChange={(rail) => rail && choose({ ...as, rail })}
            allowDeselect={false}
          />
          <Select
            label="Written as"
            data={FORMATS}
            value={as.format ?? 'svc'}
            onChange={(format) => format && choose({ ...as, format })}
            allowDeselect={false}
          />
        </>
      )}
      {as?.kind === 'statement' && (
        <Select
          label="Account"
          placeholder="Of which account it is"
          data={accounts.map(({ bankAccountId, name, accountEnds }) => ({
            value: bankAccountId,
            label: `${name}, ending in ${accountEnds}`,
          }))}
          value={as.bankAccountId ?? null}
          onChange={(bankAccountId) => bankAccountId && choose({ ...as, bankAccountId })}
          allowDeselect={false}
          miw={280}
        />
      )}
    </Group>
  )
}

export interface ReadProps {
  readonly file: File
  readonly as: Recognized
  readonly onDone: (what: ReactNode) => Promise<void>
}

function Read(props: ReadProps) {
  const { as } = props
  if (as.kind === 'settlement') return <ReadSettlement {...props} />
  if (as.kind !== 'statement') return <ReadResponses {...props} kind={as.kind} />
  return as.bankAccountId ? <ReadStatement {...props} bankAccountId={as.bankAccountId} /> : undefined
}
