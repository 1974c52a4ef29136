import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Download } from '../parts/download.tsx'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { dayText, Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { counted } from '../parts/money.tsx'
import { NamedLink } from '../parts/object-link.tsx'
import { Facts, Section } from '../parts/page.tsx'
import { Mark } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { actorName, monthName } from '../words.ts'

type Check = Schemas['BookMonthCheck']
type Month = Schemas['BookMonth']

interface Item {
  readonly title: string
  readonly open: (found: number) => string
  /** Where it is mended. */
  readonly mend?: { readonly to: (through: string) => string; readonly label: string }
}

const here = (tab: string) => (through: string) => `/close/${through}?tab=${tab}`

/** What each check says to people, and where what it finds is mended. */
const ITEMS: Readonly<Record<Check['item'], Item>> = {
  accrued: {
    title: 'Fees and GST of every payment are entered',
    open: (found) => `${counted(found, 'payment')} without a fee`,
  },
  batches: {
    title: 'Every transfer has all its lines, as the statement shows it',
    open: (found) => `${counted(found, 'transfer')} incomplete or different on the statement`,
    mend: { to: () => '/settlements?status=INCOMPLETE', label: 'See the transfers' },
  },
  invoices: {
    title: 'Fees are in invoices',
    open: (found) => `Fees of ${counted(found, 'day')} in no invoice`,
    mend: { to: here('tax'), label: 'Issue invoices' },
  },
  old_lines: {
    title: 'No settlement line waits for more than 7 days',
    open: (found) => `${counted(found, 'line')} without a match`,
    mend: { to: () => '/settlements/open-lines', label: 'See the lines' },
  },
  statements: {
    title: 'Every bank account has its statement of the last day',
    open: (found) => `${counted(found, 'account')} without one`,
    mend: { to: () => '/bank-files', label: 'Import a statement' },
  },
  proof: {
    title: 'The books equal the banks, and escrow covers what is owed',
    open: () => 'Something is unexplained, or escrow has too little',
    mend: { to: here('proof'), label: 'See the proof' },
  },
  reconciled: {
    title: 'The books agree with themselves',
    open: (found) => `${counted(found, 'rule')} broken`,
    mend: { to: () => '/ledger/reconciliation', label: 'Reconcile' },
  },
}

interface ChecklistProps {
  readonly through: string
  readonly month: Month | undefined
  /** Months are closed in their order. */
  readonly isNext: boolean
}

/** What is in order before a month is closed, and closing it. */
export function Checklist({ through, month, isNext }: ChecklistProps) {
  const state = month?.state
  if (state === 'CLOSED') return <Closed month={month!} />
  return (
    <Stack gap="md">
      {month && state === 'REQUESTED' && <Requested month={month} />}
      <Open through={through} month={month} isNext={isNext} />
    </Stack>
  )
}

const Requested = ({ month: { despite, requestedBy } }: { readonly month: Month }) => (
  <Alert color="orange" title="A second person is needed">
    {actorName(requestedBy ?? '')} closes this month although something is not in order: “{despite}”. Another
    person of finance closes it with the same reason.
  </Alert>
)

function Open({ through, month, isNext }: ChecklistProps) {
  const { can } = useSession()
  const checks = useQuery({
    queryKey: ['book-months', through, 'check'],
    queryFn: () => responseOf(api.GET('/book-months/{through}/check', { params: { path: { through } } })),
    staleTime: 0,
  })
  const found = checks.data?.data
  const done = found?.filter(({ ok }) => ok).length
  return (
    <Section
      title="Checklist"
      aside={
        <Group gap="sm">
          {found && (
            <Text size="sm" c="dimmed" role="status">
              {done} of {found.length} done
            </Text>
          )}
          <Button
            variant="default"
            size="compact-sm"
            loading={checks.isFetching}
            onClick={() => void checks.refetch()}
          >
            Check again
          </Button>
        </Group>
      }
    >
      <Loaded query={checks}>
        {({ data }) => (
          <Stack gap="md">
            <Items checks={data} through={through} />
            {can('finance') && month?.state !== 'RUNNING' && isNext && (
              <Close through={through} isReady={data.every(({ ok }) => ok)} month={month} />
            )}
            {!isNext && month && <Text c="dimmed">The months before are closed first.</Text>}
            {month?.state === 'RUNNING' && <Text c="dimmed">The month is closed when it is over.</Text>}
            {!can('finance') && <Text c="dimmed">Finance closes a month.</Text>}
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}

const columnsFor = (through: string, canAct: boolean): readonly Column<Check>[] => [
  {
    title: 'What',
    cell: ({ item, ok, count: found }) => (
      <>
        {ITEMS[item].title}
        {!ok && (
          <Text size="sm" c="dimmed">
            {ITEMS[item].open(found)}
          </Text>
        )}
      </>
    ),
  },
  {
    title: 'Status',
    cell: ({ ok }) => <Mark color={ok ? 'teal' : 'red'}>{ok ? 'In order' : 'Open'}</Mark>,
  },
  {
    title: 'What to do',
    cell: ({ item, ok }) => {
      const { mend } = ITEMS[item]
      if (ok) return '–'
      if (mend) return <NamedLink to={mend.to(through)}>{mend.label}</NamedLink>
      return canAct ? <Accrue through={through} /> : '–'
    },
  },
]

function Items({ checks, through }: { readonly checks: readonly Check[]; readonly through: string }) {
  const { can } = useSession()
  return (
    <DataTable
      caption="Checklist"
      columns={columnsFor(through, can('finance'))}
      rows={checks}
      rowKey={({ item }) => item}
    />
  )
}

/** Enters what the service enters by itself, now. */
function Accrue({ through }: { readonly through: string }) {
  const run = useMutation({
    mutationFn: () =>
      responseOf(api.POST('/book-months/{through}/accrue', { params: { path: { through } } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['book-months', through] }),
  })
  return (
    <>
      <Button variant="default" size="compact-sm" loading={run.isPending} onClick={() => run.mutate()}>
        Enter the fees
      </Button>
      {run.error && <FailureAlert failed={run.error} />}
    </>
  )
}

interface CloseProps {
  readonly through: string
  readonly isReady: boolean
  readonly month: Month | undefined
}

function Close({ through, isReady, month }: CloseProps) {
  const [waits, setWaits] = useState(false)
  const close = async (despite: string) => {
    const path = { params: { path: { through } } }
    const closed = await responseOf(
      api.POST('/book-months/{through}/close', { ...path, body: isReady ? {} : { despite } }),
    )
    setWaits(closed.state === 'REQUESTED')
    await queryClient.invalidateQueries({ queryKey: ['book-months'] })
  }
  const name = monthName(through)
  return (
    <Group justify="space-between">
      <Text size="sm" c="dimmed">
        {isReady
          ? 'Everything is in order.'
          : 'To close it although something is open, say why. Where postings need two people, a second one gives the same reason.'}
      </Text>
      {waits && month?.state !== 'REQUESTED' && <Text size="sm">A second person is needed.</Text>}
      <ConfirmAction
        label={isReady ? `Close ${name}` : `Close ${name} all the same`}
        confirm={`Close ${name}`}
        danger={!isReady}
        primary
        withReason={!isReady}
        run={close}
      >
        All totals until {dayText(through)} are signed. Nothing is entered in the month any more, and this is
        not taken back: what comes later is listed as entered later.
      </ConfirmAction>
    </Group>
  )
}

function Closed({ month }: { readonly month: Month }) {
  const { through, closedBy, closedOn, despite, requestedBy } = month
  return (
    <Section
      title="Closed"
      aside={
        <Group gap="xs">
          <Download href={`/book-months/${through}/closing.json`} name={`closing-${through}.json`}>
            What was signed
          </Download>
          <Download href={`/funds-proofs/${through}/proof.zip`} name={`proof-${through}.zip`}>
            Proof of funds (ZIP)
          </Download>
        </Group>
      }
    >
      <Facts
        facts={[
          { label: 'Closed by', value: actorName(closedBy ?? '') },
          { label: 'Closed', value: closedOn && <Instant at={closedOn} long /> },
          ...(despite === undefined ? [] : [{ label: 'Closed despite', value: despite }]),
          ...(requestedBy === undefined ? [] : [{ label: 'Requested by', value: actorName(requestedBy) }]),
        ]}
      />
    </Section>
  )
}
