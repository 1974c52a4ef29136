import { fail } from '../errors.ts'
import { newId } from '../kernel/ids.ts'
import type { BatchTx, Command, CommandSpec } from '../platform/db/batch.ts'
import type { Tx, Writes } from '../platform/db/database.ts'
import { type RowLock, rowLock } from '../platform/db/row-lock.ts'
import { columns, statement } from '../platform/db/statement.ts'
import type { Answer } from '../platform/db/stored-answers.ts'
import { type Services, succeedWithCode } from '../platform/http/operation.ts'
import { type OutboxEvent, saveEvents } from '../platform/outbox.ts'
import { type Card, CHANNELS, looksLikeCardId } from './card.ts'
import { type CardView, toCardRecord } from './card-record.ts'
import { readCardViews } from './card-view.ts'

/** Who changes a card: its partner by the API, or the operator by the command line. */
export type Actor = 'partner' | 'operator'

/** What every change of one card carries. */
export interface CardOrder extends Command {
  readonly svcCardId: string
  /** Ids are drawn before the transaction; each changed field takes one. */
  readonly ids: { readonly event: string; readonly transfer: string; readonly changes: readonly string[] }
  /** Up to when the usage in the answer counts. */
  readonly at: Date
  readonly timeZone: string
}

export interface CardChangeOrder extends CardOrder {
  readonly actor: Actor
  readonly reason: string
}

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

/** One field of a card, from one value to another. */
interface CardChange {
  readonly changeId: string
  readonly field: HistoryField
  readonly from: string
  readonly to: string
}

/** A card after a change; no changes when it was so before. */
export interface Changed<C> {
  readonly view: CardView
  readonly changes: readonly CardChange[]
  readonly at: Date
  readonly command: C
}

/** Cards with their surroundings by `partner card`; ids that are not the partner's are absent. */
export type CardViews = Map<string, CardView>

export const cardKey = ({ tenantId, svcCardId }: Pick<CardOrder, 'tenantId' | 'svcCardId'>): string =>
  `${tenantId} ${svcCardId}`

const LOCK: RowLock<{ partner_id: string; svc_card_id: string }> = rowLock('cards_to_change', {
  select: 'c.partner_id, c.svc_card_id',
  from: `from cards c
    where (c.partner_id, c.svc_card_id) in (select * from unnest($1::text[], $2::text[])) order by c.svc_card_id`,
  tenant: 'c.partner_id',
  id: 'c.svc_card_id',
  of: 'c',
})

/** Everything that one change of a card is made of, but for the change itself. */
export function cardOrders({
  clock,
  config,
  random,
}: Pick<Services, 'clock' | 'config' | 'random'>): (tenantId: string, svcCardId: string) => CardOrder {
  return (tenantId, svcCardId) => {
    const nowMs = clock.now()
    return {
      tenantId,
      svcCardId,
      ids: {
        event: newId('evt', nowMs, random),
        transfer: newId('trf', nowMs, random),
        changes: HISTORY_FIELDS.map(() => newId('chg', nowMs, random)).sort(),
      },
      at: new Date(nowMs),
      timeZone: config.BUSINESS_TIME_ZONE,
    }
  }
}

/** Locks the partners' cards in order of id. */
export async function lockCards(
  tx: BatchTx,
  orders: readonly CardOrder[],
): Promise<{ partner_id: string; svc_card_id: string }[]> {
  // Ids that cannot be ours are answered like missing ones (decision A12), without a look.
  const wanted = new Map(
    orders.filter((order) => looksLikeCardId(order.svcCardId)).map((order) => [cardKey(order), order]),
  )
  if (wanted.size === 0) return []
  const keys = columns(
    [...wanted.values()],
    (order) => order.tenantId,
    (order) => order.svcCardId,
  )
  return tx.lock(LOCK, keys, wanted.size)
}

/** Reads locked cards with their surroundings: in a statement after the lock, so that it sees what the lock waited for. */
export async function readLocked(
  tx: Tx,
  locked: readonly { partner_id: string; svc_card_id: string }[],
  orders: readonly CardOrder[],
): Promise<CardViews> {
  if (locked.length === 0) return new Map()
  const keys = locked.map((row) => ({ tenantId: row.partner_id, id: row.svc_card_id }))
  const { at, timeZone } = orders.at(-1)!
  const views = await readCardViews(tx, keys, at, timeZone)
  return new Map(
    views.map((view) => [cardKey({ tenantId: view.card.partnerId, svcCardId: view.card.svcCardId }), view]),
  )
}

export const viewOf = (views: CardViews, order: CardOrder): CardView =>
  views.get(cardKey(order)) ?? fail('card_not_found')

/**
 * One kind of change: `change` is the rule, pure, and answers the card as it shall be, or the same card when there is
 * nothing to do, which changes nothing and keeps no history.
 */
