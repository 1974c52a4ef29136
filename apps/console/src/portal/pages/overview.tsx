import { Anchor, Button, List, SimpleGrid, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { responseOf } from '../../api.ts'
import { ConfirmAction } from '../../parts/confirm-action.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { counted, Money } from '../../parts/money.tsx'
import { Id } from '../../parts/object-link.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { queryClient } from '../../session.ts'
import { productLabel } from '../../words.ts'
import { api, type Schemas } from '../api.ts'
import { useMember } from '../session.ts'

export function Overview() {
  const { tenantName } = useMember()
  const overview = useQuery({
    queryKey: ['overview'],
    queryFn: () => responseOf(api.GET('/overview')),
    refetchInterval: 15_000,
  })
  return (
    <Page title={tenantName}>
      <Loaded query={overview}>
        {({ merchant, partner }) => (
          <>
            {merchant && <OfMerchant merchant={merchant} />}
            {partner && <OfPartner products={partner.products} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Tile({ label, amount, note }: { label: string; amount: string; note?: string }) {
  return (
    <Section title={label}>
      <Money amount={amount} fz="xl" fw={700} />
      {note && (
        <Text size="sm" c="dimmed">
          {note}
        </Text>
      )}
    </Section>
  )
}

const payments = ({ count: many }: { count: number }) => counted(many, 'payment')

async function withdraw() {
  await responseOf(api.DELETE('/next-payment-address'))
  await queryClient.invalidateQueries({ queryKey: ['overview'] })
}

function OfMerchant({ merchant }: { readonly merchant: Schemas['MerchantOverview'] }) {
  const { can, tenantId } = useMember()
  const { today, yesterday, payable, vpa, nextVpa, nextVpaOn, accessKey } = merchant
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <Tile label="Accepted today" amount={today.amount} note={payments(today)} />
        <Tile label="Accepted yesterday" amount={yesterday.amount} note={payments(yesterday)} />
        <Tile label="Owed to you" amount={payable} note="Goes out with the next payouts" />
      </SimpleGrid>
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
      <FirstSteps first={{ to: '/qr-codes', label: 'Create a QR code', why: 'print it, and be paid' }} />
    </>
  )
}

function OfPartner({ products }: { readonly products: readonly string[] }) {
  const { tenantId } = useMember()
  return (
    <>
      <Section title="For your programs">
        <Facts
          facts={[
            { label: 'partnerId', value: <Id id={tenantId} what="partnerId" /> },
            { label: 'Products', value: products.map(productLabel).join(', ') },
          ]}
        />
      </Section>
      <FirstSteps
        first={{ to: '/companies', label: 'Register a company', why: 'then its users and card accounts' }}
      />
    </>
  )
}

interface FirstStepsProps {
  readonly first: { readonly to: string; readonly label: string; readonly why: string }
}

function FirstSteps({ first: { to, label, why } }: FirstStepsProps) {
  return (
    <Section
      title="Next steps"
      aside={
        <Button component="a" href="/docs" variant="default" size="compact-sm">
          API reference
        </Button>
      }
    >
      <List size="sm">
        <List.Item>
          <Anchor inherit underline="always" component={Link} to={to}>
            {label}
          </Anchor>
          , {why}
        </List.Item>
        <List.Item>
          <Anchor inherit underline="always" component={Link} to={'/credentials' as string}>
            Issue an API key
          </Anchor>{' '}
          for your programs
        </List.Item>
        <List.Item>
          <Anchor inherit underline="always" component={Link} to={'/webhooks' as string}>
            Add a webhook
          </Anchor>
          , to learn at once what happens
        </List.Item>
        <List.Item>
          <Anchor inherit underline="always" component={Link} to={'/members' as string}>
            Invite colleagues
          </Anchor>
        </List.Item>
      </List>
    </Section>
  )
}
