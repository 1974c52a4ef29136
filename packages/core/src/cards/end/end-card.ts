import { fail } from '@svc/contract/errors'
import { paise } from '@svc/kernel/money'
import { inEachTime, type Timeline } from '@svc/kernel/time'
import { command } from '@svc/platform/command'
import { timeAhead } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { OutboxEvent } from '@svc/platform/outbox'
import type { CoreServices } from '@svc/platform/services'
import type { Card } from '../card/card.ts'
import type { CardView } from '../card/card-record.ts'
import { replacementEvent, replacementJournal } from '../card/card-replacement.ts'
import { earlier, ended, endStep, expiryOf, nextDue, noticeToWire } from './card-end.ts'
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

const EVERY_MS = 60_000
const CARDS_A_QUERY = 500
/** A card takes a few steps at most before it waits for another day. */
const ROUNDS_MAX = 10

interface EndCard {
  readonly partnerId: string
  readonly svcCardId: string
  readonly replacedBy: string | null
}

/** Takes the next step of a card’s end that is due: announces, expires, empties (decision C21). */
export const endCard = command({
  name: 'endCard',
  prepare(tools) {
    const prepare = endPreparation(tools)
    return ({ partnerId, svcCardId, replacedBy }: EndCard): PreparedEnd => ({
      ...prepare(partnerId, svcCardId),
      replacedBy,
    })
  },
  lock: lockEnds,
  decide,
  apply: applyEnd,
  save: (tx, decisions) => saveEnds(tx, decisions),
})

function decide(state: EndState, command: PreparedEnd, now: Date): EndDecision {
  const { svcCardId, ids, timeZone } = command
  const view = state.views.get(svcCardId) ?? fail('card_not_found')
  const waiting = waitingOf(state, svcCardId)
  if (waiting && waiting.dueAt <= now) {
    const returned: CardReturn = { ...waiting, status: 'RETURNED', closedAt: now }
    return {
      views: [dueAgain(view, now)],
      returned,
      journal: returnJournal(returned, ids.transfer),
      events: [returnEvent(returned, ids.event, timeZone)],
      command,
    }
  }
  const step = endStep(view.card, view, waiting !== undefined, now, timeZone)
  switch (step.kind) {
    case 'follow':
      return follow(state, view, step.amountPaise, command, now)
    case 'unclaim':
      return unclaim(view, step.amountPaise, command, now)
    default:
      return announce(view, step, waiting, command, now)
  }
}

/** Money moved: the card is looked at once more, since what else is due depends on it. */
const dueAgain = (view: CardView, now: Date, lessPaise = 0n): CardView => ({
  ...view,
  card: { ...view.card, dueAt: now },
  balancePaise: view.balancePaise - lessPaise,
})

/** What came back to a replaced card goes to the card that has replaced it. */
function follow(
  state: EndState,
  view: CardView,
  amountPaise: bigint,
  command: PreparedEnd,
  now: Date,
): EndDecision {
  const { partnerId, svcCardId: replacedSvcCardId, replacedBy } = view.card
  const other = state.views.get(replacedBy ?? '')
  // Replaced since the sweep saw it: the next one locks both.
  if (!other) return { views: [dueAgain(view, now)], events: [], command }
  const { svcCardId } = other.card
  const replacement = { partnerId, replacedSvcCardId, svcCardId, amountPaise, at: now }
  const credited = { ...other, balancePaise: other.balancePaise + amountPaise }
  return {
    views: [dueAgain(view, now, amountPaise), other.card.endedAt ? dueAgain(credited, now) : credited],
    journal: replacementJournal(replacement, command.ids.transfer),
    events: [replacementEvent(replacement, command.ids.event, command.timeZone)],
    command,
  }
}

/** The account `unclaimed` gets what is left, and the card account after a wait. */
function unclaim(view: CardView, amountPaise: bigint, command: PreparedEnd, now: Date): EndDecision {
  const returned = newReturn(view.card, amountPaise, null, command, now)
  return {
    views: [dueAgain(view, now, amountPaise)],
    returned,
    isNew: true,
    journal: returnJournal(returned, command.ids.transfer),
    events: [returnEvent(returned, command.ids.event, command.timeZone)],
    command,
  }
}

