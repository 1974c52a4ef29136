import { ByTenant, lastOfEach } from '@svc/kernel/by-tenant'
import type { CommandTools } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import { type Account, account } from '../../ledger/accounts.ts'
import { type Journal, saveJournals } from '../../ledger/journals.ts'
import { type CardKey, cards } from '../card/card.ts'
import {
  type CardViews,
  cardPreparation,
  lockCards,
  type PreparedForCard,
  readForMoney,
} from '../card/card-changes.ts'
import type { CardView } from '../card/card-record.ts'
import { type CardReturn, cardReturns, updateReturns } from './card-return.ts'

/** What every command on the end of a card carries. */
export interface PreparedEnd extends PreparedForCard {
  readonly returnId: string
  /** The card that has replaced it, which is locked too. */
  readonly replacedBy?: string | null
}

/** Cards with all their returns, by card. */
export interface EndState {
  readonly views: CardViews
  readonly returns: Map<string, readonly CardReturn[]>
}

/** What a command does to a card’s end. */
export interface EndDecision {
  /** The cards after it. */
  readonly views: readonly CardView[]
  readonly returned?: CardReturn | undefined
  /** Whether the return begins with it. */
  readonly isNew?: boolean
  readonly journal?: Journal | undefined
  readonly events: readonly OutboxEvent[]
  readonly command: PreparedEnd
}

/** Everything that a command on the end of a card carries besides its arguments. */
export function endPreparation(tools: Pick<CommandTools, 'clock' | 'config' | 'newId'>) {
  const prepare = cardPreparation(tools)
  return (partnerId: string, svcCardId: string): PreparedEnd => ({
    ...prepare(partnerId, svcCardId),
    returnId: tools.newId('crt'),
  })
}

const RETURNS = statement<CardReturn>(
  'card_returns_of_cards',
  `select ${cardReturns.columns} from card_returns u
   where (u.partner_id, u.svc_card_id) in (select * from unnest($1::text[], $2::text[]))
   order by u.partner_id, u.return_id`,
)

const keysOf = (some: readonly CardKey[]) =>
  columns(
    some,
    (card) => card.partnerId,
    (card) => card.svcCardId,
  )

/** Locks cards with those that have replaced them, then the accounts that their money can go to. */
export async function lockEnds(tx: BatchTx, commands: readonly PreparedEnd[]): Promise<ByTenant<EndState>> {
  const both = commands.flatMap((command) => [
    command,
    ...(command.replacedBy ? [{ ...command, svcCardId: command.replacedBy }] : []),
  ])
  const locked = await lockCards(tx, both)
  const [views, returns] = await Promise.all([
    readForMoney(tx, locked, commands, ({ partnerId, svcCardId, cardAccountId }) => [
      account('card', partnerId, svcCardId),
      account('card_funding', partnerId, cardAccountId),
      account('unclaimed', partnerId),
    ]),
    tx.query(RETURNS, keysOf(locked)),
  ])
  const state = new ByTenant((tenantId): EndState => ({ views: views.of(tenantId), returns: new Map() }))
  for (const returned of returns) keepReturn(state.of(returned.partnerId).returns, returned)
  return state
}

/** Adds a return to those of its card, or puts it in the place of its earlier self. */
function keepReturn(returns: EndState['returns'], returned: CardReturn): void {
  const others = (returns.get(returned.svcCardId) ?? []).filter(
    ({ returnId }) => returnId !== returned.returnId,
  )
  returns.set(returned.svcCardId, [...others, returned])
}

export const waitingOf = ({ returns }: EndState, svcCardId: string): CardReturn | undefined =>
  returns.get(svcCardId)?.find(({ status }) => status === 'WAITING')

export function applyEnd(state: EndState, { views, returned }: EndDecision): void {
  for (const view of views) state.views.set(view.card.svcCardId, view)
  if (returned) keepReturn(state.returns, returned)
}

const updateEnds = cards.updates(
  [
    'status',
    'blockCode',
    'remarks',
    'expiredAt',
    'endedAt',
    'unclaimedAt',
    'noticeDays',
    'dueAt',
    'replacedBy',
    'modifiedAt',
  ],
  'end',
)

/** Writes the cards, returns, journals and events of decisions. */
export function saveEnds(
  tx: Writes,
  decisions: readonly EndDecision[],
  opens: readonly Account[] = [],
): void {
  const [first] = decisions
  if (!first) return
  updateEnds(
    tx,
    decisions.flatMap(({ views }) => views.map(({ card }) => card)),
  )
  const moved = decisions.filter(({ journal }) => journal)
  cardReturns.insert(
    tx,
    moved.flatMap(({ returned, isNew }) => (returned && isNew ? [returned] : [])),
  )
  updateReturns(
    tx,
    moved.flatMap(({ returned, isNew }) => (returned && !isNew ? [returned] : [])),
  )
  saveJournals(
    tx,
    first.command.timeZone,
    moved.flatMap(({ journal }) => journal ?? []),
    opens,
  )
  saveEvents(
    tx,
    decisions.flatMap(({ events }) => events),
  )
}

const WAKE = statement(
  'cards_ended_wake',
  `update cards c set due_at = least(c.due_at, w.at)
   from unnest($1::text[], $2::text[], $3::timestamptz[]) as w (partner_id, svc_card_id, at)
   where c.partner_id = w.partner_id and c.svc_card_id = w.svc_card_id and c.ended_at is not null`,
)

/** Money came back to ended cards, or is held no longer: the background is to look at them. Cards that live are left alone. */
export function wakeEnded(tx: Writes, woken: readonly (CardKey & { readonly at: Date })[]): void {
  if (woken.length === 0) return
  const each = lastOfEach(
    woken,
    (card) => card.partnerId,
    (card) => card.svcCardId,
  )
  tx.write(WAKE, [...keysOf(each), each.map(({ at }) => at)])
}
