import { newId } from '@svc/contract/id-kinds'
import { ByTenant, lastOfEach } from '@svc/kernel/by-tenant'
import { required } from '@svc/kernel/invariant'
import { paise } from '@svc/kernel/money'
import { type CommandTools, command } from '@svc/platform/command'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import type { Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { account, lockAccounts } from '../ledger/accounts.ts'
import { saveJournals } from '../ledger/journals.ts'
import { PLATFORM_TENANT } from '../tenants/tenant.ts'
import { type CardAuthorization, cardAuthorizations, updateAuthorizations } from './card-authorization.ts'
import { lockCards, readLocked } from './card-changes.ts'
import { cardDirectory } from './card-directory.ts'
import {
  type CardException,
  exceptionIdOf,
  keepExceptions,
  quarantinedToWire,
  type UnreadableReason,
} from './card-exception.ts'
import {
  type CardMessage,
  cardMessages,
  contentDigest,
  identityKey,
  type MessageType,
  messageToWire,
  responseCodeOf,
  type StoredMessage,
} from './card-message.ts'
import { messageJournal } from './card-message-journal.ts'
import { openToBuy } from './card-record.ts'
import { type CardLimits, type CardState, decideMessage, type Effect } from './decide-card-message.ts'
import type { ReadMessage } from './read-card-message.ts'

/** A signed message with what can be read of it. */
interface RecordMessageAsk {
  readonly type: MessageType
  readonly read: ReadMessage
  /** As it was signed, card numbers masked: for operators, where it cannot be recorded. */
  readonly body: Buffer
}

interface RecordMessage extends PreparedCommand, RecordMessageAsk {
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
    readonly transfers: readonly [string, string]
  }
  readonly authorizationCode: string
  readonly at: Date
  readonly timeZone: string
}

interface KnownMessage {
  readonly digest: Buffer
  readonly response: string
}

interface State {
  readonly cards: Map<string, CardState>
  /** By identity, and the same for all tenants. */
  readonly known: Map<string, KnownMessage>
}

export interface RecordedMessage {
  /** 202 when it was not recorded, and shown to operators. */
  readonly status: 200 | 202
  /** The payload of the response, JSON. */
  readonly response: string
  /** Absent for repeats and for what is not recorded. */
  readonly stored: (StoredMessage & Pick<KnownMessage, 'response'>) | undefined
  readonly card: CardState | undefined
  readonly effect: Effect | undefined
  readonly exception: CardException | undefined
  readonly command: RecordMessage
}

