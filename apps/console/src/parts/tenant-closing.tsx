import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { queryClient, useSession } from '../session.ts'
import { ConfirmAction } from './confirm-action.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { Instant } from './instant.tsx'
import { Loaded } from './loaded.tsx'
import { count, Money } from './money.tsx'
import { Section } from './page.tsx'

type Left = Schemas['Closing']['left'][number]

/** What may be open of a tenant, and what ends it. */
const WORDS: Record<Left['what'], readonly [what: string, remedy: string]> = {
  qr_codes: ['QR codes', 'are being cancelled'],
  payable: ['Payable to the merchant', 'the next payout run pays it out'],
  payouts_in_transit: ['Payouts in transit', 'until the bank confirms them'],
  refunds: ['Refunds to payers', 'until the bank confirms them'],
  suspense: ['Suspense', 'assign or return it'],
  disputes: ['Disputed payments', 'until they are decided'],
  advances: ['Advances to the merchant', 'repaid by the merchant, or written off: Settle on their account'],
  advances_in_credit: ['Advances in the merchant’s favour', 'the next payout run pays them out'],
  card_accounts: ['Card accounts', 'pay it back: Withdraw on each card account'],
  cards: ['Money on cards', 'holders spend it, or it returns'],
  unclaimed: ['Unclaimed', 'returns to the card accounts'],
  card_exceptions: ['Card exceptions', 'settled by the network, or written off: Settle on their account'],
  card_holds: ['Holds on cards', 'captured or expired'],
  bulk_jobs: ['Bulk jobs', 'until they are done'],
  webhook_deliveries: ['Webhook deliveries', 'until they are delivered or given up'],
}

const LEFT: readonly Column<Left>[] = [
  { title: 'Open', cell: ({ what }) => WORDS[what][0] },
  { title: 'How it ends', cell: ({ what }) => WORDS[what][1] },
  {
    title: 'Left',
    align: 'right',
    cell: (left) => (left.amount === undefined ? count(left.count ?? 0) : <Money amount={left.amount} />),
  },
]

/** Closing a merchant or partner that leaves: the button, and what is still open of it. */
export function TenantClosing({ tenantId }: { readonly tenantId: string }) {
  const { can } = useSession()
  const path = { tenantId }
  const query = useQuery({
    queryKey: ['closing', tenantId],
    queryFn: () => responseOf(api.GET('/tenants/{tenantId}/closing', { params: { path } })),
  })
  const close = async (reason: string) => {
    await responseOf(api.POST('/tenants/{tenantId}/closing', { params: { path }, body: { reason } }))
    await queryClient.invalidateQueries()
  }
  return (
    <Section
      title="Closing"
      aside={
        can('administer') &&
        query.data &&
        !query.data.closingOn && (
          <ConfirmAction
            label="Close"
            confirm="Close for good"
            danger
            compact
            withReason
            typed="close"
            run={close}
          >
            It is disabled and its keys and clients are revoked at once; open QR codes are cancelled in the
            background. What is payable is still paid out, and cards of users can still be spent. Once nothing
            is open it is closed.
          </ConfirmAction>
        )
      }
    >
      <Loaded query={query}>
        {({ closingOn, closedOn, left }) => (
          <>
            <Text size="sm">
              {closedOn ? (
                <>
                  Closed since <Instant at={closedOn} />. Books and history are kept.
                </>
              ) : closingOn ? (
                <>
                  Closing since <Instant at={closingOn} />.{' '}
                  {left.length > 0 && 'It is closed once nothing of this is left:'}
                </>
              ) : (
                'For a tenant that leaves. Nothing is deleted.'
              )}
            </Text>
            {closingOn && left.length > 0 && (
              <DataTable caption="Still open" columns={LEFT} rows={left} rowKey={({ what }) => what} />
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}
