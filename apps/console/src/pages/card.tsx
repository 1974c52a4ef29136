import { Anchor, Group, Select, SimpleGrid, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { type FormKey, once } from '../form-key.ts'
import { CardHistory } from '../parts/card-history.tsx'
import { CardLoads } from '../parts/card-loads.tsx'
import { CardMoves } from '../parts/card-moves.tsx'
import { CardTransactions } from '../parts/card-transactions.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { ObjectHistory } from '../parts/history.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import type { CardMoney } from '../parts/load-card.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Money, readRupees } from '../parts/money.tsx'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Page, Section } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Tile } from '../parts/tile.tsx'
import { TransferTable } from '../parts/transfer-list.tsx'
import { queryClient, useSession } from '../session.ts'
import { CardFacts } from './card-facts.tsx'
import { SpendRules } from './spend-rules.tsx'

const LoadCard = lazyPart(async () => (await import('../parts/load-card.tsx')).LoadCard, null)
const ChannelForm = lazyPart(async () => (await import('./card-changes.tsx')).ChannelForm, null)
const KycForm = lazyPart(async () => (await import('./card-changes.tsx')).KycForm, null)
const ActivateCard = lazyPart(async () => (await import('./card-changes.tsx')).ActivateCard, null)
const EndCard = lazyPart(async () => (await import('../parts/end-card.tsx')).EndCard, null)
const CardReturns = lazyPart(async () => (await import('./card-returns.tsx')).CardReturns, null)

type Detail = Schemas['CardDetail']

const changed = async () => {
  await queryClient.invalidateQueries({ queryKey: ['cards'] })
  await queryClient.invalidateQueries({ queryKey: ['ledger'] })
  await queryClient.invalidateQueries({ queryKey: ['history'] })
}

export function Card() {
  const { svcCardId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['cards', svcCardId],
    queryFn: () => responseOf(api.GET('/cards/{svcCardId}', { params: { path: { svcCardId } } })),
  })
  return (
    <Page
      title={query.data?.card.maskedNumber ?? 'Card'}
      badge={query.data && <StatusBadge state={query.data.card.cardStatus.name} />}
      lead={<Id id={svcCardId} what="card id" />}
      trail={[{ to: '/cards', label: 'Cards' }]}
      actions={query.data && <Actions detail={query.data} />}
    >
      <Loaded query={query}>
        {(detail) => (
          <>
            <Figures detail={detail} />
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <CardHistory
                changes={detail.changes}
                createdOn={detail.createdOn}
                partner="the partner"
                operator="an operator"
              />
              <CardFacts.Holder detail={detail} />
            </SimpleGrid>
            <SpendRules svcCardId={svcCardId} />
            <Section title="Transactions">
              <CardTransactions
                svcCardId={svcCardId}
                load={listAt('/card-transactions', {}, { svcCardId })}
                sort="-created"
              />
            </Section>
            <CardLoads id={svcCardId} load={listAt('/card-transactions', {}, { svcCardId })} />
            <CardReturns svcCardId={svcCardId} />
            <Section
              title="Ledger entries"
              aside={
                <Text size="sm">
                  <ObjectLink kind="ledgerAccount" id={detail.ledgerAccountId}>
                    All of its account
                  </ObjectLink>
                </Text>
              }
            >
              <TransferTable accountId={detail.ledgerAccountId} transfers={detail.transfers} />
            </Section>
            <CardFacts.Rest detail={detail} />
            <ObjectHistory id={svcCardId} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Figures({ detail: { card, balance } }: { readonly detail: Detail }) {
  return (
    <Section
      title="Money"
      aside={
        <Group gap="md">
          <Anchor component={Link} to="/requests" search={{ objectId: card.svcCardId } as never} size="sm">
            Requests about it
          </Anchor>
          <Anchor component={Link} to="/audit" search={{ target: card.svcCardId } as never} size="sm">
            Audit
          </Anchor>
        </Group>
      }
    >
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
        <Tile label="Balance" value={<Money amount={balance} />} />
        <Tile label="Loaded" value={<Money amount={`${card.loadAmount}.00`} />} />
        <Tile label="Spent today" value={<Money amount={card.usedDtd} />} />
        <Tile label="This month" value={<Money amount={card.usedMtd} />} />
        <Tile label="This year" value={<Money amount={card.usedYtd} />} />
        <Tile label="Ever" value={<Money amount={card.usedLtd} />} />
      </SimpleGrid>
    </Section>
  )
}

function Actions({ detail }: { readonly detail: Detail }) {
  const { card, moves } = detail
  const { can, mode } = useSession()
  const { svcCardId } = card
  const money = can('finance') && (
    <>
      <LoadCard
        card={card}
        note="Above the limit of one person, another one approves it."
        move={(way, move, key) => moveMoney(svcCardId, way, move, key)}
      />
      {Number(detail.balance) !== 0 && (
        <EndCard
          card={card}
          balance={Number(detail.balance)}
          replace={async (reason, key) => {
            const requested = { params: { path: { svcCardId }, header: once(key) }, body: { reason } }
            const made = await responseOf(api.POST('/cards/{svcCardId}/replace', requested))
            await moneyMoved()
            return made
          }}
          giveBack={async (consentReference, key) => {
            const params = { path: { svcCardId }, header: once(key) }
            await responseOf(api.POST('/cards/{svcCardId}/return', { params, body: { consentReference } }))
            await moneyMoved()
          }}
        />
      )}
    </>
  )
  if (!can('support')) return money
  return (
    <>
      {mode === 'sandbox' && card.cardStatus.name === 'UL' && <Terminal svcCardId={svcCardId} />}
      <CardMoves
        status={card.cardStatus.name}
        maskedNumber={card.maskedNumber}
        legal={moves}
        undone="Undone by the operator"
        set={async (status, reason, key) => {
          const params = { path: { svcCardId }, header: once(key) }
          await responseOf(api.POST('/cards/{svcCardId}/status', { params, body: { status, reason } }))
          await changed()
        }}
      />
      <ActivateCard card={card} />
      {money}
      <ChannelForm card={card} />
      <KycForm detail={detail} />
    </>
  )
}

async function moneyMoved(): Promise<void> {
  await changed()
  for (const name of ['card-transactions', 'card-accounts', 'card-returns', 'approvals'])
    await queryClient.invalidateQueries({ queryKey: [name] })
}

/** On behalf of the partner; above the limit of one person it waits for another one. */
async function moveMoney(svcCardId: string, way: 'load' | 'unload', body: CardMoney, key: FormKey) {
  const requested = { params: { path: { svcCardId }, header: once(key) }, body }
  const moved = await responseOf(
    way === 'load'
      ? api.POST('/cards/{svcCardId}/loads', requested)
      : api.POST('/cards/{svcCardId}/unloads', requested),
  )
  await moneyMoved()
  return 'approvalId' in moved ? { waits: moved.amount } : moved
}

type Channel = 'pos' | 'atm' | 'online'

/** Plays a shop, an ATM or a web shop: sandbox only. */
function Terminal({ svcCardId }: { readonly svcCardId: string }) {
  const amountRule = (value: string) => (readRupees(value) ? null : 'Rupees with at most two decimals')
  const done = async (what: string) => {
    notifications.show({ color: 'teal', message: `${what}. The entries are shown below.` })
    await changed()
  }
  return (
    <>
      <FormDialog
        label="Spend"
        send="Spend"
        variant="default"
        initial={{ amount: '', channel: 'pos' as Channel, merchantName: 'Test Shop' }}
        rules={{ amount: amountRule }}
        fields={(form) => (
          <>
            <AmountInput {...form.getInputProps('amount')} />
            <Select
              label="Where"
              data={[
                { value: 'pos', label: 'Shop' },
                { value: 'atm', label: 'ATM' },
                { value: 'online', label: 'Online' },
              ]}
              allowDeselect={false}
              {...form.getInputProps('channel')}
            />
            <TextInput label="Shop" {...form.getInputProps('merchantName')} />
          </>
        )}
        submit={async ({ amount, channel, merchantName }, key) => {
          await responseOf(
            api.POST('/cards/{svcCardId}/spend', {
              params: { path: { svcCardId }, header: once(key) },
              body: { amount: Number(readRupees(amount)), channel, merchantName },
            }),
          )
          await done('Spent')
        }}
      />
      <FormDialog
        label="Refund"
        send="Refund"
        variant="default"
        initial={{ amount: '' }}
        rules={{ amount: amountRule }}
        fields={(form) => <AmountInput {...form.getInputProps('amount')} />}
        submit={async ({ amount }, key) => {
          await responseOf(
            api.POST('/cards/{svcCardId}/refund', {
              params: { path: { svcCardId }, header: once(key) },
              body: { amount: Number(readRupees(amount)) },
            }),
          )
          await done('Refunded')
        }}
      />
    </>
  )
}

function AmountInput(props: object) {
  return <TextInput label="Amount in rupees" inputMode="decimal" leftSection="₹" data-autofocus {...props} />
}
