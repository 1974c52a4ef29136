import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, apiAt, listAt, responseOf, type Schemas } from '../api.ts'
import { AmountInWords } from '../parts/amount-in-words.tsx'
import type { Column } from '../parts/data-table.tsx'
import { History } from '../parts/history.tsx'
import { dayText, Instant } from '../parts/instant.tsx'
import { List } from '../parts/list-page.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, Money } from '../parts/money.tsx'
import { Id, IdLink, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { StatementButton } from '../parts/statement-button.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { PayoutActions, PayoutWaits } from './payout-actions.tsx'

type Detail = Schemas['PayoutDetail']
type Line = Schemas['PayoutLine']

export function Payout() {
  const { payoutId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['payouts', payoutId],
    queryFn: () => responseOf(api.GET('/payouts/{payoutId}', { params: { path: { payoutId } } })),
    // Another person approves it, and the bank pays it, while the page is open.
    refetchInterval: 5_000,
  })
  const row = query.data
  return (
    <Page
      title={row ? `Payout of ${dayText(row.businessDay)}` : 'Payout'}
      badge={row && <StatusBadge state={row.status} />}
      trail={[{ to: '/payouts', label: 'Payouts' }]}
      actions={
        row && (
          <>
            <StatementButton
              href={`${apiAt}/payouts/${payoutId}/statement.pdf`}
              name={`payout-${row.businessDay}`}
            />
            <PayoutActions row={row} />
          </>
        )
      }
    >
      <Loaded query={query}>
        {(detail) => (
          <>
            <PayoutWaits row={detail} />
            <About detail={detail} />
            <Section title="Payments and refunds in it">
              <List
                name="payout-lines"
                id={payoutId}
                caption="Payments and refunds"
                load={listAt('/payouts/{payoutId}/lines', { payoutId })}
                columns={LINES}
                rowKey={(line) =>
                  `${line.kind} ${line.paymentId ?? line.refundId ?? line.disputeId ?? line.journalId ?? line.adjustmentId}`
                }
                filters={[]}
                empty={<Text c="dimmed">None.</Text>}
              />
            </Section>
            <Section title="What happened">
              <History entries={detail.history} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

function About({ detail: payout }: { readonly detail: Detail }) {
  const { approvedBy, approvedOn, bankAccount, merchantId, merchantName, preparedBy, runId } = payout
  const { adjustments, amount, fees, payments, refunds, tax } = payout
  return (
    <Section title="About">
      <Facts
        facts={[
          {
            label: 'Amount',
            value: (
              <>
                <Money amount={amount} fw={700} fz="lg" />
                <Text size="sm">
                  <AmountInWords amount={amount} />
                </Text>
              </>
            ),
          },
          {
            label: 'Merchant',
            value: (
              <ObjectLink kind="merchant" id={merchantId}>
                {merchantName}
              </ObjectLink>
            ),
          },
          {
            label: 'To the account of',
            value: `${bankAccount.holder}, ending in ${bankAccount.ends}, ${bankAccount.ifsc}`,
          },
          { label: `Payments (${count(payments.count)})`, value: <Money amount={payments.amount} /> },
          {
            label: `Adjustments (${count(adjustments?.count ?? 0)})`,
            value: adjustments && <Money amount={adjustments.amount} />,
          },
          { label: `Refunds (${count(refunds.count)})`, value: <Money amount={refunds.amount} /> },
          { label: 'Fees', value: <Money amount={fees} /> },
          { label: 'CGST', value: <Money amount={tax.cgst} /> },
          { label: 'SGST', value: <Money amount={tax.sgst} /> },
          { label: 'IGST', value: <Money amount={tax.igst} /> },
          { label: 'Prepared', value: <By who={preparedBy} at={payout.createdOn} /> },
          {
            label: 'Approved',
            value: approvedBy && approvedOn && <By who={approvedBy} at={approvedOn} />,
          },
          { label: 'Sent to the bank', value: payout.sentOn && <Instant at={payout.sentOn} long /> },
          { label: 'Run', value: runId && <Id id={runId} what="run id" /> },
          { label: 'UTR of the payout', value: payout.utr && <Id id={payout.utr} what="UTR" /> },
          { label: 'Why it failed or was cancelled', value: payout.failureReason },
          { label: 'Completed', value: payout.completedOn && <Instant at={payout.completedOn} long /> },
          {
            label: 'Returned by the bank',
            value: payout.returnedOn && <Instant at={payout.returnedOn} long />,
          },
          { label: 'Payout id', value: <Id id={payout.payoutId} what="payout id" /> },
        ]}
      />
    </Section>
  )
}

function By({ who, at }: { readonly who: string; readonly at: string }) {
  return (
    <>
      {who}, <Instant at={at} long />
    </>
  )
}

const KINDS: Readonly<Record<Line['kind'], string>> = {
  payment: 'Payment',
  refund: 'Refund',
  refund_failed: 'Refund that failed: returned',
  dispute: 'Dispute',
  dispute_won: 'Dispute that was won: returned',
  opening_balance: 'Opening balance',
  adjustment_up: 'Correction of a payment',
  adjustment_down: 'Correction of a payment',
  advance_settled: 'Advance that was repaid otherwise',
  advance_reopened: 'Advance that is owed again',
  fees_settled: 'Fees that were paid otherwise, or given up',
  credit_note: 'Fees given back by a credit note',
  debit_note: 'A credit note that was taken back by a debit note',
  tds_certificate: 'Tax that the merchant deducted, by a certificate',
}

const LINES: readonly Column<Line>[] = [
  {
    title: 'Line',
    cell: ({ adjustmentId, disputeId, documentId, journalId, paymentId, refundId }) => {
      if (paymentId) return <ObjectLink kind="payment" id={paymentId} />
      if (journalId) return <ObjectLink kind="journal" id={journalId} />
      if (disputeId) return <ObjectLink kind="dispute" id={disputeId} />
      return <IdLink id={refundId ?? adjustmentId ?? documentId ?? ''} />
    },
  },
  { title: 'Kind', cell: ({ kind }) => KINDS[kind] },
  {
    title: 'Amount',
    align: 'right',
    cell: ({ amount, isDeducted }) => <Money amount={isDeducted ? -amount : amount} signed />,
  },
  { title: 'Fee', align: 'right', cell: ({ fee, kind }) => <Charge amount={fee} kind={kind} /> },
  { title: 'CGST', align: 'right', cell: ({ kind, tax }) => <Charge amount={tax.cgst} kind={kind} /> },
  { title: 'SGST', align: 'right', cell: ({ kind, tax }) => <Charge amount={tax.sgst} kind={kind} /> },
  { title: 'IGST', align: 'right', cell: ({ kind, tax }) => <Charge amount={tax.igst} kind={kind} /> },
  { title: 'When', cell: ({ occurredOn }) => <Instant at={occurredOn} /> },
]

/** Payments are charged, refunds and disputes are not. */
function Charge({ amount, kind }: { readonly amount: number; readonly kind: Line['kind'] }) {
  return <Money amount={kind === 'payment' ? amount : undefined} />
}
