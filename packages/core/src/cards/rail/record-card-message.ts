import { required } from '@svc/kernel/invariant'
import { paise } from '@svc/kernel/money'
import { type CommandTools, command } from '@svc/platform/command'
import type { Writes } from '@svc/platform/db/database'
import { saveEvents } from '@svc/platform/outbox'
import { saveJournals } from '../../ledger/journals.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import type { CardKey } from '../card/card.ts'
import { cardDirectory } from '../card/card-directory.ts'
import type { CardLimits, Effect } from '../card/card-effect.ts'
import { wakeEnded } from '../end/card-end-state.ts'
import { countUse } from '../rules/rules-in-force.ts'
import { type CardAuthorization, cardAuthorizations, updateAuthorizations } from './card-authorization.ts'
import { storeExceptions } from './card-exception.ts'
import { cardMessages, contentDigest, identityKey } from './card-message.ts'
import { messageJournal } from './card-message-journal.ts'
import { lockCardRail, type RecordMessage, type RecordMessageArgs } from './card-rail-state.ts'
import { decideRecording, type RecordedMessage } from './decide-recording.ts'

const isSame =
  ({ authorizationId }: CardAuthorization) =>
  (other: CardAuthorization): boolean =>
    other.authorizationId === authorizationId

const saveRefunded = cardMessages.updates(['refundedPaise'], 'refund')

/** Decides or records a message of the card network (decision R1). A repeat gets the first response. */
export const recordCardMessage = command({
  name: 'recordCardMessage',
  isSigned: true,
  prepare,
  lock: lockCardRail,
  decide: decideRecording,
  apply({ cards, known, uses }, { stored, card, effect, command }) {
    if (card) {
      const { svcCardId } = card.view.card
      const after = effect?.authorization
      if (after) countUse(uses, cards.get(svcCardId)?.authorizations.find(isSame(after)), after)
      cards.set(svcCardId, card)
    }
    if (stored)
      known.set(identityKey(stored), [
        ...(known.get(identityKey(stored)) ?? []),
        {
          type: stored.type,
          digest: command.digest,
          plainDigest: command.plainDigest,
          response: stored.response,
        },
      ])
  },
  save,
})

function prepare({ clock, config, database, keyring, newId, random }: CommandTools) {
  const cardOf = cardDirectory(database, keyring)
  const rupees = (whole: number) => paise(BigInt(whole) * 100n)
  const limits: CardLimits = {
    transactionPaise: rupees(config.CARD_TRANSACTION_MAX_RUPEES),
    dayPaise: rupees(config.CARD_DAY_MAX_RUPEES),
    monthPaise: rupees(config.CARD_MONTH_MAX_RUPEES),
    overCapturePercent: config.CARD_OVER_CAPTURE_PERCENT,
    holdMs: config.CARD_HOLD_DAYS * 86_400_000,
  }
  return async (args: RecordMessageArgs): Promise<RecordMessage> => {
    const message = 'message' in args.read ? args.read.message : undefined
    const card = message && (await cardOf(message.card, args))
    const tenantId = card?.partnerId ?? PLATFORM_TENANT
    const digits = Buffer.from(random(4)).readUInt32BE() % 1_000_000
    return {
      ...args,
      tenantId,
      svcCardId: card?.svcCardId ?? '',
      message,
      digest: message ? contentDigest(message, card?.svcCardId ?? 'unknown') : Buffer.alloc(0),
      limits,
      ids: {
        message: newId('cmg'),
        authorization: newId('cau'),
        exception: newId('cex'),
        event: newId('evt'),
        transfers: [newId('trf'), newId('trf')].sort(),
      },
      authorizationCode: String(digits).padStart(6, '0'),
      clockOffsetMs: clock.of(tenantId).offsetMs(),
      timeZone: config.BUSINESS_TIME_ZONE,
    }
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
  updateAuthorizations(tx, authorizationsOf(holds.filter(({ isNew }) => !isNew)))
  cardMessages.insert(
    tx,
    done.map(({ stored, command: { digest, plainDigest } }) => ({
      ...stored,
      contentDigest: digest,
      plainDigest,
    })),
  )
  saveRefunded(
    tx,
    done.flatMap(({ effect }) => effect.capture ?? []),
  )
  if (done.length > 0)
    saveJournals(
      tx,
      required(decisions[0], 'a batch has decisions').command.timeZone,
      done.flatMap(
        ({ stored, effect, command }) => messageJournal(stored, effect, command.ids.transfers) ?? [],
      ),
    )
  wakeEnded(tx, decisions.flatMap(woken))
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
  storeExceptions(
    tx,
    decisions.flatMap(({ exception }) => exception ?? []),
  )
}

/** An ended card to which money came back, or of which less is held. */
const woken = ({ card, effect, stored }: RecordedMessage): (CardKey & { readonly at: Date })[] =>
  card?.view.card.endedAt && effect && stored && effect.creditPaise + effect.releasedPaise > 0n
    ? [{ ...card.view.card, at: stored.createdAt }]
    : []
