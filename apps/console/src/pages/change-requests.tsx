import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { CHANGE_COLUMNS, wantedOf } from '../parts/change-requests.tsx'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { Section } from '../parts/page.tsx'
import { queryClient, useSession } from '../session.ts'
import { actorName } from '../words.ts'

type Row = Schemas['ChangeRequestRow']

/** Bank accounts, payment addresses and fees that merchants ask for and that wait, or one merchant’s; nothing when there are none. */
export function ChangeRequests({ merchantId }: { readonly merchantId?: string }) {
  const { can } = useSession()
  const waiting = { status: 'PENDING' as const, ...(merchantId !== undefined && { merchantId }) }
  const requests = useQuery({
    queryKey: ['change-requests', waiting],
    queryFn: () => responseOf(api.GET('/change-requests', { params: { query: waiting } })),
  })
  if (requests.data?.data.length === 0) return null
  return (
    <Section title="Changes that merchants ask for">
      <Loaded query={requests}>
        {({ data }) => (
          <DataTable
            caption="Changes that merchants ask for"
            columns={[
              {
                title: 'Merchant',
                cell: (row: Row) => (
                  <ObjectLink kind="merchant" id={row.merchantId}>
                    {row.merchantName}
                  </ObjectLink>
                ),
              },
              ...CHANGE_COLUMNS,
              ...(can('finance')
                ? [{ title: '', align: 'right' as const, cell: (row: Row) => <Decisions row={row} /> }]
                : []),
            ]}
            rows={data}
            rowKey={({ approvalId }) => approvalId}
          />
        )}
      </Loaded>
    </Section>
  )
}

/** What follows from an approval. */
const AFTERWARDS: Readonly<Record<Row['kind'], string>> = {
  bank_account: 'Payouts that are prepared from now on go there; you cannot approve them.',
  payment_address: 'The merchant is notified, and can take it back until its waiting time is over.',
  fee: 'Payments are charged by it from the next business day on, or from today if the merchant has had none today. A fee that is set for a later day replaces it then.',
}

function Decisions({ row }: { readonly row: Row }) {
  const params = { path: { approvalId: row.approvalId } }
  const changed = async () => {
    for (const key of ['change-requests', 'merchants', 'waiting'])
      await queryClient.invalidateQueries({ queryKey: [key] })
  }
  return (
    <>
      <ConfirmAction
        label="Approve"
        confirm={`Approve for ${row.merchantName}`}
        compact
        run={async () => {
          await responseOf(api.POST('/change-requests/{approvalId}/approve', { params }))
          await changed()
        }}
      >
        <b>{wantedOf(row)}</b>, asked for by {actorName(row.requestedBy)}. Ask a person of the merchant whom
        you know, by a number that you had before. {AFTERWARDS[row.kind]}
      </ConfirmAction>{' '}
      <ConfirmAction
        label="Reject"
        confirm={`Reject for ${row.merchantName}`}
        danger
        compact
        withReason
        run={async (reason) => {
          await responseOf(api.POST('/change-requests/{approvalId}/reject', { params, body: { reason } }))
          await changed()
        }}
      >
        What is there stays. The merchant reads your reason.
      </ConfirmAction>
    </>
  )
}
