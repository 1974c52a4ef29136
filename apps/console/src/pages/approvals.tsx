import { Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { amountInWords } from '../amount-in-words.ts'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import type { Filter } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Money, rupees } from '../parts/money.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { ThingLink } from '../parts/thing-link.tsx'
import { queryClient, useSession } from '../session.ts'

type Row = Schemas['Approval']

const KINDS: Readonly<Record<string, string>> = {
  card_funding: 'Funding of a card account',
  card_withdrawal: 'Withdrawal from a card account',
  suspense_assigned: 'Credit in suspense to a merchant',
  suspense_returned: 'Credit in suspense to its payer',
  journal_reversal: 'Reversal of a journal',
  opening_balance: 'Opening balance',
  payment_adjustment: 'Correction of a payment',
  notice_assigned: 'Payment that a bank notice reports',
}

/** What is posted when it is approved, in words. */
export function Posting({ row }: { readonly row: Row }) {
  const { cardAccountId, merchantId, payeeVpa, paymentId, tr, utr } = row.request
  return (
    <>
      <Text size="sm">{KINDS[row.kind] ?? row.kind}</Text>
      {cardAccountId && <ThingLink kind="cardAccount" id={cardAccountId} />}
      {paymentId && <ThingLink kind="payment" id={paymentId} />}
      {merchantId && <ThingLink kind="merchant" id={merchantId} />}
      {row.kind === 'notice_assigned' && <ThingLink kind="notice" id={row.reference} />}
      {utr && <Text size="xs">{[utr, tr, payeeVpa].filter(Boolean).join(', ')}</Text>}
      <Text size="xs" c="dimmed">
        {row.reference}
      </Text>
    </>
  )
}

export function Decision({ row }: { readonly row: Row }) {
  const { can, name } = useSession()
  const waits = row.status === 'PENDING' || row.status === 'APPROVED'
  if (!waits || !can('finance')) return <Text size="sm">{row.decidedBy ?? '–'}</Text>
  const isOwn = row.requestedBy === `operator ${name}`
  const params = { path: { approvalId: row.approvalId } }
  const changed = async (message: string) => {
    notifications.show({ color: 'teal', message })
    for (const key of ['approvals', 'card-accounts', 'payments', 'notices', 'ledger'])
      await queryClient.invalidateQueries({ queryKey: [key] })
  }
  return (
    <Group gap="xs" wrap="nowrap">
      {isOwn ? (
        <Text size="xs" c="dimmed">
          Another operator approves it
        </Text>
      ) : (
        <ConfirmAction
          label="Approve"
          confirm="Approve and post"
          compact
          run={async () => {
            await responseOf(api.POST('/approvals/{approvalId}/approve', { params }))
            await changed(`${rupees(row.amount)} posted.`)
          }}
        >
          {KINDS[row.kind]} of <b>{rupees(row.amount)}</b> ({amountInWords(row.amount)}), requested by{' '}
          {row.requestedBy}: “{row.reason}”. It is posted at once, in your name too.
        </ConfirmAction>
      )}
      {(row.status === 'PENDING' || row.status === 'APPROVED') && (
        <ConfirmAction
          label={isOwn ? 'Withdraw' : 'Reject'}
          confirm={isOwn ? 'Withdraw it' : 'Reject it'}
          danger
          compact
          run={async () => {
            await responseOf(api.POST('/approvals/{approvalId}/reject', { params, body: {} }))
            await changed(isOwn ? 'Withdrawn.' : 'Rejected.')
          }}
        >
          Nothing is posted. It can be requested again.
        </ConfirmAction>
      )}
    </Group>
  )
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'Posting', cell: (row) => <Posting row={row} /> },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} fw={600} /> },
  { title: 'Reason', cell: ({ reason }) => <Text size="sm">{reason}</Text> },
  { title: 'Requested by', cell: ({ requestedBy }) => <Text size="sm">{requestedBy}</Text> },
  { title: 'Requested', sorts: BY_TIME, cell: ({ requestedOn }) => <Instant at={requestedOn} /> },
  { title: 'Expires', cell: ({ expiresOn }) => <Instant at={expiresOn} /> },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Decision', cell: (row) => <Decision row={row} /> },
]

const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Show',
    kind: 'select',
    options: [
      { value: 'OPEN', label: 'Waiting' },
      { value: 'ALL', label: 'All' },
    ],
  },
]

export function Approvals() {
  return (
    <ListPage
      title="Approvals"
      lead="Postings above the limit, which wait for a second person."
      name="approvals"
      caption="Approvals"
      load={listAt('/approvals')}
      columns={COLUMNS}
      rowKey={({ approvalId }) => approvalId}
      filters={FILTERS}
      sort="-created"
      empty={
        <EmptyState title="Nothing waits for approval" command="svc admin approval list">
          A posting above APPROVAL_ABOVE_RUPEES, such as a funding, appears here until another operator
          approves it.
        </EmptyState>
      }
    />
  )
}
