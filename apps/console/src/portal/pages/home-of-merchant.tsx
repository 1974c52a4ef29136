import { Badge, Grid, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { responseOf } from '../../api.ts'
import { ConfirmAction } from '../../parts/confirm-action.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Figures } from '../../parts/figures.tsx'
import { dayText, Instant } from '../../parts/instant.tsx'
import { count, counted, Money, rupees, sumOf } from '../../parts/money.tsx'
import { Id, ObjectLink } from '../../parts/object-link.tsx'
import { Facts, Section } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { queryClient } from '../../session.ts'
import { api, getList, payloadOf, type Schemas } from '../api.ts'
import { useMember } from '../session.ts'
import { ByDay, More, SetUp, shortDay, Waits } from './home-parts.tsx'
import { PAYMENT_COLUMNS, type PaymentRow } from './payments.tsx'

type Home = Schemas['MerchantOverview']

export function MerchantHome({ home }: { readonly home: Home }) {
  return (
    <>
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <NextPayout home={home} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Waits waits={home.waits} />
        </Grid.Col>
      </Grid>
      <Today home={home} />
      <ByDay
        title="Gross by day"
        of="Gross"
        one="payment"
        days={home.days}
        none="No payments yet in these 30 days."
        aside={<More to="/payments">Payments</More>}
      />
      <JustNow />
      <SetUp steps={home.setUp} />
      <ForPrograms home={home} />
    </>
  )
}

const minus = (amount: string): string => (Number(amount) === 0 ? amount : `-${amount}`)

function NextPayout({ home: { nextPayout: next } }: { readonly home: Home }) {
  const { account, adjustments, amount, fees, payments, preparedOn, refunds, tax, unsettled } = next
  const parts: readonly (readonly [string, string])[] = [
    [counted(payments.count, 'payment'), payments.amount],
    ...(adjustments.count > 0 ? [['Adjustments', adjustments.amount] as const] : []),
    [counted(refunds.count, 'refund or dispute', 'refunds and disputes'), minus(refunds.amount)],
    ['Fees', minus(fees)],
    ['GST on fees', minus(tax)],
  ]
  return (
    <Section
      title="Next payout"
      aside={preparedOn && <Badge variant="light">Bank day {dayText(preparedOn)}</Badge>}
    >
      <Money amount={amount} fz={28} fw={600} lh="36px" data-testid="next-payout" />
      <Text size="sm" c="dimmed">
        {account ? `to ••${account.ends}, ${account.holder}` : 'No bank account is set'}
        {`, for payments until the end of ${dayText(next.day)}`}
      </Text>
      <Grid gap="xl" mt="sm">
        <Grid.Col span={{ base: 12, sm: 7 }}>
          <table className="adds-up" aria-label="How the next payout adds up">
            <tbody>
              {parts.map(([label, part]) => (
                <tr key={label}>
                  <th scope="row">{label}</th>
                  <td>{rupees(part)}</td>
                </tr>
              ))}
              <tr style={{ fontWeight: 600 }}>
                <th scope="row">{next.isOver ? 'Is paid out' : 'Until now'}</th>
                <td>{rupees(amount)}</td>
              </tr>
            </tbody>
          </table>
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 5 }}>
          <PayoutsBefore />
        </Grid.Col>
      </Grid>
      <PayoutNotes next={next} />
      {unsettled.count > 0 && (
        <Text size="xs" c="dimmed" mt="xs">
          {rupees(unsettled.amount)} of these payments has not come from the bank yet. What has not come by
          the bank day is in the payout after it.
        </Text>
      )}
    </Section>
  )
}

/** Why the sum may not be paid out as it is. */
function PayoutNotes({ next }: { readonly next: Home['nextPayout'] }) {
  const { account, amount, minimum = '0.00', preparedOn } = next
  const notes = [
    ...(preparedOn ? [] : ['No schedule is set: the operator prepares your payouts.']),
    ...(account ? [] : ['Nothing is paid out before the operator has your bank account.']),
    ...(Number(amount) < 0 ? ['Refunds and fees exceed payments: the difference is carried forward.'] : []),
    ...(Number(amount) >= 0 && Number(amount) < Number(minimum)
      ? [`Below ${rupees(minimum)} nothing is paid out: it is in the payout after it.`]
      : []),
  ]
  return notes.map((note) => (
    <Text key={note} size="xs" c="dimmed" mt="xs">
      {note}
    </Text>
  ))
}

