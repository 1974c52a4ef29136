import { Text } from '@mantine/core'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import type { BulkAction } from '../bulk.ts'
import { BY_TIME, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { AMOUNT, CREATED, type Filter, MERCHANT } from '../parts/filters.tsx'
import { Instant } from '../parts/instant.tsx'
import type { ListKind } from '../parts/list-of-tenant.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { count, Money } from '../parts/money.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { codeState } from '../words.ts'
import { CreateQrCode } from './create-qr-code.tsx'

type Row = Schemas['QrCodeRow']

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'QR code',
    cell: ({ qrCodeId, qrName }) => (
      <ObjectLink kind="qrCode" id={qrCodeId}>
        {qrName}
      </ObjectLink>
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
  { title: 'Status', cell: (row) => <StatusBadge state={codeState(row)} /> },
  {
    title: 'Amount',
    align: 'right',
    cell: ({ amount, fixedAmount }) => (
      <>
        <Money amount={amount} none="any" />
        {amount !== undefined && !fixedAmount && (
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
    cell: ({ payments: paid }) =>
      paid.count === 0 ? (
        'not yet'
      ) : (
        <>
          <Money amount={paid.amount} fw={600} />
          {paid.count > 1 && (
            <Text size="xs" c="dimmed">
              {count(paid.count)} payments
            </Text>
          )}
        </>
      ),
  },
  { title: 'Created', sorts: BY_TIME, cell: ({ createdOn }) => <Instant at={createdOn} /> },
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
  { name: 'referenceNumber', label: 'Reference', kind: 'text' },
  { ...AMOUNT, bounds: ['merchantId', 'createdFrom'] },
  ...CREATED,
]

const BULK: readonly BulkAction<Row>[] = [
  {
    label: 'Cancel',
    confirm: 'Cancel codes',
    danger: true,
    says: 'These codes accept no more payments. This cannot be undone.',
    applies: ({ expired, status }) => expired || status === 'ACTIVE',
    nameOf: ({ merchantName, qrCodeId, qrName }) => `${qrName ?? qrCodeId} of ${merchantName}`,
    // A repeat returns the first response (decision Q2).
    run: ({ qrCodeId }) =>
      responseOf(api.POST('/qr-codes/{qrCodeId}/cancel', { params: { path: { qrCodeId } } })),
    changed: () => queryClient.invalidateQueries({ queryKey: ['qr-codes'] }),
  },
]

export const QR_CODES: ListKind<Row> = {
  name: 'qr-codes',
  caption: 'QR codes',
  columns: COLUMNS,
  rowKey: ({ qrCodeId }) => qrCodeId,
  filters: FILTERS,
  sort: '-created',
}

export function QrCodes() {
  const { can } = useSession()
  const create = can('support') && <CreateQrCode />
  return (
    <ListPage
      title="QR codes"
      lead="UPI codes of all merchants, and what was paid through them."
      actions={create}
      {...QR_CODES}
      load={listAt('/qr-codes')}
      bulk={can('support') ? BULK : []}
      empty={
        <EmptyState title="No QR codes yet" action={create}>
          A merchant creates codes with its token; you can create one for it here.
        </EmptyState>
      }
    />
  )
}