const KNOWN = statement<{
  acquirer_id: string
  stan: string
  transmission_at: Date
  type: MessageType
  content_digest: Buffer
  response: string
}>('directory_card_messages', 'select * from directory_card_messages($1, $2, $3, $4)')
const AUTHORIZATIONS = statement<CardAuthorization>(
  'card_authorizations_of_cards',
  `select ${cardAuthorizations.columns} from card_authorizations a
   where (a.partner_id, a.svc_card_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const MESSAGES = statement<StoredMessage>(
  'card_messages_of_cards',
  `select ${cardMessages.columns} from card_messages m
   where (m.partner_id, m.svc_card_id) in (select * from unnest($1::text[], $2::text[]))
     and (m.type in ('capture', 'advice') or m.type = 'void' and m.authorization_id is null)`,
)
const saveRefunded = cardMessages.updates(['refundedPaise'], 'refund')

/** Decides or records a message of the card network (decision R1). A repeat gets the first response. */
export const recordCardMessage = command({
  name: 'recordCardMessage',
  prepare,
  lock,
  decide,
  apply({ cards, known }, { stored, card, command }) {
    if (card) cards.set(card.view.card.svcCardId, card)
    if (stored) known.set(identityKey(stored), { digest: command.digest, response: stored.response })
  },
  save,
})

function prepare({ clock, config, database, keyring, random }: CommandTools) {
  const cardOf = cardDirectory(database, keyring)
  const rupees = (whole: number) => paise(BigInt(whole) * 100n)
  const limits: CardLimits = {
    transactionPaise: rupees(config.CARD_TRANSACTION_MAX_RUPEES),
    dayPaise: rupees(config.CARD_DAY_MAX_RUPEES),
    monthPaise: rupees(config.CARD_MONTH_MAX_RUPEES),
    overCapturePercent: config.CARD_OVER_CAPTURE_PERCENT,
    holdMs: config.CARD_HOLD_DAYS * 86_400_000,
  }
  return async (ask: RecordMessageAsk): Promise<RecordMessage> => {
    const message = 'message' in ask.read ? ask.read.message : undefined
    const card = message && (await cardOf(message.card))
    const nowMs = clock.now()
    const digits = Buffer.from(random(4)).readUInt32BE() % 1_000_000
    return {
      ...ask,
      tenantId: card?.partnerId ?? PLATFORM_TENANT,
      svcCardId: card?.svcCardId ?? '',
      message,
      digest: message ? contentDigest(message, card?.svcCardId ?? 'unknown') : Buffer.alloc(0),
      limits,
      ids: {
        message: newId('cmg', nowMs, random),
        authorization: newId('cau', nowMs, random),
        exception: newId('cex', nowMs, random),
        event: newId('evt', nowMs, random),
        transfers: [newId('trf', nowMs, random), newId('trf', nowMs, random)],
      },
      authorizationCode: String(digits).padStart(6, '0'),
      at: new Date(nowMs),
      timeZone: config.BUSINESS_TIME_ZONE,
    }
  }
}

async function lock(tx: BatchTx, commands: readonly RecordMessage[]): Promise<ByTenant<State>> {
  const locked = await lockCards(tx, commands)
  const messages = commands.flatMap(({ message }) => message ?? [])
  const keys = columns(
    locked,
    (card) => card.partnerId,
    (card) => card.svcCardId,
  )
  // After the lock, so that they see what it waited for; they travel together.
  const [views, knownRows, authorizations, earlier] = await Promise.all([
    readLocked(tx, locked, commands),
    tx.query(
      KNOWN,
      columns(
        messages,
        (m) => m.acquirerId,
        (m) => m.stan,
        (m) => m.transmissionAt,
        (m) => m.type,
      ),
    ),
    tx.query(AUTHORIZATIONS, keys),
    tx.query(MESSAGES, keys),
    lockAccounts(
      tx,
      locked.flatMap(({ partnerId, svcCardId }) => [
        account('card', partnerId, svcCardId),
        account('card_settlement', partnerId),
        account('card_exceptions', partnerId),
      ]),
    ),
  ])
  const known = new Map(
    knownRows.map(({ acquirer_id: acquirerId, stan, transmission_at, type, content_digest, response }) => [
      identityKey({ acquirerId, stan, transmissionAt: transmission_at, type }),
      { digest: content_digest, response },
    ]),
  )
  const state = new ByTenant((): State => ({ cards: new Map(), known }))
  for (const { partnerId, svcCardId } of locked) {
    const view = required(views.of(partnerId).get(svcCardId), 'a locked card is read')
    state.of(partnerId).cards.set(svcCardId, { view, authorizations: [], messages: [] })
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

const NOT_RECORDED = { stored: undefined, card: undefined, effect: undefined } as const

function decide({ cards, known }: State, command: RecordMessage, now: Date): RecordedMessage {
  const { message, read } = command
  if (!message) return quarantined(command, (read as { unreadable: UnreadableReason }).unreadable, now)
  const first = known.get(identityKey(message))
  if (first)
    return first.digest.equals(command.digest)
      ? { ...NOT_RECORDED, status: 200, response: first.response, exception: undefined, command }
      : contradicting(command, message, now)
  const card = cards.get(command.svcCardId)
  if (!card)
    return isDecided(message)
      ? declinedUnknown(command, message, now)
      : quarantined(command, 'unknown_card', now)
  const { limits, timeZone, ids, authorizationCode } = command
  const effect = decideMessage(card, { message, limits, timeZone, ids, authorizationCode, now })
  return recorded(command, message, card, effect, now)
}

/** Real-time requests are decided; everything else has happened already. */
const isDecided = ({ type }: CardMessage): boolean => type === 'authorization' || type === 'balance_inquiry'

const exceptionOf = (
  command: RecordMessage,
  exception: Pick<CardException, 'reason'> & Partial<CardException>,
  now: Date,
): CardException => ({
  partnerId: command.tenantId,
  exceptionId: command.ids.exception,
  svcCardId: command.svcCardId || null,
  messageId: null,
  debitPaise: paise(0n),
  creditPaise: paise(0n),
  body: null,
  createdAt: now,
  ...exception,
})

/** Kept as it was signed, for an operator to read; the same bytes once. */
function quarantined(command: RecordMessage, reason: CardException['reason'], now: Date): RecordedMessage {
  const { body, type } = command
  const exceptionId = exceptionIdOf(Buffer.concat([Buffer.from(`${type} `), body]))
  const exception = exceptionOf(command, { exceptionId, reason, body }, now)
  const response = JSON.stringify(quarantinedToWire(exception))
  return { ...NOT_RECORDED, status: 202, response, exception, command }
}

const NO_EFFECT = {
  debitPaise: paise(0n),
  creditPaise: paise(0n),
  releasedPaise: paise(0n),
} as const

/** The same identity asks for something else: declined where it can be, and shown. */
function contradicting(command: RecordMessage, message: CardMessage, now: Date): RecordedMessage {
  const kept = quarantined(command, 'contradicts_earlier_message', now)
  if (!isDecided(message)) return kept
  const outcome = {
    messageId: command.ids.message,
    svcCardId: command.svcCardId || undefined,
    status: 'declined' as const,
    reason: 'contradicts_earlier_message' as const,
    ...{ debitedPaise: 0n, creditedPaise: 0n, releasedPaise: 0n, exceptionPaise: 0n },
  }
  const response = JSON.stringify(messageToWire(message, outcome, now, command.timeZone))
  return { ...kept, status: 200, response }
}

function declinedUnknown(command: RecordMessage, message: CardMessage, now: Date): RecordedMessage {
  const effect: Effect = { ...NO_EFFECT, status: 'declined', reason: 'unknown_card' }
  return recorded(command, message, undefined, effect, now)
}

function recorded(
  command: RecordMessage,
  message: CardMessage,
  before: CardState | undefined,
  effect: Effect,
  now: Date,
): RecordedMessage {
  const { ids, tenantId, timeZone } = command
  const { status, reason, authorization, capture, debitPaise, creditPaise, releasedPaise, exception } = effect
  const after = before && afterEffect(before, effect)
  const outcome = {
    messageId: ids.message,
    svcCardId: command.svcCardId || undefined,
    status,
    reason,
    authorizationId: authorization?.authorizationId,
    authorizationCode: authorization?.authorizationCode,
    captureId: capture?.messageId,
    debitedPaise: debitPaise,
    creditedPaise: creditPaise,
    releasedPaise,
    exceptionPaise: (exception?.debitPaise ?? 0n) + (exception?.creditPaise ?? 0n),
    balances:
      after && status !== 'declined'
        ? { otbPaise: openToBuy(after.view), accountPaise: after.view.balancePaise }
        : undefined,
  }
  const stored = {
    ...message,
    partnerId: tenantId,
    messageId: ids.message,
    svcCardId: command.svcCardId || null,
    authorizationId: authorization?.authorizationId ?? null,
    captureId: capture?.messageId ?? null,
    originalStan: message.original?.stan ?? null,
    originalTransmissionAt: message.original?.transmissionAt ?? null,
    debitedPaise: debitPaise,
    creditedPaise: creditPaise,
    refundedPaise: paise(0n),
    responseCode: responseCodeOf(outcome),
    eventType: (before && effect.event) ?? null,
    response: JSON.stringify(messageToWire(message, outcome, now, timeZone)),
    createdAt: now,
  }
  const isReferredTo = stored.type === 'capture' || stored.type === 'advice' || stored.type === 'void'
  return {
    status: 200,
    response: stored.response,
    stored,
    card: after && (isReferredTo ? { ...after, messages: [...after.messages, stored] } : after),
    effect,
    exception: exception && exceptionOf(command, { ...exception, messageId: ids.message }, now),
    command,
  }
}

/** The card as later messages of the same batch see it. */
function afterEffect(state: CardState, effect: Effect): CardState {
  const { authorization, isNew, capture, debitPaise, creditPaise, releasedPaise } = effect
  const { view, authorizations, messages } = state
  const moved = debitPaise - creditPaise
  const { dayPaise, monthPaise, yearPaise, lifePaise } = view.usage
  const others = authorizations.filter((held) => held.authorizationId !== authorization?.authorizationId)
  return {
    view: {
      ...view,
      balancePaise: view.balancePaise - moved,
      heldPaise: view.heldPaise - releasedPaise + (isNew && authorization ? authorization.heldPaise : 0n),
      usage: {
        dayPaise: dayPaise + moved,
        monthPaise: monthPaise + moved,
        yearPaise: yearPaise + moved,
        lifePaise: lifePaise + moved,
      },
    },
    authorizations: authorization ? [...others, authorization] : authorizations,
    messages: messages.map((earlier) =>
      capture && earlier.messageId === capture.messageId ? capture : earlier,
    ),
  }
}

function save(tx: Writes, decisions: readonly RecordedMessage[]): void {
  const done = decisions.flatMap(({ stored, effect, command }) =>
    stored && effect ? [{ stored, effect, command }] : [],
  )
  const holds = done.flatMap(({ effect }) => (effect.authorization ? [effect] : []))
  const authorizationsOf = (some: readonly Effect[]) =>
    some.flatMap(({ authorization }) => authorization ?? [])
  cardAuthorizations.insert(tx, authorizationsOf(holds.filter(({ isNew }) => isNew)))
  updateAuthorizations(
    tx,
    lastOfEach(
      authorizationsOf(holds.filter(({ isNew }) => !isNew)),
      (held) => held.partnerId,
      (held) => held.authorizationId,
    ),
  )
  cardMessages.insert(
    tx,
    done.map(({ stored, command: { digest } }) => ({ ...stored, contentDigest: digest })),
  )
  saveRefunded(
    tx,
    lastOfEach(
      done.flatMap(({ effect }) => effect.capture ?? []),
      (capture) => capture.partnerId,
      (capture) => capture.messageId,
    ),
  )
  if (done.length > 0)
    saveJournals(
      tx,
      required(decisions[0], 'a batch has decisions').command.timeZone,
      done.flatMap(
        ({ stored, effect, command }) => messageJournal(stored, effect, command.ids.transfers) ?? [],
      ),
    )
  saveEvents(
    tx,
    done.flatMap(({ stored, command }) =>
      stored.eventType && stored.svcCardId
        ? [
            {
              eventId: command.ids.event,
              tenantId: stored.partnerId,
              type: stored.eventType,
              objectId: stored.svcCardId,
              payload: JSON.parse(stored.response) as unknown,
              createdAt: stored.createdAt,
            },
          ]
        : [],
    ),
  )
  keepExceptions(
    tx,
    decisions.flatMap(({ exception }) => exception ?? []),
  )
}