export function cardChange<C extends CardChangeOrder>(
  name: string,
  change: (card: Card, command: C) => Card,
): CommandSpec<C, CardViews, Changed<C>> {
  return {
    name,
    lock: async (tx, orders) => readLocked(tx, await lockCards(tx, orders), orders),
    decide(views, command, now) {
      const view = viewOf(views, command)
      const after = change(view.card, command)
      const changes = differences(view.card, after, command.ids.changes)
      if (changes.length === 0) return { view, changes, at: now, command }
      const modifiedAt = laterThan(view.card.modifiedAt, now)
      return { view: { ...view, card: { ...after, modifiedAt } }, changes, at: modifiedAt, command }
    },
    apply: (views, { view, command }) => void views.set(cardKey(command), view),
    save: saveChanges,
    answer: ({ view, command: { timeZone } }): Answer => ({
      status: 200,
      body: succeedWithCode(toCardRecord(view, timeZone)),
    }),
  }
}

/** Changes of one card are told in their order, also those of one batch, and when a clock was set back. */
const laterThan = (before: Date, now: Date): Date => (now > before ? now : new Date(before.getTime() + 1))

function differences(before: Card, after: Card, ids: readonly string[]): CardChange[] {
  const [was, is] = [historyValues(before), historyValues(after)]
  return HISTORY_FIELDS.flatMap((field, i) =>
    was[field] === is[field] ? [] : [{ changeId: ids[i]!, field, from: was[field], to: is[field] }],
  )
}

function historyValues(card: Card): Record<HistoryField, string> {
  const flags = CHANNELS.flatMap((channel) => [
    [`${channel}Allowed`, String(card.channels[channel].allowed)],
    [`${channel}AllowedAdmin`, String(card.channels[channel].allowedAdmin)],
  ])
  return {
    cardStatus: card.status,
    kycStatus: card.kycStatus,
    cardActivated: String(card.activated),
    ...Object.fromEntries(flags),
  } as Record<HistoryField, string>
}

const UPDATE = statement(
  'cards_change',
  `update cards c set status = n.status, kyc_status = n.kyc_status, activated = n.activated, block_code = n.block_code,
     remarks = n.remarks, pos_allowed = n.pos, pos_allowed_admin = n.pos_admin, atm_allowed = n.atm,
     atm_allowed_admin = n.atm_admin, online_allowed = n.online, online_allowed_admin = n.online_admin,
     modified_at = n.modified_at
   from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::text[], $8::boolean[],
     $9::boolean[], $10::boolean[], $11::boolean[], $12::boolean[], $13::boolean[], $14::timestamptz[])
     as n (partner_id, svc_card_id, status, kyc_status, activated, block_code, remarks, pos, pos_admin, atm, atm_admin,
       online, online_admin, modified_at)
   where c.partner_id = n.partner_id and c.svc_card_id = n.svc_card_id`,
)
const INSERT = statement(
  'card_changes_insert',
  `insert into card_changes (change_id, partner_id, svc_card_id, field, from_value, to_value, actor, reason, created_at)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
     $9::timestamptz[]) order by 1`,
)

function saveChanges<C extends CardChangeOrder>(tx: Writes, decisions: readonly Changed<C>[]): void {
  const changed = decisions.filter(({ changes }) => changes.length > 0)
  if (changed.length === 0) return
  // Of several changes of one card in a batch the last one holds them all.
  const cards = [...new Map(changed.map(({ view: { card } }) => [card.svcCardId, card])).values()]
  tx.write(
    UPDATE,
    columns(
      cards,
      (card) => card.partnerId,
      (card) => card.svcCardId,
      (card) => card.status,
      (card) => card.kycStatus,
      (card) => card.activated,
      (card) => card.blockCode,
      (card) => card.remarks,
      (card) => card.channels.pos.allowed,
      (card) => card.channels.pos.allowedAdmin,
      (card) => card.channels.atm.allowed,
      (card) => card.channels.atm.allowedAdmin,
      (card) => card.channels.online.allowed,
      (card) => card.channels.online.allowedAdmin,
      (card) => card.modifiedAt,
    ),
  )
  const rows = changed.flatMap(({ changes, command, at }) =>
    changes.map((change) => ({ ...change, command, at })),
  )
  tx.write(
    INSERT,
    columns(
      rows,
      (row) => row.changeId,
      (row) => row.command.tenantId,
      (row) => row.command.svcCardId,
      (row) => row.field,
      (row) => row.from,
      (row) => row.to,
      (row) => row.command.actor,
      (row) => row.command.reason,
      (row) => row.at,
    ),
  )
  saveEvents(tx, changed.flatMap(statusEvent))
}

/** Changes of flags and of KYC are in the history; only a changed status is an event. */
function statusEvent<C extends CardChangeOrder>({ view, changes, at, command }: Changed<C>): OutboxEvent[] {
  if (!changes.some(({ field }) => field === 'cardStatus')) return []
  return [
    {
      eventId: command.ids.event,
      tenantId: command.tenantId,
      type: 'card.status_changed',
      objectId: command.svcCardId,
      payload: toCardRecord(view, command.timeZone),
      createdAt: at,
    },
  ]
}
