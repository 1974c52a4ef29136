import { Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { once } from '../../form-key.ts'
import { pathOf } from '../../objects.ts'
import { CODE_RULES, CodeFields, codeOf, NO_CODE } from '../../parts/code-form.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { AMOUNT, type Filter } from '../../parts/filters.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Money } from '../../parts/money.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { api, listOf, payloadOf } from '../api.ts'
import { changed, useMember } from '../session.ts'

/** In this body amounts are numbers. */
const search = ({ amountFrom, amountTo, ...texts }: Readonly<Record<string, string>>) => {
  const amounts = {
    ...(amountFrom !== undefined && { amountFrom: Number(amountFrom) }),
    ...(amountTo !== undefined && { amountTo: Number(amountTo) }),
  }
  return payloadOf(api.POST('/qr-code/search', { body: { limit: 25, ...texts, ...amounts } as never }))
}
type Row = Awaited<ReturnType<typeof search>>['data'][number]

/** What the code is now: an expired one stays active in the specification’s words. */
export const stateOf = ({ status, expiry }: { status?: string; expiry?: string }): string =>
  status === 'ACTIVE' && expiry !== undefined && new Date(expiry) <= new Date()
    ? 'EXPIRED'
    : (status ?? 'ACTIVE')

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'QR code',
    cell: ({ qrCodeId, qrName, referenceNumber }) => (
      <ObjectLink kind="qrCode" id={qrCodeId}>
        {qrName ?? referenceNumber}
      </ObjectLink>
    ),
  },
  { title: 'Status', cell: (row) => <StatusBadge state={stateOf(row)} /> },
  {
    title: 'Amount',
    align: 'right',
    cell: ({ amount, fixedAmount }) => (
      <>
        <Money amount={amount} none="The payer chooses" />
        {amount !== undefined && !fixedAmount && (
          <Text size="xs" c="dimmed">
            suggested
          </Text>
        )}
      </>
    ),
  },
  { title: 'Reference', cell: ({ referenceNumber }) => referenceNumber ?? '–' },
  { title: 'Created', cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    options: [
      { value: 'ACTIVE', label: 'Active' },
      { value: 'CANCELLED', label: 'Cancelled' },
    ],
  },
  { name: 'referenceNumber', label: 'Reference number', kind: 'text' },
  { name: 'customerMobile', label: 'Customer’s mobile', kind: 'text' },
  AMOUNT,
]

export function QrCodes() {
  const { can } = useMember()
  const create = can('operator') && <CreateCode />
  return (
    <ListPage
      title="QR codes"
      lead="What your customers scan to pay you."
      actions={create}
      name="qr-codes"
      caption="QR codes"
      load={listOf(search)}
      columns={COLUMNS}
      rowKey={({ qrCodeId }) => qrCodeId}
      filters={FILTERS}
      empty={
        <EmptyState title="No QR codes yet" action={create}>
          A code for one order is used once; a code for a counter takes any number of payments.
        </EmptyState>
      }
    />
  )
}

function CreateCode() {
  const navigate = useNavigate()
  return (
    <FormDialog
      label="Create QR code"
      send="Create"
      initial={{ ...NO_CODE, multipleUse: true }}
      rules={CODE_RULES}
      fields={(form) => <CodeFields form={form} />}
      submit={async (values, key) => {
        const code = await payloadOf(
          api.POST('/qr-code', { params: { header: once(key) }, body: codeOf(values) }),
        )
        await changed('qr-codes')
        await navigate({ to: pathOf('qrCode', code.qrCodeId) })
      }}
    />
  )
}
