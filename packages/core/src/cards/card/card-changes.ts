import { fail } from '@svc/contract/errors'
import { ByTenant, byTenant, lastOfEach } from '@svc/kernel/by-tenant'
import { type CommandTools, command } from '@svc/platform/command'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import type { Tx, Writes } from '@svc/platform/db/database'
import { type RowLock, rowLock } from '@svc/platform/db/row-lock'
import { columns } from '@svc/platform/db/statement'
import { instant, nullable, table, text, textOf } from '@svc/platform/db/table'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import { type Account, lockAccounts } from '../../ledger/accounts.ts'
import { type EndTerms, ended } from '../end/card-end.ts'
import { type Card, type CardKey, cards, looksLikeCardId } from './card.ts'
import { type CardForm, type CardView, cardFormOf, toCardRecord } from './card-record.ts'
import { readCardViewsNow } from './card-view.ts'

/** Who changes a card: its partner by the API, or an operator. */
export type Actor = 'partner' | 'operator'

/** The arguments that every change of a card has. */
export interface CardChangeArgs {
  readonly partnerId: string
  readonly svcCardId: string
  readonly actor: Actor
  /** Empty for none. */
  readonly reason: string
}

/** What the audit calls a change of a card by an operator. Its reason, which may name a person, is in the card's history alone. */
export const CARD_ACTIONS = {
  changeCardStatus: 'card.status_changed',
  activateCard: 'card.activated',
  setCardKyc: 'card.kyc_changed',
  setCardFlags: 'card.flags_changed',
} as const

/** What every command on one card carries. */
export interface PreparedForCard extends PreparedCommand {
  readonly svcCardId: string
  /** Ids are drawn before the transaction; each changed field gets one. */
  readonly ids: { readonly event: string; readonly transfer: string; readonly changes: readonly string[] }
  /** By how many milliseconds the partner's clock is ahead of the database's. */
  readonly clockOffsetMs: number
  readonly timeZone: string
  readonly amounts: CardForm['amounts']
  readonly endTerms: EndTerms
}

type Prepared<Args> = PreparedForCard & Args

/** The fields whose changes are kept, under their wire names (decision C10). */
const HISTORY_FIELDS = [
  'cardStatus',
  'kycStatus',
  'cardActivated',
  'posAllowed',
  'posAllowedAdmin',
  'atmAllowed',
  'atmAllowedAdmin',
  'onlineAllowed',
  'onlineAllowedAdmin',
] as const
export type HistoryField = (typeof HISTORY_FIELDS)[number]

/** Every change of a card, field by field. */
export const cardChanges = table('card_changes', 'h', ['partnerId', 'changeId'], {
  changeId: text,
  partnerId: text,
  svcCardId: text,
  field: textOf<HistoryField>(),
  fromValue: nullable(text),
  toValue: text,
  actor: textOf<Actor>(),
  reason: text,
  createdAt: instant,
})

/** One field of a card, from one value to another. */
export interface FieldChange {
  readonly changeId: string
  readonly field: HistoryField
  readonly fromValue: string
  readonly toValue: string
}

/** A card after a change; no changes when it was so before. */
export interface Changed {
  readonly view: CardView
  readonly changes: readonly FieldChange[]
  readonly at: Date
  readonly command: Prepared<CardChangeArgs>
}

/** Cards of a partner with their surroundings, by id. */
export type CardViews = Map<string, CardView>

/** A card, and the account that funded it. */
export interface LockedCard extends CardKey {
  readonly cardAccountId: string
}

// Only what never changes: the card is read with its surroundings once it is locked.
const LOCK: RowLock<LockedCard> = rowLock('cards_to_change', {
  select: 'c.partner_id as "partnerId", c.svc_card_id as "svcCardId", c.card_account_id as "cardAccountId"',
  from: `from cards c
    where (c.partner_id, c.svc_card_id) in (select * from unnest($1::text[], $2::text[])) order by c.svc_card_id`,
  tenant: 'c.partner_id',
  id: 'c.svc_card_id',
  of: 'c',
})

/** Everything that a command on one card carries besides its arguments. */
export function cardPreparation({
  clock,
  config,
  newId,
}: Pick<CommandTools, 'clock' | 'config' | 'newId'>): (
  partnerId: string,
  svcCardId: string,
) => PreparedForCard {
  return (partnerId, svcCardId) => ({
    tenantId: partnerId,
    svcCardId,
    ids: {
      event: newId('evt'),
      transfer: newId('trf'),
      changes: HISTORY_FIELDS.map(() => newId('chg')).sort(),
    },
    clockOffsetMs: clock.of(partnerId).offsetMs(),
    ...cardFormOf(config),
    endTerms: {
      unclaimedDays: config.CARD_UNCLAIMED_DAYS,
      returnWaitDays: config.CARD_RETURN_WAIT_DAYS,
    },
  })
}

type OfCard = Pick<PreparedForCard, 'tenantId' | 'svcCardId'>

/** Locks the partners’ cards in order of id. */
export async function lockCards(tx: BatchTx, commands: readonly OfCard[]): Promise<LockedCard[]> {
  // Ids that cannot be ours get the response of missing ones (decision A12), without a lookup.
  const tenantOf = (command: OfCard) => command.tenantId
  const idOf = (command: OfCard) => command.svcCardId
  const wanted = lastOfEach(
    commands.filter((command) => looksLikeCardId(command.svcCardId)),
    tenantOf,
    idOf,
  )
  return wanted.length === 0 ? [] : tx.lock(LOCK, columns(wanted, tenantOf, idOf), wanted.length)
}

