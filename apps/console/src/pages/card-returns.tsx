import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { once } from '../form-key.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Money } from '../parts/money.tsx'
import { Section } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'

type Row = Schemas['CardReturnRow']

const COLUMNS: readonly Column<Row>[] = [
  { title: 'When', cell: ({ createdOn }) => <Instant at={createdOn} /> },
  { title: 'Why', cell: ({ basis, consentReference }) => consentReference ?? sentenceCase(basis) },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Arrives', cell: ({ closedOn, dueOn }) => <Instant at={closedOn ?? dueOn} /> },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
  { title: '', align: 'right', cell: (row) => row.status === 'WAITING' && <PutBack {...row} /> },
]

function PutBack({ returnId }: Row) {
  const { can } = useSession()
  if (!can('finance')) return undefined
  return (
    <ConfirmAction
      label="Put back"
      confirm="Put back on the card"
      compact
      withReason
      run={async (reason, key) => {
        await responseOf(
          api.POST('/card-returns/{returnId}/reverse', {
            params: { path: { returnId }, header: once(key) },
            body: { reason },
          }),
        )
        for (const key of ['cards', 'card-returns', 'card-transactions', 'ledger', 'history'])
          await queryClient.invalidateQueries({ queryKey: [key] })
      }}
    >
      The money goes back on the card. It is announced again before it returns by itself.
    </ConfirmAction>
  )
}

/** What returned, or is to return, from a card to its card account. */
export function CardReturns({ svcCardId }: { readonly svcCardId: string }) {
  const { data } = useQuery({
    queryKey: ['card-returns', svcCardId],
    queryFn: () => responseOf(api.GET('/card-returns', { params: { query: { svcCardId, limit: 10 } } })),
  })
  if (!data || data.data.length === 0) return undefined
  return (
    <Section title="Returns to the card account">
      <DataTable
        caption="The latest 10 returns to the card account"
        columns={COLUMNS}
        rows={data.data}
        rowKey={({ returnId }) => returnId}
      />
    </Section>
  )
}