/** A return that begins now; `consentReference`: where the holder’s consent is recorded, `null` for unclaimed money. */
export const newReturn = (
  { partnerId, svcCardId, cardAccountId }: Card,
  amountPaise: bigint,
  consentReference: string | null,
  { returnId, endTerms }: PreparedEnd,
  now: Date,
): CardReturn => ({
  partnerId,
  returnId,
  svcCardId,
  cardAccountId,
  basis: consentReference === null ? 'unclaimed' : 'consent',
  consentReference,
  amountPaise: paise(amountPaise),
  status: 'WAITING',
  reversalReason: null,
  createdAt: now,
  dueAt: new Date(now.getTime() + endTerms.returnWaitDays * 86_400_000),
  closedAt: null,
})

type Announced =
  | { readonly kind: 'expiring' | 'unclaimed_soon'; readonly days: number }
  | { readonly kind: 'expired' | 'nothing' }

/** Steps in which no money moves, and when the card is looked at next. */
function announce(
  view: CardView,
  step: Announced,
  waiting: CardReturn | undefined,
  command: PreparedEnd,
  now: Date,
): EndDecision {
  const { timeZone, endTerms, ids } = command
  const expiryAt = expiryOf(view.card, timeZone)
  const announced: Card = {
    ...view.card,
    ...(step.kind === 'expired' && { expiredAt: now, ...ended(view.card, now, endTerms) }),
    ...('days' in step && { noticeDays: step.days }),
  }
  const dueAt = earlier(nextDue({ ...announced, expiryAt }, now), waiting?.dueAt ?? null)
  const card = { ...announced, dueAt }
  const after = { ...view, card }
  if (step.kind === 'nothing') return { views: [after], events: [], command }
  const at = step.kind === 'unclaimed_soon' ? (card.unclaimedAt ?? expiryAt) : expiryAt
  const event: OutboxEvent = {
    eventId: ids.event,
    tenantId: card.partnerId,
    type: `card.${step.kind}`,
    objectId: card.svcCardId,
    payload: noticeToWire(card, view.balancePaise, at, now, timeZone),
    createdAt: now,
  }
  return { views: [after], events: [event], command }
}

const DUE = statement<EndCard>(
  'directory_cards_due',
  `select partner_id as "partnerId", svc_card_id as "svcCardId", replaced_by as "replacedBy"
   from directory_cards_due(${timeAhead(1)}, $2, $3)`,
)

/** Takes every step of cards’ ends that is due now; returns how many. */
export const endDueCards = (services: CoreServices, stopping?: AbortSignal): Promise<number> =>
  inEachTime(services.clock, (timeline) => endDueIn(services, timeline, stopping))

async function endDueIn(
  { commands, database }: CoreServices,
  { tenantIds, clock }: Timeline,
  stopping: AbortSignal | undefined,
): Promise<number> {
  const end = commands.open(endCard)
  const rounds = new Map<string, number>()
  let steps = 0
  while (!stopping?.aborted) {
    const due = await database.directory(DUE, [clock.offsetMs(), CARDS_A_QUERY, tenantIds])
    // A card is due again without end only when the database's clock was set back: the next sweep will do.
    const fresh = due.filter(({ svcCardId }) => (rounds.get(svcCardId) ?? 0) < ROUNDS_MAX)
    if (fresh.length === 0) break
    await Promise.all(fresh.map((card) => end.run(card)))
    for (const { svcCardId } of fresh) rounds.set(svcCardId, (rounds.get(svcCardId) ?? 0) + 1)
    steps += fresh.length
  }
  return steps
}

/** Ends the cards of every partner. */
export const endCardsLoop = (services: CoreServices): Loop => {
  const loop: Loop = new Loop(
    {
      name: 'end_cards',
      everyMs: EVERY_MS,
      work: async () => void (await endDueCards(services, loop.stopping)),
      atStart: true,
    },
    services,
  )
  return loop
}
