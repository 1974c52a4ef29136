import { Alert, Anchor, Group, Select, SimpleGrid, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { type FormKey, newFormKey, once } from '../form-key.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { ObjectHistory } from '../parts/history.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Money, readRupees } from '../parts/money.tsx'
import { notifyUndo } from '../parts/notify-undo.tsx'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Page, Section } from '../parts/page.tsx'
import { StatusBadge, statusLabel } from '../parts/status-badge.tsx'
import { Tile } from '../parts/tile.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { TransferTable } from '../parts/transfer-list.tsx'
import { queryClient, useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'
import { ChannelForm, KycForm } from './card-changes.tsx'
import { CardFacts } from './card-facts.tsx'
import { CardLoads } from './card-loads.tsx'
import { CardTransactions } from './card-transactions.tsx'
import { LoadCard } from './load-card.tsx'
import { SpendRules } from './spend-rules.tsx'

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
              <History detail={detail} />
              <CardFacts.Holder detail={detail} />
            </SimpleGrid>
            <SpendRules svcCardId={svcCardId} />
            <Section title="Transactions">
              <CardTransactions svcCardId={svcCardId} />
            </Section>
            <CardLoads svcCardId={svcCardId} />
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

function History({ detail: { changes, createdOn } }: { readonly detail: Detail }) {
  const made = { at: createdOn, title: 'Issued', color: 'brand' }
  return (
    <Section title="History">
      <Timeline
        entries={[
          ...changes.map(({ createdOn: at, field, from, to, actor, reason }) => ({
            at,
            title: `${sentenceCase(field)}: ${statusLabel(from)} → ${statusLabel(to)}`,
            detail: `by ${actor === 'operator' ? 'an operator' : 'the partner'}${reason ? `: ${reason}` : ''}`,
            color: to === 'BL' ? 'red' : to === 'L' ? 'yellow' : 'teal',
          })),
          made,
        ]}
      />
    </Section>
  )
}

const MOVES = {
  UL: {
    label: 'Unlock',
    confirm: 'Unlock card',
    danger: false,
    says: 'The card can be used again.',
    done: 'Unlocked.',
  },
  L: {
    label: 'Lock',
    confirm: 'Lock card',
    danger: false,
    says: 'The card cannot be used until it is unlocked. Its balance stays.',
    done: 'Locked.',
  },
  BL: {
    label: 'Block',
    confirm: 'Block for good',
    danger: true,
    says: 'Blocking is final: the card can never be unlocked or used again.',
    done: 'Blocked.',
  },
} as const

/** What takes a move back; nothing takes back a block. */
const OPPOSITE: Readonly<Partial<Record<keyof typeof MOVES, keyof typeof MOVES>>> = { L: 'UL', UL: 'L' }
const UNDONE = 'Undone by the operator'

function Actions({ detail }: { readonly detail: Detail }) {
  const { card, moves } = detail
  const { can, mode } = useSession()
  if (!can('support')) return <LoadCard card={card} />
  const { svcCardId } = card
  const move = async (status: keyof typeof MOVES, reason: string, key: FormKey) => {
    await responseOf(
      api.POST('/cards/{svcCardId}/status', {
        params: { path: { svcCardId }, header: once(key) },
        body: { status, reason },
      }),
    )
    await changed()
    const back = OPPOSITE[status]
    if (back && reason !== UNDONE)
      notifyUndo(MOVES[status].done, async () => {
        await move(back, UNDONE, newFormKey())
        return MOVES[back].done
      })
  }
  // A physical card leaves `AP` by its activation, which is the holder's.
  const legal = (['UL', 'L', 'BL'] as const).filter(
    (status) => moves.includes(status) && !(status === 'UL' && card.cardStatus.name === 'AP'),
  )
  return (
    <>
      {mode === 'sandbox' && card.cardStatus.name === 'UL' && <Terminal svcCardId={svcCardId} />}
      {legal.map((status) => {
        const { label, confirm, danger, says } = MOVES[status]
        return (
          <ConfirmAction
            key={status}
            label={label}
            confirm={confirm}
            danger={danger}
            withReason
            {...(danger && { typed: card.maskedNumber.slice(-4) })}
            run={(reason, key) => move(status, reason, key)}
          >
            {danger ? <Alert color="red">{says}</Alert> : says}
          </ConfirmAction>
        )
      })}
      <LoadCard card={card} />
      <ChannelForm card={card} />
      <KycForm detail={detail} />
      {card.cardStatus.name === 'BL' && (
        <Text size="sm" c="dimmed">
          Blocked for good
        </Text>
      )}
    </>
  )
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
