import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { once } from '../form-key.ts'
import { keptReference, withReference } from '../kept-reference.ts'
import { PLATFORM_TENANT } from '../objects.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { History } from '../parts/history.tsx'
import { Day, Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Money } from '../parts/money.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Reveal } from '../parts/personal-data.tsx'
import { RefundForm } from '../parts/refund-form.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'
import { AdjustPayment } from './adjust-payment.tsx'
import { ConfirmReturn } from './confirm-return.tsx'
import { SuspenseActions, Unassign } from './suspense-actions.tsx'

type Detail = Schemas['PaymentDetailInConsole']

export function Payment() {
  const { paymentId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['payments', paymentId],
    queryFn: () => responseOf(api.GET('/payments/{paymentId}', { params: { path: { paymentId } } })),
    // Refunds and deliveries go on while the page is open.
    refetchInterval: 5_000,
  })
  const payment = query.data
  return (
    <Page
      title={payment ? `Payment ${payment.utr}` : 'Payment'}
      badge={payment && <StatusBadge state={payment.status} />}
      trail={[{ to: '/payments', label: 'Payments' }]}
      actions={
        query.data && (
          <>
            <SuspenseActions row={query.data} toAny={query.data.isReadByHand} />
            <Unassign detail={query.data} />
            <ConfirmReturn row={query.data} />
            <AdjustPayment detail={query.data} />
            <Refund detail={query.data} />
          </>
        )
      }
    >
      <Loaded query={query}>
        {(detail) => (
          <>
            <About detail={detail} />
            <Refunds refunds={detail.refunds} />
            <Adjustments adjustments={detail.adjustments} />
            <Section title="What happened">
              <History entries={detail.history} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** On behalf of the merchant. */
function Refund({ detail: payment }: { readonly detail: Detail }) {
  const { can } = useSession()
  const { merchantId, refunds } = payment
  if (payment.status !== 'ACCEPTED' || merchantId === PLATFORM_TENANT || !can('finance')) return undefined
  const { paymentId, utr } = payment
  return (
    <RefundForm
      payment={payment}
      note="Goes back to the payer, out of what is payable to the merchant."
      reference={keptReference(paymentId, `${utr}-${refunds.length + 1}`)}
      needsReason
      refund={async ({ amount, referenceNumber, reason, key }) => {
        const refunded = await withReference(paymentId, referenceNumber, () =>
          responseOf(
            api.POST('/payments/{paymentId}/refunds', {
              params: { path: { paymentId }, header: once(key) },
              body: { amount, referenceNumber, reason },
            }),
          ),
        )
        if ('approvalId' in refunded) notifyWaiting(refunded.amount)
        await queryClient.invalidateQueries({ queryKey: ['payments'] })
      }}
    />
  )
}

function About({ detail: payment }: { readonly detail: Detail }) {
  const { merchantId, merchantName, payoutId, settlement, tr } = payment
  return (
    <Section title="About" aside={<Reveal id={payment.paymentId} shown={payment} />}>
      <Facts
        facts={[
          { label: 'Amount', value: <Money amount={payment.amount} fw={700} /> },
          {
            label: 'Corrected amount',
            value: payment.adjustedAmount !== undefined && <Money amount={payment.adjustedAmount} fw={700} />,
          },
          { label: 'Refunded by the merchant', value: <Money amount={payment.refundedAmount ?? 0} /> },
          { label: 'Payment id', value: <Id id={payment.paymentId} what="payment id" /> },
          { label: 'UTR', value: <Id id={payment.utr} what="UTR" /> },
          {
            label: 'Merchant',
            value: merchantName && (
              <ObjectLink kind="merchant" id={merchantId}>
                {merchantName}
              </ObjectLink>
            ),
          },
          {
            label: 'QR code',
            value: payment.qrCodeId && (
              <ObjectLink kind="qrCode" id={payment.qrCodeId}>
                {payment.qrName}
              </ObjectLink>
            ),
          },
          { label: 'Paid to (tr)', value: tr && <Id id={tr} what="tr" /> },
          { label: 'Reference number', value: payment.referenceNumber },
          { label: 'Payer', value: payment.payerVpa },
          { label: 'Why it was not accepted', value: payment.reason && sentenceCase(payment.reason) },
          {
            label: 'Paid by the customer',
            value: payment.transactionOn && <Instant at={payment.transactionOn} long />,
          },
          { label: 'Received', value: <Instant at={payment.createdOn} long /> },
          { label: 'Settled by the bank', value: settlement && <Settlement line={settlement} /> },
          {
            label: 'Paid out to the merchant',
            value: payoutId && <ObjectLink kind="payout" id={payoutId} />,
          },
          ...Object.entries(payment.customParams ?? {}).map(([name, value]) => ({
            label: `Custom: ${name}`,
            value,
          })),
        ]}
      />
    </Section>
  )
}

function Settlement({ line }: { readonly line: NonNullable<Detail['settlement']> }) {
  return (
    <>
      <Money amount={line.amount} /> on <Day day={line.settledOn} />
      {line.batchId && (
        <>
          , in transfer{' '}
          <ObjectLink kind="settlement" id={line.batchId}>
            {line.batchUtr}
          </ObjectLink>
        </>
      )}
      {line.status === 'DIFFERS' && ', which differs from the payment'}
    </>
  )
}

const REFUNDS: readonly Column<Schemas['Refund']>[] = [
  {
    title: 'Refund',
    cell: ({ refundId, referenceNumber }) => (
      <ObjectLink kind="refund" id={refundId}>
        {referenceNumber}
      </ObjectLink>
    ),
  },
  { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} fw={600} /> },
  { title: 'Status', cell: ({ status }) => <StatusBadge state={status} /> },
  { title: 'Why', cell: ({ reason, failureReason }) => failureReason ?? reason ?? '–' },
  { title: 'Requested', cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

const ADJUSTMENTS: readonly Column<Schemas['AdjustmentInConsole']>[] = [
  { title: 'Reference', cell: ({ reference }) => reference },
  { title: 'Amount from then on', align: 'right', cell: ({ amount }) => <Money amount={amount} fw={600} /> },
  { title: 'Change', align: 'right', cell: ({ change }) => <Money amount={change} signed /> },
  { title: 'Why', cell: ({ reason }) => reason },
  { title: 'Entered', cell: ({ createdOn }) => <Instant at={createdOn} /> },
]

function Adjustments({ adjustments }: { readonly adjustments: readonly Schemas['AdjustmentInConsole'][] }) {
  if (adjustments.length === 0) return undefined
  return (
    <Section title="Corrections of the amount">
      <DataTable
        caption="Corrections of the amount"
        columns={ADJUSTMENTS}
        rows={adjustments}
        rowKey={({ adjustmentId }) => adjustmentId}
      />
    </Section>
  )
}

function Refunds({ refunds }: { readonly refunds: readonly Schemas['Refund'][] }) {
  return (
    <Section title="Refunds">
      {refunds.length === 0 ? (
        <Text c="dimmed" size="sm">
          None.
        </Text>
      ) : (
        <DataTable caption="Refunds" columns={REFUNDS} rows={refunds} rowKey={({ refundId }) => refundId} />
      )}
    </Section>
  )
}
