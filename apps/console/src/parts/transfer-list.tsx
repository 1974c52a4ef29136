import { Text } from '@mantine/core'
import { listAt, type Schemas } from '../api.ts'
import { sentenceCase } from '../words.ts'
import type { Column } from './data-table.tsx'
import { DataTable } from './data-table.tsx'
import { Day, Instant } from './instant.tsx'
import { Amount } from './ledger-words.tsx'
import { List } from './list-page.tsx'
import { IdLink, ObjectLink, WithNames } from './object-link.tsx'

type Transfer = Schemas['Transfer']

/** Transfers as one account sees them: what came in and went out, and where from and to. */
const columnsSeenFrom = (accountId: string): readonly Column<Transfer>[] => [
  { title: 'When', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  {
    title: 'Journal',
    cell: ({ journalId, kind, reference }) => (
      <>
        <ObjectLink kind="journal" id={journalId}>
          {sentenceCase(kind)}
        </ObjectLink>
        {reference && (
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            <WithNames text={reference} />
          </Text>
        )}
      </>
    ),
  },
  {
    title: 'Amount',
    align: 'right',
    cell: ({ amount, unit, creditAccountId }) => (
      <Amount amount={creditAccountId === accountId ? amount : `-${amount}`} unit={unit} signed />
    ),
  },
  {
    title: 'Other side',
    cell: ({ debitAccountId, creditAccountId }) => (
      <ObjectLink
        kind="ledgerAccount"
        id={creditAccountId === accountId ? debitAccountId : creditAccountId}
      />
    ),
  },
  { title: 'Business day', cell: ({ effectiveDate }) => <Day day={effectiveDate} /> },
  { title: 'For', cell: ({ objectId }) => <IdLink id={objectId} /> },
]

export function TransferTable({
  accountId,
  transfers,
}: {
  accountId: string
  transfers: readonly Transfer[]
}) {
  if (transfers.length === 0) return <Text c="dimmed">Nothing has moved yet.</Text>
  return (
    <DataTable
      caption="Transfers"
      columns={columnsSeenFrom(accountId)}
      rows={transfers}
      rowKey={({ transferId }) => transferId}
    />
  )
}

/** All transfers of an account, in pages. */
export function TransferList({ accountId }: { readonly accountId: string }) {
  return (
    <List
      name="ledger"
      id={accountId}
      caption="Transfers"
      load={listAt('/ledger/accounts/{accountId}/transfers', { accountId })}
      columns={columnsSeenFrom(accountId)}
      rowKey={({ transferId }) => transferId}
      filters={[]}
      empty={<Text c="dimmed">Nothing has moved yet.</Text>}
    />
  )
}
