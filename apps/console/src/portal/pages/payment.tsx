import { Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { FormDialog, needed } from '../../parts/form-dialog.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Money, readRupees } from '../../parts/money.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Id, ThingLink } from '../../parts/thing-link.tsx'
import { newIdempotencyKey, wordy } from '../../words.ts'
import { api, payloadOf } from '../api.ts'
import { changed, useMember } from '../session.ts'

const load = (paymentId: string) =>
  payloadOf(api.GET('/payments/{paymentId}', { params: { path: { paymentId } } }))
type Detail = Awaited<ReturnType<typeof load>>
type Refund = NonNullable<Detail['refunds']>[number]

const REFUNDS: readonly Column<Refund>[] = [
  { title: 'Reference', cell: ({ referenceNumber }) => referenceNumber },
  {
    title: 'Status',
    cell: ({ status, failureReason }) => (
      <>
        <StatusBadge state={status} />
        {failureReason && (
          <Text size="xs" c="dimmed">
            {wordy(failureReason)}
          </Text>
        )}
      </>
    ),
  },
  { title: 'Reason', cell: ({ reason }) => reason ?? '–' },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} fw={600} /> },
  { title: 'Requested', cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

export function Payment() {
  const { paymentId = '' } = useParams({ strict: false })
  const payment = useQuery({ queryKey: ['payments', paymentId], queryFn: () => load(paymentId) })
  return (
    <Page
      title={payment.data ? `UTR ${payment.data.utr}` : 'Payment'}
      badge={payment.data && <StatusBadge state={payment.data.status} />}
      trail={[{ to: '/payments', label: 'Payments' }]}
      actions={
        payment.data?.status === 'ACCEPTED' && <RefundForm paymentId={paymentId} detail={payment.data} />
      }
    >
      <Loaded query={payment}>
        {(detail) => (
          <>
            <Section title="About">
              <Facts facts={factsOf(detail)} />
            </Section>
            <Section title="Refunds">
              {detail.refunds?.length ? (
                <DataTable
                  caption="Refunds of this payment"
                  columns={REFUNDS}
                  rows={detail.refunds}
                  rowKey={({ refundId }) => refundId}
                />
              ) : (
                <Text c="dimmed">None.</Text>
              )}
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const factsOf = (detail: Detail) => [
  { label: 'Amount', value: <Money amount={detail.amount} fw={600} /> },
  { label: 'Received', value: <Instant at={detail.createdOn} long /> },
  { label: 'Bank’s time', value: <Instant at={detail.transactionOn} /> },
  { label: 'Reason', value: detail.reason && wordy(detail.reason) },
  { label: 'Payer', value: detail.payerVpa },
  { label: 'Reference', value: detail.referenceNumber },
  {
    label: 'QR code',
    value: detail.qrCodeId !== undefined && <ThingLink kind="qrCode" id={detail.qrCodeId} />,
  },
  { label: 'Payment id', value: <Id id={detail.paymentId} what="payment id" /> },
  {
    label: 'Disputed',
    value: detail.disputedAmount !== undefined && <Money amount={detail.disputedAmount} />,
  },
]

/** In paise, so that no rest comes out as 0.30000000000000004. */
const restOf = ({ amount, refundedAmount = 0, disputedAmount = 0 }: Detail): string =>
  (
    (Math.round(amount * 100) - Math.round(refundedAmount * 100) - Math.round(disputedAmount * 100)) /
    100
  ).toFixed(2)

function RefundForm({ paymentId, detail }: { readonly paymentId: string; readonly detail: Detail }) {
  const { can } = useMember()
  if (!can('operator') || Number(restOf(detail)) <= 0) return undefined
  return (
    <FormDialog
      label="Refund"
      send="Refund"
      variant="default"
      initial={{ amount: restOf(detail), referenceNumber: '', reason: '', key: newIdempotencyKey() }}
      rules={{
        amount: (value: string) => (readRupees(value) ? null : 'Rupees with at most two decimals'),
        referenceNumber: needed,
      }}
      fields={(form) => (
        <>
          <Text size="sm" c="dimmed">
            Goes back to the payer, out of what you are owed. This cannot be undone.
          </Text>
          <TextInput
            label="Amount in rupees"
            inputMode="decimal"
            leftSection="₹"
            {...form.getInputProps('amount')}
          />
          <TextInput
            label="Your reference"
            description="One reference is refunded once"
            data-autofocus
            {...form.getInputProps('referenceNumber')}
          />
          <TextInput label="Reason" {...form.getInputProps('reason')} />
        </>
      )}
      submit={async ({ amount, referenceNumber, reason, key }) => {
        await payloadOf(
          api.POST('/payments/{paymentId}/refunds', {
            params: { path: { paymentId }, header: { 'Idempotency-Key': key } },
            body: {
              amount: Number(readRupees(amount)),
              referenceNumber: referenceNumber.trim(),
              ...(reason.trim() && { reason: reason.trim() }),
            },
          }),
        )
        await changed('payments')
      }}
    />
  )
}