type ReadAt = Pick<PreparedForCard, 'clockOffsetMs' | 'tenantId' | 'timeZone'>

/**
 * Locks the accounts between which commands on locked cards can move money, then reads the cards: with balances that
 * no other transaction changes before the commit.
 */
export async function readForMoney(
  tx: BatchTx,
  locked: readonly LockedCard[],
  commands: readonly ReadAt[],
  accountsOf: (card: LockedCard) => readonly Account[],
): Promise<ByTenant<CardViews>> {
  // They travel together; the server takes them in this order.
  const [, views] = await Promise.all([
    lockAccounts(tx, locked.flatMap(accountsOf)),
    readLocked(tx, locked, commands),
  ])
  return views
}

/** Reads locked cards with their surroundings: in a statement after the lock, so that it sees what the lock waited for. */
export async function readLocked(
  tx: Tx,
  locked: readonly CardKey[],
  commands: readonly ReadAt[],
): Promise<ByTenant<CardViews>> {
  if (locked.length === 0) return new ByTenant(() => new Map())
  const { timeZone } = commands[0]!
  const ahead = new Map(commands.map(({ tenantId, clockOffsetMs }) => [tenantId, clockOffsetMs]))
  const wanted = locked.map((key) => ({ ...key, clockOffsetMs: ahead.get(key.partnerId)! }))
  const views = await readCardViewsNow(tx, wanted, timeZone)
  return byTenant(
    views,
    ({ card }) => card.partnerId,
    ({ card }) => card.svcCardId,
    (view) => view,
  )
}

export const viewOf = (views: CardViews, { svcCardId }: PreparedForCard): CardView =>
  views.get(svcCardId) ?? fail('card_not_found')

/**
 * One kind of change: `change` is the rule, pure, and returns the card as it is to be, or the same card when there is
 * nothing to do, which changes nothing and keeps no history.
 */
export const cardChange = <Args extends CardChangeArgs>(
  name: string,
  change: (card: Card, args: Args) => Card,
  check: (args: Args) => void = () => undefined,
) =>
  command<Args, Prepared<Args>, CardViews, Changed>({
    name,
    prepare(tools) {
      const preparationOf = cardPreparation(tools)
      return (args: Args): Prepared<Args> => {
        check(args)
        return { ...args, ...preparationOf(args.partnerId, args.svcCardId) }
      }
    },
    lock: async (tx, commands) => readLocked(tx, await lockCards(tx, commands), commands),
    decide(views, prepared, now) {
      const view = viewOf(views, prepared)
      // The change counts, its reason is not kept (decision C23).
      const command = view.isUserErased ? { ...prepared, reason: '' } : prepared
      const after = change(view.card, command)
      const changes = differences(view.card, after, command.ids.changes)
      if (changes.length === 0) return { view, changes, at: now, command }
      const modifiedAt = laterThan(view.card.modifiedAt, now)
      const end =
        after.status === 'BL' && after.endedAt === null ? ended(after, modifiedAt, command.endTerms) : {}
      return { view: { ...view, card: { ...after, ...end, modifiedAt } }, changes, at: modifiedAt, command }
    },
    apply: (views, { view }) => void views.set(view.card.svcCardId, view),
    save: saveChanges,
  })

/** Changes of one card are in their order, also those of one batch, and when a clock was set back. */
export const laterThan = (before: Date, now: Date): Date =>
  now > before ? now : new Date(before.getTime() + 1)

/** A card under the names of its history. */
const historyOf = (card: Card) => ({ ...card, cardStatus: card.status, cardActivated: card.activated })

export function differences(before: Card, after: Card, ids: readonly string[]): FieldChange[] {
  const [was, is] = [historyOf(before), historyOf(after)]
  return HISTORY_FIELDS.flatMap((field, i) =>
    was[field] === is[field]
      ? []
      : [{ changeId: ids[i]!, field, fromValue: String(was[field]), toValue: String(is[field]) }],
  )
}

const updateCards = cards.updates(
  [
    'status',
    'kycStatus',
    'activated',
    'blockCode',
    'remarks',
    'posAllowed',
    'posAllowedAdmin',
    'atmAllowed',
    'atmAllowedAdmin',
    'onlineAllowed',
    'onlineAllowedAdmin',
    'endedAt',
    'unclaimedAt',
    'noticeDays',
    'dueAt',
    'modifiedAt',
  ],
  'change',
)

function saveChanges(tx: Writes, decisions: readonly Changed[]): void {
  const changed = decisions.filter(({ changes }) => changes.length > 0)
  // Of several changes of one card in a batch the last one has them all.
  updateCards(
    tx,
    changed.map(({ view: { card } }) => card),
  )
  cardChanges.insert(
    tx,
    changed.flatMap(({ changes, command: { tenantId: partnerId, svcCardId, actor, reason }, at }) =>
      changes.map((change) => ({ ...change, partnerId, svcCardId, actor, reason, createdAt: at })),
    ),
  )
  saveEvents(tx, changed.flatMap(statusEvent))
}

/** Changes of flags and of KYC are in the history; only a changed status is an event. */
export function statusEvent({ view, changes, at, command }: Changed): OutboxEvent[] {
  if (!changes.some(({ field }) => field === 'cardStatus')) return []
  return [
    {
      eventId: command.ids.event,
      tenantId: command.tenantId,
      type: 'card.status_changed',
      objectId: command.svcCardId,
      payload: toCardRecord(view, command),
      createdAt: at,
    },
  ]
}
