import { Checkbox, Text, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { once } from '../../form-key.ts'
import { pathOf } from '../../objects.ts'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Filter } from '../../parts/filters.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Money, readRupees } from '../../parts/money.tsx'
import { NamedObject } from '../../parts/object-link.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { api, listOf, payloadOf } from '../api.ts'
import { changed, useMember } from '../session.ts'

const search = (body: Record<string, unknown>) =>
  payloadOf(api.POST('/qr-code/search', { body: { limit: 25, ...body } as never }))
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
      <NamedObject kind="qrCode" id={qrCodeId} name={qrName ?? referenceNumber ?? 'QR code'} />
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
      initial={{ qrName: '', amount: '', multipleUse: true, referenceNumber: '' }}
      rules={{
        amount: (value: string) =>
          value.trim() === '' || readRupees(value) ? null : 'Rupees with at most two decimals',
      }}
      fields={(form) => (
        <>
          <TextInput label="Name" placeholder="Counter 1" data-autofocus {...form.getInputProps('qrName')} />
          <TextInput
            label="Amount in rupees"
            description="Empty: the payer chooses"
            inputMode="decimal"
            leftSection="₹"
            {...form.getInputProps('amount')}
          />
          <TextInput
            label="Your reference"
            description="Order or table; comes back with each payment"
            {...form.getInputProps('referenceNumber')}
          />
          <Checkbox
            label="Takes more than one payment"
            {...form.getInputProps('multipleUse', { type: 'checkbox' })}
          />
        </>
      )}
      submit={async ({ qrName, amount, multipleUse, referenceNumber }, key) => {
        const rupees = readRupees(amount)
        const code = await payloadOf(
          api.POST('/qr-code', {
            params: { header: once(key) },
            body: {
              multipleUse,
              fixedAmount: rupees !== undefined,
              ...(rupees !== undefined && { amount: Number(rupees) }),
              ...(qrName.trim() && { qrName: qrName.trim() }),
              ...(referenceNumber.trim() && { referenceNumber: referenceNumber.trim() }),
            },
          }),
        )
        await changed('qr-codes')
        await navigate({ to: pathOf('qrCode', code.qrCodeId) })
      }}
    />
  )
}