function PayoutsBefore() {
  const payouts = useQuery({
    queryKey: ['payouts', 'last'],
    queryFn: () => payloadOf(api.GET('/payouts', { params: { query: { limit: 4 } } })),
  })
  const rows = payouts.data?.data ?? []
  if (rows.length === 0) return undefined
  return (
    <table className="adds-up" aria-label="Payouts before">
      <tbody>
        {rows.map(({ amount, businessDay, payoutId, status }) => (
          <tr key={payoutId}>
            <th scope="row">
              <Group gap="xs" wrap="nowrap">
                <ObjectLink kind="payout" id={payoutId}>
                  {shortDay(businessDay)}
                </ObjectLink>
                <StatusBadge state={status} />
              </Group>
            </th>
            <td>{rupees(amount)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Today({ home }: { readonly home: Home }) {
  const { grossOfMonth, refundsOfMonth, refundsUnderWay, today } = home
  const before = Number(today.weekBefore)
  const change = before === 0 ? undefined : Math.round((Number(today.amount) / before - 1) * 100)
  const share = Number(grossOfMonth) === 0 ? 0 : (Number(refundsOfMonth.amount) / Number(grossOfMonth)) * 100
  return (
    <Figures
      figures={[
        {
          label: 'Today, gross',
          value: rupees(today.amount),
          note: `${counted(today.count, 'payment')}${
            change === undefined ? '' : `, ${change < 0 ? '−' : '+'}${Math.abs(change)} % on a week ago`
          }`,
        },
        {
          label: 'Fee and GST',
          value: rupees(sumOf([today.fees, today.tax])),
          note: `${rupees(today.fees)} and ${rupees(today.tax)}`,
        },
        { label: 'Net of today', value: rupees(today.net), note: 'before refunds' },
        {
          label: 'Refunded this month',
          value: `${share.toFixed(1)} %`,
          note: `${rupees(refundsOfMonth.amount)}, ${counted(refundsOfMonth.count, 'refund')}`,
        },
        {
          label: 'Refunds under way',
          value: count(refundsUnderWay.count),
          note: rupees(refundsUnderWay.amount),
        },
      ]}
    />
  )
}

const LIVE_MS = 5_000
const LIVE_ROWS = 5
const newest = getList<PaymentRow>('/payments')

/** The newest payments, which arrive while the page is open. */
function JustNow() {
  const payments = useQuery({
    queryKey: ['payments', 'newest'],
    queryFn: () => newest({ limit: String(LIVE_ROWS) }),
    refetchInterval: LIVE_MS,
  })
  const rows = (payments.data?.data ?? []).slice(0, LIVE_ROWS)
  return (
    <Section
      title="Just now"
      aside={
        <Group gap="md">
          <More to="/qr-codes">QR codes</More>
          <More to="/payments">All payments</More>
        </Group>
      }
    >
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          No payments yet. They appear here as they arrive.
        </Text>
      ) : (
        <DataTable
          caption="Newest payments"
          columns={PAYMENT_COLUMNS}
          rows={rows}
          rowKey={({ paymentId }) => paymentId}
        />
      )}
    </Section>
  )
}

async function withdraw() {
  await responseOf(api.DELETE('/next-payment-address'))
  await queryClient.invalidateQueries({ queryKey: ['overview'] })
}

function ForPrograms({ home: { accessKey, nextVpa, nextVpaOn, vpa } }: { readonly home: Home }) {
  const { can, tenantId } = useMember()
  return (
    <Section title="For your programs">
      <Facts
        facts={[
          { label: 'Merchant id', value: <Id id={tenantId} what="merchant id" /> },
          { label: 'merchantAccessKey', value: <Id id={accessKey} what="merchantAccessKey" /> },
          { label: 'UPI address', value: vpa },
          ...(nextVpa
            ? [
                {
                  label: 'Next UPI address',
                  value: (
                    <>
                      {nextVpa}, entered by an operator, holds from <Instant at={nextVpaOn} long />
                    </>
                  ),
                },
              ]
            : []),
        ]}
      />
      {nextVpa && can('admin') && (
        <ConfirmAction label="Take back" confirm="Keep the present address" danger run={withdraw}>
          New QR codes stay with {vpa}. Do this if you did not ask for {nextVpa}, and notify the operator.
        </ConfirmAction>
      )}
    </Section>
  )
}
