import { fail } from '@svc/contract/errors'
import { command } from '@svc/platform/command'
import { type Card, isExpired } from '../card/card.ts'
import { earlier, nextDue, UNCLAIMED_NOTICES } from './card-end.ts'
import {
  applyEnd,
  type EndDecision,
  type EndState,
  endPreparation,
  lockEnds,
  type PreparedEnd,
  saveEnds,
  waitingOf,
} from './card-end-state.ts'
import { type CardReturn, returnEvent, returnJournal } from './card-return.ts'
import { newReturn } from './end-card.ts'

export const CONSENT_REFERENCE_CHARS_MAX = 64

interface ReturnCard {
  readonly partnerId: string
  readonly svcCardId: string
  /** Where the holder’s consent is recorded; a repeat changes nothing and returns the first return. */
  readonly consentReference: string
}

/** What became of a return. */
export interface Returning extends EndDecision {
  readonly returned: CardReturn
}

/** Sends what is left on an ended card back to its card account, at the holder’s recorded consent (decision C21). */
export const returnCard = command({
  name: 'returnCard',
  prepare(tools) {
    const prepare = endPreparation(tools)
    return ({ partnerId, svcCardId, consentReference }: ReturnCard) => ({
      ...prepare(partnerId, svcCardId),
      consentReference,
    })
  },
  lock: lockEnds,
  decide(state: EndState, command: PreparedEnd & Pick<ReturnCard, 'consentReference'>, now: Date): Returning {
    const { svcCardId, consentReference, ids, timeZone } = command
    const view = state.views.get(svcCardId) ?? fail('card_not_found')
    const before = state.returns
      .get(svcCardId)
      ?.find((returned) => returned.consentReference === consentReference)
    if (before) return { views: [], returned: before, events: [], command }
    const { card, balancePaise, heldPaise } = view
    if (card.endedAt === null && !isExpired(card, now, timeZone)) fail('card_not_ended')
    if (waitingOf(state, svcCardId)) fail('return_waiting')
    const amountPaise = balancePaise - heldPaise
    // What comes back to a replaced card follows to the one that has replaced it.
    if (card.replacedBy !== null || amountPaise <= 0n) fail('nothing_left')
    const returned = newReturn(card, amountPaise, consentReference, command, now)
    const after = { ...card, dueAt: earlier(card.dueAt, returned.dueAt) }
    return {
      views: [{ ...view, card: after, balancePaise: balancePaise - amountPaise }],
      returned,
      isNew: true,
      journal: returnJournal(returned, ids.transfer),
      events: [returnEvent(returned, ids.event, timeZone)],
      command,
    }
  },
  apply: (state, decision: Returning) => applyEnd(state, decision),
  save: (tx, decisions) => saveEnds(tx, decisions),
})

interface ReverseReturn {
  readonly partnerId: string
  readonly svcCardId: string
  readonly returnId: string
  readonly reason: string
}

/**
 * Puts what is on its way back to the card account back on the card, as long as it waits. Nothing is unclaimed before it
 * has been announced again.
 */
export const reverseReturn = command({
  name: 'reverseReturn',
  prepare(tools) {
    const prepare = endPreparation(tools)
    return ({ partnerId, svcCardId, returnId: reverses, reason }: ReverseReturn) => ({
      ...prepare(partnerId, svcCardId),
      reverses,
      reason,
    })
  },
  lock: lockEnds,
  decide(
    state: EndState,
    command: PreparedEnd & { readonly reverses: string; readonly reason: string },
    now: Date,
  ): Returning {
    const { svcCardId, reverses, reason, ids, timeZone } = command
    const view = state.views.get(svcCardId) ?? fail('card_not_found')
    const waiting =
      state.returns.get(svcCardId)?.find(({ returnId }) => returnId === reverses) ?? fail('return_not_found')
    if (waiting.status === 'REVERSED') return { views: [], returned: waiting, events: [], command }
    if (waiting.status === 'RETURNED') fail('return_closed')
    const returned: CardReturn = {
      ...waiting,
      status: 'REVERSED',
      reversalReason: reason,
      closedAt: now,
    }
    return {
      views: [
        {
          ...view,
          card: announcedAgain(view.card, now),
          balancePaise: view.balancePaise + waiting.amountPaise,
        },
      ],
      returned,
      journal: returnJournal(returned, ids.transfer),
      events: [returnEvent(returned, ids.event, timeZone)],
      command,
    }
  },
  apply: (state, decision: Returning) => applyEnd(state, decision),
  save: (tx, decisions) => saveEnds(tx, decisions),
})

/** An ended card on which money is again: it has the days of all announcements at least. */
function announcedAgain(card: Card, now: Date): Card {
  const least = new Date(now.getTime() + UNCLAIMED_NOTICES[0] * 86_400_000)
  if (card.unclaimedAt === null || card.unclaimedAt >= least) return card
  const again = { ...card, unclaimedAt: least, noticeDays: null }
  return { ...again, dueAt: earlier(now, nextDue(again, now)) }
}
