import { Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useListSearch } from '../list-search.ts'
import { dayText } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { monthName } from '../words.ts'
import { bookMonthsQuery } from './book-months-query.ts'
import { Checklist } from './closing-checklist.tsx'
import { FundsProof } from './funds-proof.tsx'
import { PriorPeriod } from './prior-period.tsx'
import { TaxDocuments } from './tax-documents.tsx'

const TABS = [
  { value: 'checklist', label: 'Checklist' },
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
          <Loaded query={months}>
            {({ data }) => (
              <Checklist
                through={through}
                month={data.find((each) => each.through === through)}
                isNext={data.findLast(({ state }) => state !== 'CLOSED')?.through === through}
              />
            )}
          </Loaded>
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
