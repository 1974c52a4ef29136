import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { paise } from '@svc/kernel/money'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import type { OutboxEvent } from '@svc/platform/outbox'
import { account } from '../../ledger/accounts.ts'
import { ended, expiryOf, firstDue, NOT_ENDED } from '../end/card-end.ts'
import {
  applyEnd,
  type EndDecision,
  type EndState,
  endPreparation,
  lockEnds,
  type PreparedEnd,
  saveEnds,
  waitingOf,
} from '../end/card-end-state.ts'
import { moveRules } from '../rules/rules-in-force.ts'
import { type Card, cards } from './card.ts'
import {
  type Actor,
  type CardChangeArgs,
  type Changed,
  cardChanges,
  differences,
  laterThan,
  statusEvent,
} from './card-changes.ts'
import { type CardView, toCardRecord } from './card-record.ts'
import { replacementEvent, replacementJournal } from './card-replacement.ts'
import { NOT_RELOADED, UNUSED } from './card-usage.ts'
import { readCardViewsNow } from './card-view.ts'
import {
  type DrawnNumber,
  freeNumber,
  lastMonthOf,
  numberDrawer,
  takeNumber,
  takenNumbers,
} from './draw-number.ts'

interface PreparedReplacement extends PreparedEnd {
  readonly partnerId: string
  readonly actor: Actor
  readonly reason: string
  readonly newIds: {
    readonly card: string
    readonly token: string
    readonly created: string
    readonly changed: string
  }
  readonly numbers: readonly DrawnNumber[]
  readonly validityMonths: number
}

interface State extends EndState {
  readonly takenNumbers: Set<string>
  /** Cards that have replaced others before. */
  readonly replacements: Map<string, CardView>
}

export interface Replaced extends EndDecision {
  /** The new card. */
  readonly replacement: CardView
  /** Absent for a repeat. */
  readonly number?: DrawnNumber
  readonly change?: Changed
  readonly command: PreparedReplacement
}

/**
 * Replaces a card by a new one with a new number, which gets its money; the old one is blocked for good. What is held
 * stays on the old card until it is captured or released, and then follows (decision C21).
 */
export const replaceCard = command({
  name: 'replaceCard',

  prepare(tools) {
    const prepare = endPreparation(tools)
    const draw = numberDrawer(tools)
    const { config, newId } = tools
    return (args: CardChangeArgs): PreparedReplacement => {
      const card = newId('card')
      const prepared = prepare(args.partnerId, args.svcCardId)
      // In the order in which they are published.
      const [created = '', changed = '', event = ''] = [newId('evt'), newId('evt'), newId('evt')].sort()
      return {
        ...prepared,
        ...args,
        ids: { ...prepared.ids, event },
        newIds: { card, token: newId('crd'), created, changed },
        numbers: draw(card),
        validityMonths: config.CARD_VALIDITY_MONTHS,
      }
    }
  },

  lock,
  decide,

  apply(state, decision) {
    applyEnd(state, decision)
    if (decision.number) takeNumber(state.takenNumbers, decision.number)
    state.replacements.set(decision.replacement.card.svcCardId, decision.replacement)
  },

  save(tx, decisions) {
    const done = decisions.filter(({ number }) => number)
    // The new cards first: the old ones refer to them.
    cards.insert(
      tx,
      done.flatMap(({ replacement: { card }, number }) =>
        number
          ? [
              {
                ...card,
                numberEncrypted: number.encrypted(),
                numberDigest: number.digest,
                ciphertextHash: null,
                orderDigest: null,
              },
            ]
          : [],
      ),
    )
    saveEnds(
      tx,
      done,
      done.map(({ replacement: { card } }) => account('card', card.partnerId, card.svcCardId)),
    )
    moveRules(
      tx,
      done.map(({ replacement: { card }, command: { svcCardId } }) => ({ ...card, from: svcCardId })),
    )
    cardChanges.insert(
      tx,
      done.flatMap(({ change, command: { partnerId, svcCardId, actor, reason } }) =>
        (change?.changes ?? []).map((each) => ({
          ...each,
          partnerId,
          svcCardId,
          actor,
          reason,
          createdAt: change!.at,
        })),
      ),
    )
  },
})

