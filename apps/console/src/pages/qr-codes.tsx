import { Text } from '@mantine/core'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import type { BulkAction } from '../bulk.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { CREATED, type Filter, MERCHANT } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { count, Money } from '../parts/money.tsx'
import { NamedObject, ObjectLink } from '../parts/object-link.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { CreateQrCode } from './create-qr-code.tsx'

type Row = Schemas['QrCodeRow']

/** An expired code stays `ACTIVE` for the specification (decision Q4); people want to see that it takes nothing. */
export const stateOf = ({ qrCode, expired }: Row): string =>
  qrCode.status === 'ACTIVE' && expired ? 'EXPIRED' : (qrCode.status ?? 'ACTIVE')

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'QR code',
    cell: ({ qrCode }) => (
      <NamedObject kind="qrCode" id={qrCode.qrCodeId} name={qrCode.qrName ?? 'No name'} />
    ),
  },
  {
    title: 'Merchant',
    cell: ({ merchantId, merchantName }) => (
      <ObjectLink kind="merchant" id={merchantId}>
        {merchantName}
      </ObjectLink>
    ),
  },
  { title: 'Status', cell: (row) => <StatusBadge state={stateOf(row)} /> },
  {
    title: 'Amount',
    align: 'right',
    cell: ({ qrCode }) => (
      <>
        <Money amount={qrCode.amount} none="any" />
        {qrCode.amount !== undefined && !qrCode.fixedAmount && (
          <Text size="xs" c="dimmed">
            suggested
          </Text>
        )}
      </>
    ),
  },
  {
    title: 'Paid',
    align: 'right',
    cell: ({ acceptedCount, acceptedAmount }) =>
      acceptedCount === 0 ? (
        'not yet'
      ) : (
        <>
          <Money amount={acceptedAmount} fw={600} />
          {acceptedCount > 1 && (
            <Text size="xs" c="dimmed">
              {count(acceptedCount)} payments
            </Text>
          )}
        </>
      ),
  },
  { title: 'Created', sorts: BY_TIME, cell: ({ qrCode }) => <Instant at={qrCode.createdOn} /> },
]

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'text', placeholder: 'Id of the code, or its tr' },
  MERCHANT,
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: [
      { value: 'ACTIVE', label: 'Active' },
      { value: 'CANCELLED', label: 'Cancelled' },
    ],
  },
  { name: 'referenceNumber', label: 'Reference', kind: 'text', placeholder: 'With a merchant' },
  ...CREATED,
]

const BULK: readonly BulkAction<Row>[] = [
  {
    label: 'Cancel',
    confirm: 'Cancel codes',
    danger: true,
    says: 'These codes accept no more payments. This cannot be undone.',
    applies: ({ qrCode }) => qrCode.status === 'ACTIVE',
    nameOf: ({ merchantName, qrCode }) => `${qrCode.qrName ?? qrCode.qrCodeId} of ${merchantName}`,
    // A repeat returns the first response (decision Q2).
    run: ({ qrCode }) =>
      responseOf(
        api.POST('/qr-codes/{qrCodeId}/cancel', { params: { path: { qrCodeId: qrCode.qrCodeId } } }),
      ),
    changed: () => queryClient.invalidateQueries({ queryKey: ['qr-codes'] }),
  },
]

export function QrCodes() {
  const { can } = useSession()
  const create = can('support') && <CreateQrCode />
  return (
    <ListPage
      title="QR codes"
      lead="UPI codes of all merchants, and what was paid through them."
      actions={create}
      name="qr-codes"
      caption="QR codes"
      load={listAt('/qr-codes')}
      columns={COLUMNS}
      rowKey={({ qrCode }) => qrCode.qrCodeId}
      filters={FILTERS}
      bulk={can('support') ? BULK : []}
      sort="-created"
      empty={
        <EmptyState
          title="No QR codes yet"
          command={`curl -s ${window.location.origin}/api/v0/qr-code -H 'Authorization: Bearer <token>' -H 'Content-Type: application/json' -d '{"qrName":"Order 1042","amount":249.50}'`}
          action={create}
        >
          A merchant creates codes with its token; you can create one for it here.
        </EmptyState>
      }
    />
  )
}
