import type { PartnerName } from '../credentials.ts'
import type { HttpResponse } from '../exchange.ts'
import { fail, wantKind, wantStatus, wantText } from '../expect.ts'
import type { Subject } from '../subject.ts'
import { HOLDER, newMobile } from './create-card.ts'
import { issuedCardId } from './issued-card.ts'

export const scopeOf = (subject: Subject, who: PartnerName) => {
  const { companyId, cardAccountId } = subject.partner(who)
  return { companyId, cardAccountId }
}

/** The incentive variant, for the card that the run has made. */
export const incentive = (subject: Subject): Promise<HttpResponse> =>
  subject.observe('a search for the created card', async () => {
    const svcCardId = await issuedCardId(subject)
    return subject.search('incentivePartner', { ...scopeOf(subject, 'incentivePartner'), svcCardId })
  })

interface Card {
  readonly svcCardId: string
  readonly card: HttpResponse
}

/** A card of another partner than the one whose card the run has made. */
const cardOf = (subject: Subject, who: PartnerName, name: string): Promise<Card> =>
  subject.once(name, async () => {
    const { title, firstName, lastName } = HOLDER
    const order = subject.orderOf(who, { title, firstName, lastName, mobile: newMobile() })
    const card = await subject.createCard(order, { who })
    wantStatus(card, 200)
    return { svcCardId: wantText(card, 'payload.svcCardId'), card }
  })
export const rewarded = (subject: Subject) =>
  cardOf(subject, 'rewardsPartner', 'a card of the rewards partner')
const rewardedNext = (subject: Subject) =>
  cardOf(subject, 'rewardsPartner', 'a second card of the rewards partner')
/** Ids of two cards that the account has. */
export const bothRewarded = async (subject: Subject): Promise<readonly string[]> => [
  (await rewarded(subject)).svcCardId,
  (await rewardedNext(subject)).svcCardId,
]
export const foreign = (subject: Subject) => cardOf(subject, 'otherPartner', 'a card of the other partner')

/** The rewards variant for one card, and for all of the account. */
export const one = (subject: Subject): Promise<HttpResponse> =>
  subject.observe('a search for one card of the rewards partner', async () => {
    const { svcCardId } = await rewarded(subject)
    return subject.search('rewardsPartner', { ...scopeOf(subject, 'rewardsPartner'), svcCardId })
  })
export const everything = (subject: Subject): Promise<HttpResponse> =>
  subject.observe('a search for all cards of the rewards partner', async () => {
    await bothRewarded(subject)
    return subject.search('rewardsPartner', scopeOf(subject, 'rewardsPartner'))
  })

/** The records of a search that finds some; each of them is looked at, so there must be one. */
export function records(response: HttpResponse): Record<string, unknown>[] {
  const data = wantKind(response, 'payload.data', 'array') as Record<string, unknown>[]
  if (data.length === 0) fail(response, 'payload.data: a record at least', 'none')
  return data
}
