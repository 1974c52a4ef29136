import { SegmentedControl, Stack, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useListSearch } from '../list-search.ts'
import { Download } from '../parts/download.tsx'
import { dayText } from '../parts/instant.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { useSession } from '../session.ts'
import { monthName } from '../words.ts'
import { bookMonthsQuery } from './book-months-query.ts'
import { Checklist } from './closing-checklist.tsx'
import { MonthResult } from './month-result.tsx'
import { Balance, queryOf } from './trial-balance.tsx'

const FundsProof = lazyPart(async () => (await import('./funds-proof.tsx')).FundsProof)
const PriorPeriod = lazyPart(async () => (await import('./prior-period.tsx')).PriorPeriod)
const TaxDocuments = lazyPart(async () => (await import('./tax-documents.tsx')).TaxDocuments)

const TABS = [
  { value: 'checklist', label: 'Checklist' },
  { value: 'balance', label: 'Trial balance' },
  { value: 'proof', label: 'Proof of funds' },
  { value: 'tax', label: 'Tax documents' },
  { value: 'later', label: 'Entered later' },
] as const

/** A month of the books: what is to be done before it is closed, and what was signed. */
export function BookMonth() {
  const { through = '' } = useParams({ strict: false })
  const { search, filter } = useListSearch()
  const months = useQuery(bookMonthsQuery)
  const month = months.data?.data.find((each) => each.through === through)
  const tab = TABS.find(({ value }) => value === search['tab'])?.value ?? 'checklist'
  return (
    <Page
      title={monthName(through)}
      badge={month && <StatusBadge state={month.state} />}
      lead={`The books until ${dayText(through)}.`}
      trail={[{ to: '/close', label: 'Close' }]}
      actions={
        <Download href={`/book-months/${through}/month.zip`} name={`books-${through}.zip`} size="sm">
          Export all (ZIP)
        </Download>
      }
    >
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(chosen) => filter({ tab: chosen ?? undefined, sort: undefined })}
      >
        <Tabs.List mb="md">
          {TABS.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="checklist">
          <div className="with-side">
            <Loaded query={months}>
              {({ data }) => (
                <Checklist
                  through={through}
                  month={data.find((each) => each.through === through)}
                  isNext={data.findLast(({ state }) => state !== 'CLOSED')?.through === through}
                />
              )}
            </Loaded>
            <MonthResult until={through} />
          </div>
        </Tabs.Panel>
        <Tabs.Panel value="balance">
          <MonthBalance through={through} by={search['by']} choose={(by) => filter({ by })} />
        </Tabs.Panel>
        <Tabs.Panel value="proof">
          <FundsProof day={search['day'] ?? through} choose={(day) => filter({ day: day || undefined })} />
        </Tabs.Panel>
        <Tabs.Panel value="tax">
          <TaxDocuments month={through.slice(0, 7)} />
        </Tabs.Panel>
        <Tabs.Panel value="later">
          <PriorPeriod through={through} isClosed={month?.state === 'CLOSED'} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

interface MonthBalanceProps {
  readonly through: string
  readonly by: string | undefined
  readonly choose: (by: string | undefined) => void
}

/** The trial balance of the month's end: by when things count, or by when they were entered. */
function MonthBalance({ through, by, choose }: MonthBalanceProps) {
  const { timeZone } = useSession()
  const asked = queryOf({ day: through, ...(by !== 'entry' && { by: 'effective' }) }, timeZone)
  return (
    <Stack gap="md">
      <SegmentedControl
        aria-label="What counts"
        data={[
          { value: 'effective', label: 'By effective day' },
          { value: 'entry', label: 'By entry' },
        ]}
        value={by === 'entry' ? 'entry' : 'effective'}
        onChange={(chosen) => choose(chosen === 'entry' ? chosen : undefined)}
        w="fit-content"
      />
      <Balance asked={asked} name={`trial-balance-${through}-${by === 'entry' ? 'entered' : 'effective'}`} />
    </Stack>
  )
}
