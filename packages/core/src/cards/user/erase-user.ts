import { fail } from '@svc/contract/errors'
import { idFloor } from '@svc/contract/id-kinds'
import { ByTenant } from '@svc/kernel/by-tenant'
import { createdMs } from '@svc/kernel/ids'
import { formatRupees, paise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Writes } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { account, accountId, accountIdOf, lockAccounts } from '../../ledger/accounts.ts'
import { type User, users } from '../../tenants/user.ts'
import { lockCards } from '../card/card-changes.ts'
import { HOLDER_TEXTS } from '../card/card-record.ts'

/** What the event of an erased user contains. */
export const ErasedUser = Type.Object(
  { userId: Type.String(), companyId: Type.String(), erasedOn: Type.String({ description: 'RFC 3339' }) },
  { title: 'ErasedUser', additionalProperties: false },
)

export interface EraseUser {
  readonly partnerId: string
  readonly userId: string
}

interface Prepared extends EraseUser {
  readonly tenantId: string
  readonly eventId: string
  readonly timeZone: string
}

/** A card of the user, with what is left on it. */
interface HeldCard {
  readonly partnerId: string
  readonly userId: string
  readonly svcCardId: string
  readonly hasEnded: boolean
  readonly balancePaise: bigint
  readonly heldPaise: bigint
  /** Whether money from it is on its way back and could be put on it again. */
  readonly isReturning: boolean
  /** Ids of its changes: some of them published the card's record, as its creation did. */
  readonly changeIds: readonly string[]
}

interface State {
  readonly users: Map<string, User>
  readonly cards: Map<string, readonly HeldCard[]>
  /** By ledger account. */
  readonly balances: Map<string, bigint>
}

/** A user of whom nothing is known any more. */
export interface Erased {
  readonly user: User & { readonly erasedAt: Date }
  readonly cards: readonly HeldCard[]
  /** False where the user had been erased before: what was written since, or restored, is erased too. */
  readonly isNew: boolean
  readonly command: Prepared
}

const UNKNOWN = {
  email: null,
  mobile: null,
  title: null,
  firstName: null,
  middleName: null,
  lastName: null,
  gender: null,
  specialDate: null,
  taxPan: null,
} satisfies Partial<User>

/**
 * Erases the personal data of a user: in the record, on the cards, in their history and events, in reasons of voids of
 * coins (decision C23).
 * Ledger, coins, numbers of events and audit stay as they are. Refused while cards are in use, or money or coins are left.
 */
