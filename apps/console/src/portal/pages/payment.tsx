import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { responseOf } from '../../api.ts'
import { once } from '../../form-key.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Day, dayText, Instant } from '../../parts/instant.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Money, rupees } from '../../parts/money.tsx'
import { Id, ObjectLink } from '../../parts/object-link.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { RefundForm } from '../../parts/refund-form.tsx'
import { RefundStatus } from '../../parts/refund-status.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { sentenceCase } from '../../words.ts'
import { api, payloadOf } from '../api.ts'
import { changed, useMember } from '../session.ts'

const load = (paymentId: string) =>
  payloadOf(api.GET('/payments/{paymentId}', { params: { path: { paymentId } } }))
const loadArrival = (paymentId: string) =>
  responseOf(api.GET('/payments/{paymentId}/arrival', { params: { path: { paymentId } } }))
type Found = Awaited<ReturnType<typeof loadArrival>>
type Detail = Awaited<ReturnType<typeof load>>
type Refund = NonNullable<Detail['refunds']>[number]

const REFUNDS: readonly Column<Refund>[] = [
  { title: 'Reference', cell: ({ referenceNumber }) => referenceNumber },
  {
    title: 'Status',
    cell: (refund) => <RefundStatus refund={refund} />,
  },
  { title: 'Reason', cell: ({ reason }) => reason ?? '–' },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} fw={600} /> },
  { title: 'Requested', cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

export function Payment() {
  const { paymentId = '' } = useParams({ strict: false })
  const payment = useQuery({ queryKey: ['payments', paymentId], queryFn: () => load(paymentId) })
  const found = useQuery({
    queryKey: ['payments', paymentId, 'arrival'],
    queryFn: () => loadArrival(paymentId),
  })
  return (
    <Page
      title={payment.data ? `UTR ${payment.data.utr}` : 'Payment'}
      badge={payment.data && <StatusBadge state={payment.data.status} />}
      trail={[{ to: '/payments', label: 'Payments' }]}
      actions={payment.data?.status === 'ACCEPTED' && <Refund paymentId={paymentId} detail={payment.data} />}
    >
      <Loaded query={payment}>
        {(detail) => (
          <>
            {detail.status === 'ACCEPTED' && (
              <Section title="What arrives">
                <Loaded query={found}>{(arrival) => <Arrival detail={detail} found={arrival} />}</Loaded>
              </Section>
            )}
            <Section title="About">
              <Facts facts={factsOf(detail, found.data)} />
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

const STATES: Readonly<Record<string, string>> = {
  PREPARED: 'prepared',
  APPROVED: 'approved',
  SENT: 'on its way',
  PAID: 'paid',
}

/** What is left of the payment, and by which payout it comes. */
function Arrival({
  detail,
  found: { arrival, disputes },
}: {
  readonly detail: Detail
  readonly found: Found
}) {
  if (!arrival) return undefined
  const { expectedOn, fee, net, payout, tax } = arrival
  return (
    <Facts
      cols={4}
      facts={[
        { label: 'Arrives, after fee and GST', value: <Money amount={net} fw={700} fz="xl" /> },
        { label: 'Fee', value: <Money amount={fee} /> },
        { label: 'GST on the fee', value: <Money amount={tax} /> },
        payout
          ? {
              label: `Payout, ${STATES[payout.status] ?? sentenceCase(payout.status)}`,
              value: (
                <>
                  <ObjectLink kind="payout" id={payout.payoutId}>
                    Payout of {dayText(payout.businessDay)}
                  </ObjectLink>
                  {payout.completedOn && (
                    <>
                      , <Instant at={payout.completedOn} />
                    </>
                  )}
                </>
              ),
            }
          : {
              label: 'Payout expected',
              value: expectedOn ? <Day day={expectedOn} /> : 'When it is prepared: no schedule is set',
            },
        ...(detail.refundedAmount === undefined
          ? []
          : [{ label: 'Refunded, deducted apart', value: <Money amount={detail.refundedAmount} /> }]),
        ...disputes.map(({ amount, disputeId, status }) => ({
          label: `Dispute, ${sentenceCase(status).toLowerCase()}`,
          value: (
            <ObjectLink kind="dispute" id={disputeId}>
              Dispute of {rupees(amount)}
            </ObjectLink>
          ),
        })),
      ]}
    />
  )
}

const factsOf = (detail: Detail, found: Found | undefined) => [
  { label: 'Amount', value: <Money amount={detail.amount} fw={600} /> },
  { label: 'Received', value: <Instant at={detail.createdOn} long /> },
  { label: 'Bank’s time', value: <Instant at={detail.transactionOn} /> },
  { label: 'Reason', value: detail.reason && sentenceCase(detail.reason) },
  { label: 'Payer', value: detail.payerVpa },
  { label: 'Reference', value: detail.referenceNumber },
  {
    label: 'QR code',
    value: detail.qrCodeId !== undefined && (
      <ObjectLink kind="qrCode" id={detail.qrCodeId}>
        {found?.qrName}
      </ObjectLink>
    ),
  },
  { label: 'Payment id', value: <Id id={detail.paymentId} what="payment id" /> },
  {
    label: 'Disputed',
    value: detail.disputedAmount !== undefined && <Money amount={detail.disputedAmount} />,
  },
]

function Refund({ paymentId, detail }: { readonly paymentId: string; readonly detail: Detail }) {
  const { can } = useMember()
  if (!can('operator')) return undefined
  return (
    <RefundForm
      payment={detail}
      note="Goes back to the payer, out of what you are owed."
      refund={async ({ amount, referenceNumber, reason, key }) => {
        await payloadOf(
          api.POST('/payments/{paymentId}/refunds', {
            params: { path: { paymentId }, header: once(key) },
            body: { amount, referenceNumber, ...(reason && { reason }) },
          }),
        )
        await changed('payments')
      }}
    />
  )
}
