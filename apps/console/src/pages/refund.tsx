import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { History } from '../parts/history.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Money } from '../parts/money.tsx'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { RefundActions } from './refund-actions.tsx'

export function Refund() {
  const { refundId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['refunds', refundId],
    queryFn: () => responseOf(api.GET('/refunds/{refundId}', { params: { path: { refundId } } })),
    // The bank confirms it while the page is open.
    refetchInterval: 5_000,
  })
  const refund = query.data
  return (
    <Page
      title={refund ? `Refund ${refund.referenceNumber}` : 'Refund'}
      badge={refund && <StatusBadge state={refund.status} />}
      trail={[{ to: '/refunds', label: 'Refunds' }]}
      actions={refund && <RefundActions refund={refund} />}
    >
      <Loaded query={query}>
        {(detail) => (
          <>
            <About refund={detail} />
            <Section title="What happened">
              <History entries={detail.history} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

function About({ refund }: { readonly refund: Schemas['RefundDetail'] }) {
  const { merchantId, merchantName, payoutId } = refund
  return (
    <Section title="About">
      <Facts
        facts={[
          { label: 'Amount', value: <Money amount={refund.amount} fw={700} /> },
          { label: 'Refund id', value: <Id id={refund.refundId} what="refund id" /> },
          { label: 'Payment', value: <ObjectLink kind="payment" id={refund.paymentId} /> },
          {
            label: 'Merchant',
            value: (
              <ObjectLink kind="merchant" id={merchantId}>
                {merchantName}
              </ObjectLink>
            ),
          },
          { label: 'Reference number', value: refund.referenceNumber },
          { label: 'Reason', value: refund.reason },
          {
            label: 'UTR of the refund',
            value: refund.utr && <Id id={refund.utr} what="UTR of the refund" />,
          },
          { label: 'Why it failed', value: refund.failureReason },
          { label: 'Requested', value: <Instant at={refund.createdOn} long /> },
          { label: 'Sent to the bank', value: refund.sentOn && <Instant at={refund.sentOn} long /> },
          {
            label: 'Deducted from the payout',
            value: payoutId && <ObjectLink kind="payout" id={payoutId} />,
          },
          { label: 'Completed', value: refund.completedOn && <Instant at={refund.completedOn} long /> },
        ]}
      />
    </Section>
  )
}
