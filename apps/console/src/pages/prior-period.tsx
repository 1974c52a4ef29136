import { Text } from '@mantine/core'
import { listAt, type Schemas } from '../api.ts'
import type { Column } from '../parts/data-table.tsx'
import { Day, Instant } from '../parts/instant.tsx'
import { Amount } from '../parts/ledger-words.tsx'
import { List } from '../parts/list-page.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Section } from '../parts/page.tsx'
import { sentenceCase } from '../words.ts'

const COLUMNS: readonly Column<Schemas['PriorPeriodItem']>[] = [
  {
    title: 'Journal',
    cell: ({ journalId, kind }) => (
      <ObjectLink kind="journal" id={journalId}>
        {sentenceCase(kind)}
      </ObjectLink>
    ),
  },
  { title: 'Reference', cell: ({ reference }) => reference || '–' },
  { title: 'Effective', cell: ({ effectiveDate }) => <Day day={effectiveDate} /> },
  { title: 'Entered', sorts: ['-created', 'created'], cell: ({ at }) => <Instant at={at} /> },
  { title: 'Amount', align: 'right', cell: ({ amount, unit }) => <Amount amount={amount} unit={unit} /> },
]

interface PriorPeriodProps {
  readonly through: string
  readonly isClosed: boolean
}

/** What was entered once the month was closed, and is effective in it. */
export function PriorPeriod({ through, isClosed }: PriorPeriodProps) {
  return (
    <Section title="Entered after the month was closed">
      {isClosed ? (
        <List
          name="prior-period"
          id={through}
          caption="Entered later"
          load={listAt('/book-months/{through}/prior-period', { through })}
          columns={COLUMNS}
          rowKey={({ journalId, amount }) => `${journalId} ${amount}`}
          filters={[]}
          sort="-created"
          empty={<Text c="dimmed">Nothing was entered later.</Text>}
        />
      ) : (
        <Text c="dimmed">The month is not closed yet.</Text>
      )}
    </Section>
  )
}
