import { Alert, Group, SegmentedControl, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { dayOf, startOfDay } from '../business-day.ts'
import { useListSearch } from '../list-search.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Amount } from '../parts/ledger-words.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count } from '../parts/money.tsx'
import { Page, Section } from '../parts/page.tsx'
import { useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'

type Balance = Schemas['TrialBalance']
type Line = Balance['lines'][number]

const COLUMNS: readonly Column<Line>[] = [
  { title: 'Kind of account', cell: ({ kind }) => sentenceCase(kind) },
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

/** The requested day, or now. */
function Chosen({ day, choose }: { readonly day: string; readonly choose: (day: string) => void }) {
  const { timeZone } = useSession()
  const month = endOfLastMonth(timeZone)
  return (
    <Group align="end" gap="sm">
      <SegmentedControl
        aria-label="As of"
        size="xs"
        data={[
          { value: '', label: 'Now' },
          { value: dayOf(new Date().toISOString(), timeZone, -1), label: 'End of yesterday' },
          { value: month, label: 'End of last month' },
        ]}
        value={day}
        onChange={choose}
      />
      <TextInput
        type="date"
        label="End of the day"
        value={day}
        onChange={(event) => choose(event.currentTarget.value)}
      />
    </Group>
  )
}

/** What all accounts of each kind add up to, now or at the end of a day. */
export function TrialBalance() {
  const { timeZone } = useSession()
  const { search, filter } = useListSearch()
  const day = search['day'] ?? ''
  const query = useQuery({
    queryKey: ['ledger', 'trial-balance', day],
    queryFn: () => {
      // The last instant of the day: the next one begins after it.
      const endMs = day ? Date.parse(startOfDay(day, timeZone, 1)) - 1 : Number.POSITIVE_INFINITY
      const query = endMs < Date.now() ? { asOf: new Date(endMs).toISOString() } : {}
      return responseOf(api.GET('/ledger/trial-balance', { params: { query } }))
    },
  })
  return (
    <Page
      title="Trial balance"
      lead="What the accounts of each kind add up to. Debit and credit are equal in each unit."
      actions={<Chosen day={day} choose={(chosen) => filter({ day: chosen || undefined })} />}
    >
      <Loaded query={query}>
        {(balance) => (
          <>
            <Sums balance={balance} />
            <Section title="By kind of account">
              <DataTable
                caption="Trial balance"
                columns={COLUMNS}
                rows={balance.lines}
                rowKey={({ kind }) => kind}
              />
            </Section>
          </>
        )}
      </Loaded>
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
