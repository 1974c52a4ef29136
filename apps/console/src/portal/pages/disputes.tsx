import { Text, Textarea } from '@mantine/core'
import { type FormKey, once } from '../../form-key.ts'
import { ConfirmAction } from '../../parts/confirm-action.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { FormDialog, needed } from '../../parts/form-dialog.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Money } from '../../parts/money.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { api, getList, payloadOf } from '../api.ts'
import { changed, useMember } from '../session.ts'

const withKey = (disputeId: string, key: FormKey) => ({ params: { path: { disputeId }, header: once(key) } })
const load = (disputeId: string) =>
  payloadOf(api.GET('/disputes/{disputeId}', { params: { path: { disputeId } } }))
type Row = Awaited<ReturnType<typeof load>>

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Payment',
    cell: ({ paymentId, caseReference }) => (
      <ObjectLink kind="payment" id={paymentId}>
        {caseReference}
      </ObjectLink>
    ),
  },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Reason', cell: ({ reason }) => reason ?? '–' },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} fw={600} /> },
  { title: 'Evidence due', cell: ({ evidenceDueOn }) => <Instant at={evidenceDueOn} /> },
  { title: 'What to do', cell: (row) => <Actions dispute={row} /> },
]

export function Disputes() {
  return (
    <ListPage
      title="Disputes"
      lead="Payments that their payers want back. Without evidence in time they go back."
      name="disputes"
      caption="Disputes"
      load={getList<Row>('/disputes')}
      columns={COLUMNS}
      rowKey={({ disputeId }) => disputeId}
      filters={[]}
      empty={<EmptyState title="No disputes">No payer disputes a payment.</EmptyState>}
    />
  )
}

function Actions({ dispute: { disputeId, status, amount } }: { readonly dispute: Row }) {
  const { can } = useMember()
  if (status !== 'OPEN' || !can('operator')) return '–'
  return (
    <>
      <FormDialog
        label="Submit evidence"
        compact="Evidence"
        send="Submit"
        variant="default"
        initial={{ evidence: '' }}
        rules={{ evidence: needed }}
        fields={(form) => (
          <Textarea
            label="Evidence"
            description="What was delivered, when and to whom; goes to the bank as it is"
            autosize
            minRows={4}
            {...form.getInputProps('evidence')}
          />
        )}
        submit={async (body, key) => {
          await payloadOf(api.POST('/disputes/{disputeId}/evidence', { ...withKey(disputeId, key), body }))
          await changed('disputes')
        }}
      />{' '}
      {can('admin') && (
        <ConfirmAction
          label="Accept"
          confirm="Give the money back"
          danger
          compact
          run={async (_, key) => {
            await payloadOf(
              api.POST('/disputes/{disputeId}/accept', { ...withKey(disputeId, key), body: {} }),
            )
            await changed('disputes')
          }}
        >
          <Text component="span" inherit>
            <Money amount={amount} /> goes back to the payer. This cannot be undone.
          </Text>
        </ConfirmAction>
      )}
    </>
  )
}