export const eraseUser = command({
  name: 'eraseUser',
  prepare:
    ({ config, newId }) =>
    (args: EraseUser): Prepared => ({
      ...args,
      tenantId: args.partnerId,
      eventId: newId('evt'),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),
  lock,

  decide({ users: known, cards, balances }: State, command, now): Erased {
    const user = known.get(command.userId) ?? fail('user_not_found')
    const { erasedAt } = user
    const held = cards.get(user.userId) ?? []
    if (erasedAt) return { user: { ...user, erasedAt }, cards: held, isNew: false, command }
    const coins = sumOf(
      (['coins', 'coins_pending'] as const).map((kind) => accountId(kind, user.userId)),
      balances,
    )
    const left = [...held.flatMap(leftOn), ...(coins > 0n ? [`${coins} coins`] : [])]
    if (left.length > 0)
      fail('user_in_use', { description: `The user still has ${left.slice(0, 10).join('; ')}` })
    return { user: { ...user, ...UNKNOWN, erasedAt: now }, cards: held, isNew: true, command }
  },

  apply: ({ users: known }, { user }) => void known.set(user.userId, user),
  save,
})

const sumOf = (accountIds: readonly string[], balances: ReadonlyMap<string, bigint>): bigint =>
  accountIds.reduce((sum, id) => sum + (balances.get(id) ?? 0n), 0n)

/** Why a card keeps its holder, in words. */
function leftOn({ svcCardId, hasEnded, balancePaise, heldPaise, isReturning }: HeldCard): string[] {
  if (!hasEnded) return [`card ${svcCardId} in use`]
  return [
    ...(balancePaise > 0n ? [`${formatRupees(paise(balancePaise))} rupees on card ${svcCardId}`] : []),
    ...(heldPaise > 0n ? [`${formatRupees(paise(heldPaise))} rupees held on card ${svcCardId}`] : []),
    ...(isReturning ? [`money of card ${svcCardId} on its way back`] : []),
  ]
}

const LOCK = users.lock('to_erase')
const CARD_IDS = statement<Pick<HeldCard, 'partnerId' | 'svcCardId'>>(
  'cards_to_erase',
  `select partner_id as "partnerId", svc_card_id as "svcCardId" from cards
   where (partner_id, user_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const ACCOUNT_IDS = statement<{ readonly partnerId: string; readonly cardAccountId: string }>(
  'card_accounts_of_erased',
  `select partner_id as "partnerId", card_account_id as "cardAccountId" from card_accounts
   where (partner_id, company_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const HELD = statement<HeldCard>(
  'cards_of_erased',
  `select c.partner_id as "partnerId", c.user_id as "userId", c.svc_card_id as "svcCardId",
     c.ended_at is not null as "hasEnded", l.balance as "balancePaise",
     (select coalesce(sum(h.held_paise), 0)::bigint from card_authorizations h
      where h.partner_id = c.partner_id and h.svc_card_id = c.svc_card_id and h.status = 'OPEN') as "heldPaise",
     exists (select from card_returns r
       where r.partner_id = c.partner_id and r.svc_card_id = c.svc_card_id and r.status = 'WAITING') as "isReturning",
     array(select g.change_id from card_changes g
       where g.partner_id = c.partner_id and g.svc_card_id = c.svc_card_id) as "changeIds"
   from cards c cross join lateral ${accountIdOf('card', 'c.svc_card_id')}
     join ledger_accounts l on l.account_id = key.account_id and l.tenant_id = c.partner_id
   where (c.partner_id, c.user_id) in (select * from unnest($1::text[], $2::text[]))`,
)

/**
 * The user, the cards, then the accounts from which their company is given cards: an order that is ahead is seen, and
 * one that is behind sees that the user is erased.
 */
async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  const locked = await users.lockRows<User>(tx, LOCK, commands)
  const found = commands.flatMap(({ tenantId, userId }) => locked.of(tenantId).get(userId) ?? [])
  const keys = [found.map(({ partnerId }) => partnerId), found.map(({ userId }) => userId)]
  const [cardIds, accounts] = await Promise.all([
    tx.query(CARD_IDS, keys),
    tx.query(ACCOUNT_IDS, [keys[0], found.map(({ companyId }) => companyId)]),
  ])
  await lockCards(
    tx,
    cardIds.map(({ partnerId, svcCardId }) => ({ tenantId: partnerId, svcCardId })),
  )
  const balances = await lockAccounts(tx, [
    ...cardIds.map(({ partnerId, svcCardId }) => account('card', partnerId, svcCardId)),
    ...accounts.map(({ partnerId, cardAccountId }) => account('card_funding', partnerId, cardAccountId)),
    ...found.flatMap(({ partnerId, userId }) => [
      account('coins', partnerId, userId),
      account('coins_pending', partnerId, userId),
    ]),
  ])
  const state = new ByTenant(
    (tenantId): State => ({ users: locked.of(tenantId), cards: new Map(), balances: balances.of(tenantId) }),
  )
  for (const card of await tx.query(HELD, keys)) {
    const { cards } = state.of(card.partnerId)
    cards.set(card.userId, [...(cards.get(card.userId) ?? []), card])
  }
  return state
}

const saveErased = users.updates(
  [
    'email',
    'mobile',
    'title',
    'firstName',
    'middleName',
    'lastName',
    'gender',
    'specialDate',
    'taxPan',
    'erasedAt',
  ],
  'erased',
)
const ERASE_HOLDERS = statement('erase_holders', 'select erase_holders($1, $2, $3, $4, $5)')
const ERASE_COIN_REASONS = statement('erase_coin_reasons', 'select erase_coin_reasons($1, $2)')
const FIELDS = [...HOLDER_TEXTS, 'remarks']
/** A change, its id and that of its event are made together. */
const APART_MS = 10_000

function save(tx: Writes, decisions: readonly Erased[]): void {
  const erased = decisions.filter(({ isNew }) => isNew)
  saveErased(
    tx,
    erased.map(({ user }) => user),
  )
  for (const { cards, command } of decisions) {
    const published = cards.flatMap(({ svcCardId, changeIds }) =>
      [svcCardId, ...changeIds].map((id) => ({ svcCardId, atMs: createdMs(id) })),
    )
    if (published.length > 0)
      tx.write(ERASE_HOLDERS, [
        command.partnerId,
        published.map(({ svcCardId }) => svcCardId),
        published.map(({ atMs }) => idFloor('evt', new Date(atMs - APART_MS))),
        published.map(({ atMs }) => idFloor('evt', new Date(atMs + APART_MS))),
        FIELDS,
      ])
    tx.write(ERASE_COIN_REASONS, [command.partnerId, [command.userId]])
  }
  saveEvents(
    tx,
    erased.map(({ user, command: { eventId, timeZone } }) => ({
      eventId,
      tenantId: user.partnerId,
      type: 'user.erased',
      objectId: user.userId,
      payload: {
        userId: user.userId,
        companyId: user.companyId,
        erasedOn: rfc3339(user.erasedAt, timeZone),
      },
      createdAt: user.erasedAt,
    })),
  )
}
