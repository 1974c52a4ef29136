import { Grid, Text } from '@mantine/core'
import { DataTable } from '../../parts/data-table.tsx'
import { Figures } from '../../parts/figures.tsx'
import { Instant } from '../../parts/instant.tsx'
import { count, counted, Money, rupees } from '../../parts/money.tsx'
import { Id, ObjectLink } from '../../parts/object-link.tsx'
import { Facts, Section } from '../../parts/page.tsx'
import { productLabel } from '../../words.ts'
import type { Schemas } from '../api.ts'
import { useMember } from '../session.ts'
import { ByDay, More, SetUp, Waits } from './home-parts.tsx'

type Home = Schemas['PartnerOverview']

export function PartnerHome({ home }: { readonly home: Home }) {
  const { tenantId } = useMember()
  const { accounts, balance, onCards } = home
  return (
    <>
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Section title="Balance of your card accounts">
            <Money amount={balance} fz={28} fw={600} lh="36px" />
            <Text size="sm" c="dimmed">
              on {counted(accounts, 'card account')}, for new cards and loads; {rupees(onCards)} more is on
              cards
            </Text>
            <Fundings fundings={home.fundings} />
          </Section>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Waits waits={home.waits} />
        </Grid.Col>
      </Grid>
      <Sums home={home} />
      <ByDay
        title="Spent by day"
        of="Spent"
        one="purchase"
        days={home.days}
        none="Nothing was spent in these 30 days."
      />
      <SetUp steps={home.setUp} />
      <Section title="For your programs" aside={<More to="/encryption-keys">Encryption keys</More>}>
        <Facts
          facts={[
            { label: 'partnerId', value: <Id id={tenantId} what="partnerId" /> },
            { label: 'Products', value: home.products.map(productLabel).join(', ') },
          ]}
        />
      </Section>
    </>
  )
}

function Sums({ home }: { readonly home: Home }) {
  const { cards, coins, declined, loaded, spent } = home
  return (
    <Figures
      figures={[
        { label: 'Cards', value: count(cards.all), note: `${count(cards.usable)} unlocked` },
        {
          label: 'Loaded in 30 days',
          value: rupees(loaded.amount),
          note: counted(loaded.count, 'load'),
        },
        {
          label: 'Spent in 30 days',
          value: rupees(spent.amount),
          note: counted(spent.count, 'purchase'),
        },
        {
          label: 'Declined in 30 days',
          value: count(declined.count),
          note: rupees(declined.amount),
        },
        {
          label: 'Coins that users hold',
          value: count(coins.active),
          note: `${counted(coins.users, 'user')}, ${count(coins.pending)} pending`,
        },
      ]}
    />
  )
}

function Fundings({ fundings }: Pick<Home, 'fundings'>) {
  if (fundings.length === 0)
    return (
      <Text size="sm" c="dimmed" mt="sm">
        No funding is under way.
      </Text>
    )
  return (
    <>
      <Text size="sm" mt="sm" mb="xs">
        Under way: reported by the bank, and to be approved by a second person of the operator.
      </Text>
      <DataTable
        caption="Funding under way"
        columns={[
          {
            title: 'Card account',
            cell: ({ accountId, name }) => (
              <ObjectLink kind="cardAccount" id={accountId}>
                {name}
              </ObjectLink>
            ),
          },
          { title: 'Reference', cell: ({ reference }) => reference },
          { title: 'Amount', align: 'right', cell: ({ amount }) => <Money amount={amount} /> },
          { title: 'Since', cell: ({ since }) => <Instant at={since} /> },
        ]}
        rows={fundings}
        rowKey={({ accountId, reference }) => accountId + reference}
      />
    </>
  )
}
