import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Day, Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Money } from '../parts/money.tsx'
import { Facts, Section } from '../parts/page.tsx'
import { useSession } from '../session.ts'
import { ChangeRequests } from './change-requests.tsx'
import { SetBankAccount, SetFee } from './payout-terms-forms.tsx'

type Terms = Schemas['PayoutTerms']

const FEES: readonly Column<Schemas['MerchantFee']>[] = [
  { title: 'From', cell: ({ validFrom }) => <Day day={validFrom} /> },
  { title: 'Of the amount', align: 'right', cell: ({ percent }) => `${percent} %` },
  { title: 'For each payment', align: 'right', cell: ({ fixed }) => <Money amount={fixed} /> },
]

/** Where the money of a merchant goes, what it is charged, and when its payouts are prepared. */
export function PayoutTerms({ merchantId }: { readonly merchantId: string }) {
  const query = useQuery({
    queryKey: ['merchants', merchantId, 'payout-terms'],
    queryFn: () =>
      responseOf(api.GET('/merchants/{merchantId}/payout-terms', { params: { path: { merchantId } } })),
  })
  const { can } = useSession()
  const aside = can('finance') && (
    <Group gap="xs">
      <SetBankAccount merchantId={merchantId} bankAccount={query.data?.bankAccount} />
      <SetFee merchantId={merchantId} />
    </Group>
  )
  return (
    <>
      <ChangeRequests merchantId={merchantId} />
      <Section title="Bank account and fees" aside={aside}>
        <Loaded query={query}>
          {(terms) => (
            <>
              <BankAccount terms={terms} />
              {terms.fees.length === 0 ? (
                <Text c="dimmed" size="sm">
                  It is charged nothing.
                </Text>
              ) : (
                <DataTable
                  caption="Fees"
                  columns={FEES}
                  rows={terms.fees}
                  rowKey={({ validFrom }) => validFrom}
                />
              )}
              <Schedules schedules={terms.schedules} />
            </>
          )}
        </Loaded>
      </Section>
    </>
  )
}

const SCHEDULES: readonly Column<Schemas['PayoutSchedule']>[] = [
  { title: 'From', cell: ({ from }) => <Day day={from} /> },
  { title: 'Every', cell: ({ every, on }) => (on === undefined ? every : `${every}, on ${on}`) },
  { title: 'Bank days after', align: 'right', cell: ({ after }) => after },
  { title: 'Minimum', align: 'right', cell: ({ minimum }) => <Money amount={minimum} /> },
  { title: 'Period ends', cell: ({ periodEnds }) => periodEnds && <Day day={periodEnds} /> },
  { title: 'Payout prepared', cell: ({ preparedOn }) => preparedOn && <Day day={preparedOn} /> },
]

function Schedules({ schedules }: { readonly schedules: readonly Schemas['PayoutSchedule'][] }) {
  if (schedules.length === 0) return <Text size="sm">Its payouts are prepared by people.</Text>
  return (
    <DataTable caption="Payout schedule" columns={SCHEDULES} rows={schedules} rowKey={({ from }) => from} />
  )
}

function BankAccount({ terms: { bankAccount } }: { readonly terms: Terms }) {
  if (!bankAccount) return <Text size="sm">Without a bank account nothing is paid out to it.</Text>
  const { ends, gstState, holder, ifsc, updatedOn } = bankAccount
  return (
    <Facts
      facts={[
        { label: 'Holder', value: holder },
        { label: 'Account', value: `ending in ${ends}` },
        { label: 'IFSC', value: ifsc },
        { label: 'GST state', value: gstState ?? 'Not known: taxed within one state' },
        { label: 'Set', value: <Instant at={updatedOn} long /> },
      ]}
    />
  )
}
