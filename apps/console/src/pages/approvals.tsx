import { Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { PLATFORM_TENANT } from '../objects.ts'
import { AmountInWords } from '../parts/amount-in-words.tsx'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import type { Filter } from '../parts/filters.tsx'
import { dayText, Instant } from '../parts/instant.tsx'
import { List } from '../parts/list-page.tsx'
import { Money, rupees } from '../parts/money.tsx'
import { IdLink, ObjectLink } from '../parts/object-link.tsx'
import { Page } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'
import { ChangeRequests } from './change-requests.tsx'

type Row = Schemas['Approval']

const KINDS: Readonly<Record<string, string>> = {
  card_funding: 'Funding of a card account',
  card_withdrawal: 'Withdrawal from a card account',
  suspense_assigned: 'Credit in suspense to a merchant',
  suspense_returned: 'Credit in suspense to its payer',
  suspense_unassigned: 'Assignment of a credit taken back',
  journal_reversal: 'Reversal of a journal',
  opening_balance: 'Opening balance',
  payment_adjustment: 'Correction of a payment',
  settlement_recorded: 'Charges and lines that fit nothing, of a transfer in a file',
  settlement_taken_back: 'Transfer of the bank or the card network taken back',
  exception_settled: 'Exceptions that were settled',
  exception_written_off: 'Exceptions written off',
  advance_repaid: 'Advance repaid by the merchant',
  advance_written_off: 'Advance written off',
  merchant_refund_failed: 'Refund that failed: payable to the merchant again',
  dispute_won: 'Dispute that was won: payable to the merchant again',
  dispute_lost: 'Dispute that was lost or accepted: the payer keeps the money',
  notice_assigned: 'Payment that a bank notice reports',
}

interface OfRow {
  readonly row: Row
}

/** The objects that a posting is of, each once. */
function objectsOf({ kind, reference, request }: Row): string[] {
  const { cardAccountId, disputeId, journalId, merchantId, noticeId, ownerId } = request
  const { paymentId, refundId } = request
  const ofNotice = kind === 'notice_assigned' ? reference : noticeId
  const ofPayment = [paymentId, refundId, disputeId, merchantId]
  const ofTransfer = kind === 'settlement_taken_back' ? reference : undefined
  return [cardAccountId, ofNotice, ofTransfer, ...ofPayment, journalId, ownerId].flatMap((id) => id ?? [])
}

/** What is posted when it is approved, in words; once it is posted, its journal too. */
export function Posting({ row }: OfRow) {
  const { kind, journalId, reference, request, tenantId, tenantName, title } = row
  const { account, effectiveDate, ledgerAccountId, payeeVpa, side, tr, utr } = request
  const objectIds = objectsOf(row)
  return (
    <>
      <Text size="sm">{KINDS[kind] ?? title}</Text>
      {objectIds.map((id) => (
        <div key={id}>
          <IdLink id={id} />
        </div>
      ))}
      {kind === 'payment_adjustment' && <Correction row={row} />}
      {account && (
        <Text size="sm">
          {sentenceCase(account)}, as of {dayText(effectiveDate ?? '')}
        </Text>
      )}
      {ledgerAccountId && (
        <Text size="sm">
          <ObjectLink kind="ledgerAccount" id={ledgerAccountId} inText />,{' '}
          {side === 'debit' ? 'owed to us' : 'owed by us'}
        </Text>
      )}
      {tenantId !== PLATFORM_TENANT && !objectIds.includes(tenantId) && (
        <Text size="sm">
          of <IdLink id={tenantId} name={tenantName} inText />
        </Text>
      )}
      {kind === 'settlement_recorded' && (
        <Text size="sm">
          Charges {rupees(request['charges'] ?? '')}, fits nothing {rupees(request['unmatched'] ?? '')}
        </Text>
      )}
      {utr && <Text size="xs">{[utr, tr, payeeVpa].filter(Boolean).join(', ')}</Text>}
      {!objectIds.includes(reference) && (
        <Text size="xs" c="dimmed">
          {reference}
        </Text>
      )}
      {journalId && (
        <Text size="sm">
          Posted as <ObjectLink kind="journal" id={journalId} inText />
        </Text>
      )}
    </>
  )
}

/** Requests of versions that did not keep the previous amount say the new one alone. */
function Correction({ row: { amount: change, request } }: OfRow) {
  const { amount, from } = request
  const to = rupees(amount ?? '')
  if (!from) return <Text size="sm">To {to}</Text>
  return (
    <Text size="sm">
      From {rupees(from)} to {to}: {rupees(change)} {Number(amount) > Number(from) ? 'more' : 'less'} for the
      merchant
    </Text>
  )
}

/** Lists that a posting changes. */
const MOVED = [
  'approvals',
  'card-accounts',
  'payments',
  'refunds',
  'disputes',
  'notices',
  'ledger',
  'ledger-accounts',
]

export function Decision({ row }: OfRow) {
  const { can, name } = useSession()
  const waits = row.status === 'PENDING' || row.status === 'APPROVED'
  if (!waits || !can('finance')) return <Text size="sm">{row.decidedBy ?? '–'}</Text>
  const isOwn = row.requestedBy === `operator ${name}`
  const params = { path: { approvalId: row.approvalId } }
  const changed = async (message: string, color = 'teal') => {
    notifications.show({ color, message })
    for (const key of MOVED) await queryClient.invalidateQueries({ queryKey: [key] })
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
            const { status } = await responseOf(api.POST('/approvals/{approvalId}/approve', { params }))
            if (status === 'POSTED') await changed(`${rupees(row.amount)} posted.`)
            else
              await changed('It was entered before: nothing was posted, and the request has ended.', 'yellow')
          }}
        >
          <Posting row={row} />
          <Text size="sm" mt="xs">
            <b>{rupees(row.amount)}</b> (<AmountInWords amount={row.amount} />
            ), requested by {row.requestedBy}: “{row.reason}”. It is posted at once, in your name too.
          </Text>
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
    <Page
      title="Approvals"
      lead="Postings above the limit, and what merchants ask for: they wait for a second person."
    >
      <ChangeRequests />
      <List
        name="approvals"
        caption="Approvals"
        load={listAt('/approvals')}
        columns={COLUMNS}
        rowKey={({ approvalId }) => approvalId}
        filters={FILTERS}
        sort="-created"
        empty={
          <EmptyState title="Nothing waits for approval">
            A posting above the limit for one person, such as a funding, appears here until another operator
            approves it.
          </EmptyState>
        }
      />
    </Page>
  )
}
