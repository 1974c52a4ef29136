import { encrypt } from '../encryption.ts'
import type { HttpResponse } from '../exchange.ts'
import { isDone, wantStatus } from '../expect.ts'
import { type Fields, type Headers, PATHS, type Subject, skip } from '../subject.ts'
import { issuedCardId } from './issued-card.ts'

// Requests in which everything but the headers is right, so that the headers decide. Where such a request fails with the
// right headers too, a refusal says nothing of them: `need…` finds that out.

const MISSING_CARD = 'card_00000000000000000000000000'

/** Sends an order that makes a card. */
export const sendOrder = async (subject: Subject, headers: Headers): Promise<HttpResponse> => {
  const order = await encrypt(JSON.stringify(subject.orderOf()), subject.sharedKey())
  return subject.call('POST', PATHS.card, order, headers)
}

export const needOrder = async (subject: Subject): Promise<void> => void (await issuedCardId(subject))

/** Sends a search for the card of the run, or for none where the run can make no card. */
export async function sendSearch(subject: Subject, headers: Headers): Promise<HttpResponse> {
  const { companyId, cardAccountId, sharedKey } = subject.partner()
  const svcCardId = sharedKey ? await issuedCardId(subject) : MISSING_CARD
  const body: Fields = { companyId, cardAccountId, svcCardId }
  return subject.call('POST', PATHS.search, body, headers)
}

export async function needSearch(subject: Subject): Promise<void> {
  const { headers, cookie } = await subject.asPartner()
  const isCarriedOut = await subject.once('a search', async () => {
    const response = await sendSearch(subject, { ...headers, ...(cookie !== undefined && { cookie }) })
    // Spec §4.4 does not say what a search for no card returns.
    if (subject.partner().sharedKey && cookie !== undefined) wantStatus(response, 200)
    return isDone(response)
  })
  if (!isCarriedOut) skip('no search succeeds without a session cookie or a card')
}
