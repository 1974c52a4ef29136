import { ByTenant } from '@svc/kernel/by-tenant'
import { groupBy } from '@svc/kernel/group-by'
import { required } from '@svc/kernel/invariant'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { type Account, account } from '../../ledger/accounts.ts'
import type { Origin } from '../../tenants/homes.ts'
import { type LockedCard, lockCards, readForMoney } from '../card/card-changes.ts'
import type { CardLimits } from '../card/card-effect.ts'
import { lockRulesInForce, type SpendUses } from '../rules/rules-in-force.ts'
import { type CardAuthorization, cardAuthorizations } from './card-authorization.ts'
import {
  type CardMessage,
  cardMessages,
  identityKey,
  type MessageIdentity,
  type MessageType,
  type StoredMessage,
} from './card-message.ts'
import { movesMoney } from './card-message-journal.ts'
import type { CardState } from './message-references.ts'
import type { ReadMessage } from './read-card-message.ts'

/** A signed message with what can be read of it. */
export interface RecordMessageArgs extends Origin {
  readonly type: MessageType
  readonly read: ReadMessage
  /** As it was signed, card numbers masked: for operators, where it cannot be recorded. */
  readonly body: Buffer
  /** SHA-256 of the message as it was written, decrypted. */
  readonly plainDigest: Buffer
}

export interface RecordMessage extends PreparedCommand, RecordMessageArgs {
  /** Empty for a card that is not known. */
  readonly svcCardId: string
  readonly message: CardMessage | undefined
  readonly digest: Buffer
  readonly limits: CardLimits
  readonly ids: {
    readonly message: string
    readonly authorization: string
    readonly exception: string
    readonly event: string
    /** Two, in the order of the legs. */
    readonly transfers: readonly string[]
  }
  readonly authorizationCode: string
  /** By how many milliseconds the partner's clock is ahead of the database's. */
  readonly clockOffsetMs: number
  readonly timeZone: string
}

export interface KnownMessage {
  readonly type: MessageType
  readonly digest: Buffer
  readonly plainDigest: Buffer | null
  readonly response: string
}

export interface CardRailState {
  readonly cards: Map<string, CardState>
  /** By identity without the type, and the same for all tenants. */
  readonly known: Map<string, readonly KnownMessage[]>
  /** What spend rules have counted, by counter. */
  readonly uses: SpendUses
}

const KNOWN = statement<Omit<MessageIdentity, 'type'> & KnownMessage>(
  'directory_card_messages_of',
  `select acquirer_id as "acquirerId", stan, transmission_at as "transmissionAt", type, content_digest as digest,
     plain_digest as "plainDigest", response
   from directory_card_messages_of($1, $2, $3)`,
)
const AUTHORIZATIONS = statement<CardAuthorization>(
  'card_authorizations_of_cards',
  `select ${cardAuthorizations.columns} from card_authorizations a
   where (a.partner_id, a.svc_card_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const MESSAGES = statement<StoredMessage>(
  'card_messages_of_cards',
  `select ${cardMessages.columns} from card_messages m
   where (m.partner_id, m.svc_card_id) in (select * from unnest($1::text[], $2::text[]))
     and (m.type in ('capture', 'advice') or m.raises or m.type = 'void' and m.event_type is null)`,
)
/** An authorisation moves no money: it need not wait for those of other cards at the accounts that all share. */
function movedBy(commands: readonly RecordMessage[]): (card: LockedCard) => Account[] {
  const moving = new Set(commands.flatMap(({ type, tenantId }) => (movesMoney(type) ? [tenantId] : [])))
  return ({ partnerId, svcCardId }) =>
    moving.has(partnerId)
      ? [
          account('card', partnerId, svcCardId),
          account('card_settlement', partnerId),
          account('card_exceptions', partnerId),
        ]
      : []
}

/** Locks the cards of messages, then reads what is known of them and of the messages themselves. */
export async function lockCardRail(
  tx: BatchTx,
  commands: readonly RecordMessage[],
): Promise<ByTenant<CardRailState>> {
  const locked = await lockCards(tx, commands)
  const messages = commands.flatMap(({ message }) => message ?? [])
  const keys = columns(
    locked,
    (card) => card.partnerId,
    (card) => card.svcCardId,
  )
  // After the lock, so that they see what it waited for; they travel together.
  const [views, knownRows, authorizations, earlier, { rules, uses }] = await Promise.all([
    readForMoney(tx, locked, commands, movedBy(commands)),
    tx.query(
      KNOWN,
      columns(
        messages,
        (m) => m.acquirerId,
        (m) => m.stan,
        (m) => m.transmissionAt,
      ),
    ),
    tx.query(AUTHORIZATIONS, keys),
    tx.query(MESSAGES, keys),
    lockRulesInForce(
      tx,
      locked,
      commands.filter(({ type }) => type === 'authorization' || type === 'advice'),
    ),
  ])
  const known: CardRailState['known'] = groupBy(knownRows, identityKey)
  const state = new ByTenant((): CardRailState => ({ cards: new Map(), known, uses }))
  for (const { partnerId, svcCardId } of locked) {
    const view = required(views.of(partnerId).get(svcCardId), 'a locked card is read')
    const ofCard = { view, authorizations: [], messages: [], rules: rules.get(svcCardId) ?? [] }
    state.of(partnerId).cards.set(svcCardId, ofCard)
  }
  const ofCard = (row: { partnerId: string; svcCardId: string | null }) => {
    const { cards } = state.of(row.partnerId)
    return { cards, card: required(cards.get(row.svcCardId ?? ''), 'what was read is of a locked card') }
  }
  for (const row of authorizations) {
    const { cards, card } = ofCard(row)
    cards.set(row.svcCardId, { ...card, authorizations: [...card.authorizations, row] })
  }
  for (const row of earlier) {
    const { cards, card } = ofCard(row)
    cards.set(card.view.card.svcCardId, { ...card, messages: [...card.messages, row] })
  }
  return state
}
