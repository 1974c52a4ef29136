import { Alert, Group, SegmentedControl, Select, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { dayOf, startOfDay } from '../business-day.ts'
import { type ListSearch, type Search, useListSearch } from '../list-search.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Download } from '../parts/download.tsx'
import { Instant } from '../parts/instant.tsx'
import { Amount } from '../parts/ledger-words.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count } from '../parts/money.tsx'
import { Page, Section } from '../parts/page.tsx'
import { Picker } from '../parts/picker.tsx'
import { useSession } from '../session.ts'

type Balance = Schemas['TrialBalance']
type Line = Balance['lines'][number]

const COLUMNS: readonly Column<Line>[] = [
  { title: 'Account', cell: ({ title }) => title },
  { title: 'What it is for', cell: ({ meaning }) => meaning },
  { title: 'Accounts', align: 'right', cell: ({ accounts }) => count(accounts) },
  { title: 'Debit', align: 'right', cell: ({ debit, unit }) => <Amount amount={debit} unit={unit} /> },
  { title: 'Credit', align: 'right', cell: ({ credit, unit }) => <Amount amount={credit} unit={unit} /> },
]

/** The last day of the month before this one, in the zone. */
function endOfLastMonth(timeZone: string): string {
  const today = dayOf(new Date().toISOString(), timeZone)
  return dayOf(startOfDay(`${today.slice(0, 8)}01`, timeZone), timeZone, -1)
}

interface ChosenProps {
  readonly search: Search
  readonly choose: ListSearch['filter']
}

/** Of which day, by which of both times, and whose. */
function Chosen({ search, choose }: ChosenProps) {
  const { timeZone } = useSession()
  // On the first of a month both are one day, and a choice has each value once.
  const days = new Map([
    ['', 'Now'],
    [dayOf(new Date().toISOString(), timeZone, -1), 'End of yesterday'],
    [endOfLastMonth(timeZone), 'End of last month'],
  ])
  return (
    <Group align="end" gap="sm">
      <SegmentedControl
        aria-label="As of"
        data={[...days].map(([value, label]) => ({ value, label }))}
        value={search['day'] ?? ''}
        onChange={(day) => choose({ day: day || undefined })}
      />
      <TextInput
        type="date"
        label="End of the day"
        value={search['day'] ?? ''}
        onChange={(event) => choose({ day: event.currentTarget.value || undefined })}
      />
      <Select
        label="What counts"
        data={[
          { value: '', label: 'Entered by then' },
          { value: 'effective', label: 'Effective by then, whenever entered' },
        ]}
        value={search['by'] ?? ''}
        onChange={(by) => choose({ by: by || undefined })}
        allowDeselect={false}
        w={280}
      />
      <Picker
        of="tenant"
        placeholder="All"
        value={search['tenantId'] ?? null}
        onChange={(tenantId) => choose({ tenantId: tenantId ?? undefined })}
        clearable
      />
    </Group>
  )
}

/** What an address asks for: the last instant of a day, since the next one begins after it, or a business day. */
export function queryOf({ by, day, tenantId }: Search, timeZone: string): Readonly<Record<string, string>> {
  const of: Record<string, string> = tenantId ? { tenantId } : {}
  if (by) return { ...of, effectiveThrough: day ?? dayOf(new Date().toISOString(), timeZone) }
  const endMs = day ? Date.parse(startOfDay(day, timeZone, 1)) - 1 : Number.POSITIVE_INFINITY
  return endMs < Date.now() ? { ...of, asOf: new Date(endMs).toISOString() } : of
}

interface BalanceProps {
  readonly asked: Readonly<Record<string, string>>
  /** Of the files, without an ending. */
  readonly name: string
}

/** What all accounts of each kind add up to, with the same as files. */
export function Balance({ asked, name }: BalanceProps) {
  const query = useQuery({
    queryKey: ['ledger', 'trial-balance', asked],
    queryFn: () => responseOf(api.GET('/ledger/trial-balance', { params: { query: asked } })),
  })
  const href = (ending: string) => `/ledger/trial-balance.${ending}?${new URLSearchParams(asked).toString()}`
  return (
    <Loaded query={query}>
      {(balance) => (
        <>
          <Sums balance={balance} />
          <Section
            title="By kind of account"
            aside={
              <Group gap="xs">
                <Download href={href('csv')} name={`${name}.csv`}>
                  CSV
                </Download>
                <Download href={href('pdf')} name={`${name}.pdf`}>
                  PDF
                </Download>
              </Group>
            }
          >
            <DataTable
              caption="Trial balance"
              columns={COLUMNS}
              rows={balance.lines}
              rowKey={({ kind, unit }) => kind + unit}
            />
          </Section>
        </>
      )}
    </Loaded>
  )
}

/** What all accounts of each kind add up to, now or at the end of a day. */
export function TrialBalance() {
  const { timeZone } = useSession()
  const { search, filter } = useListSearch()
  const name = ['trial-balance', search['day'] ?? 'now', search['by'], search['tenantId']]
  return (
    <Page
      title="Trial balance"
      lead="What the accounts of each kind add up to. Debit and credit are equal in each unit."
    >
      <Chosen search={search} choose={filter} />
      <Balance asked={queryOf(search, timeZone)} name={name.filter(Boolean).join('-')} />
    </Page>
  )
}

function Sums({ balance: { asOf, sums } }: { readonly balance: Balance }) {
  const isEven = sums.every(({ debit, credit }) => debit === credit)
  return (
    <Alert color={isEven ? 'teal' : 'red'} role="status">
      <Text size="sm" component="div">
        As of <Instant at={asOf} long />:{' '}
        {sums.map(({ unit, debit, credit }) => (
          <Text span key={unit} mr="md">
            debit <Amount amount={debit} unit={unit} />, credit <Amount amount={credit} unit={unit} />.
          </Text>
        ))}
        {isEven ? 'They are equal.' : 'They differ.'}
      </Text>
    </Alert>
  )
}