async function lock(tx: BatchTx, commands: readonly PreparedReplacement[]): Promise<ByTenant<State>> {
  const ends = await lockEnds(tx, commands)
  const known = commands.flatMap(({ tenantId: partnerId, svcCardId, clockOffsetMs, timeZone }) => {
    const replacedBy = ends.of(partnerId).views.get(svcCardId)?.card.replacedBy
    return replacedBy ? [{ card: { partnerId, svcCardId: replacedBy, clockOffsetMs }, timeZone }] : []
  })
  const [taken, before] = await Promise.all([
    takenNumbers(
      tx,
      commands.flatMap(({ numbers }) => numbers),
    ),
    known[0]
      ? readCardViewsNow(
          tx,
          known.map(({ card }) => card),
          known[0].timeZone,
        )
      : [],
  ])
  return new ByTenant(
    (tenantId): State => ({
      ...ends.of(tenantId),
      takenNumbers: taken,
      replacements: new Map(
        before.filter(({ card }) => card.partnerId === tenantId).map((view) => [view.card.svcCardId, view]),
      ),
    }),
  )
}

function decide(state: State, command: PreparedReplacement, now: Date): Replaced {
  const { svcCardId, tenantId: partnerId, ids, newIds, timeZone } = command
  const view = state.views.get(svcCardId) ?? fail('card_not_found')
  const before = state.replacements.get(view.card.replacedBy ?? '')
  if (before) return { views: [], replacement: before, events: [], command }
  if (view.isUserErased) fail('user_erased')
  if (waitingOf(state, svcCardId)) fail('return_waiting')
  const amountPaise = view.balancePaise - view.heldPaise
  if (amountPaise <= 0n) fail('nothing_left')
  const number = freeNumber(command.numbers, state.takenNumbers)
  const replacement: CardView = {
    card: newCard(view.card, amountPaise, number, command, now),
    account: view.account,
    isUserErased: false,
    balancePaise: amountPaise,
    heldPaise: 0n,
    usage: UNUSED,
    loads: NOT_RELOADED,
  }
  const at = laterThan(view.card.modifiedAt, now)
  const card = replacedCard(view.card, command, at)
  const old = { ...view, card, balancePaise: view.heldPaise }
  const changes = differences(view.card, card, ids.changes)
  const change = { view: old, changes, at, command: { ...command, ids: { ...ids, event: newIds.changed } } }
  const replaced = {
    partnerId,
    replacedSvcCardId: svcCardId,
    svcCardId: newIds.card,
    amountPaise,
    at,
  }
  const created: OutboxEvent = {
    eventId: newIds.created,
    tenantId: partnerId,
    type: 'card.created',
    objectId: newIds.card,
    payload: toCardRecord(replacement, command),
    createdAt: now,
  }
  return {
    views: [old],
    replacement,
    number,
    change,
    journal: replacementJournal(replaced, ids.transfer),
    events: [created, ...statusEvent(change), replacementEvent(replaced, ids.event, timeZone)],
    command,
  }
}

/** The old card: ended, whatever it was. */
function replacedCard(card: Card, { endTerms, newIds, reason }: PreparedReplacement, at: Date): Card {
  const replaced = { ...card, replacedBy: newIds.card }
  return {
    ...replaced,
    ...ended(replaced, at, endTerms),
    status: 'BL',
    blockCode: 'BL',
    remarks: reason,
    modifiedAt: at,
  }
}

/** The new card: another number, valid at least as long; everything else as the old one has it. */
function newCard(
  old: Card,
  amountPaise: bigint,
  number: DrawnNumber,
  { ids, newIds, timeZone, validityMonths }: PreparedReplacement,
  now: Date,
): Card {
  const fresh = lastMonthOf(now, timeZone, validityMonths)
  const expiry = expiryOf(fresh, timeZone) > expiryOf(old, timeZone) ? fresh : old
  return {
    ...old,
    ...NOT_ENDED,
    svcCardId: newIds.card,
    token: newIds.token,
    maskedNumber: number.masked,
    expiryMonth: expiry.expiryMonth,
    expiryYear: expiry.expiryYear,
    status: old.physical ? 'AP' : 'UL',
    activated: !old.physical,
    physicalRequestedAt: old.physical ? now : null,
    loadPaise: paise(amountPaise),
    loadTransferId: ids.transfer,
    blockCode: '',
    remarks: '',
    dueAt: firstDue(expiryOf(expiry, timeZone)),
    replaces: old.svcCardId,
    referenceNumber: null,
    createdAt: now,
    modifiedAt: now,
  }
}
