import { at } from '../expect.ts'
import type { Subject } from '../subject.ts'
import { block } from '../verdict.ts'
import { issued } from './create-card.ts'

/** The id of the card that the run has made; where there is none, the check waits for the creation. */
export async function issuedCardId(subject: Subject): Promise<string> {
  const { response } = await issued(subject)
  const id = at(response, 'payload.svcCardId')
  if (response.status === 200 && typeof id === 'string' && id !== '') return id
  return block(response, 'payload.svcCardId', `needs a card: its creation returned ${response.status}`)
}
