import { afterAll, beforeAll, expect, test } from 'vitest'
import { Terminal } from '../harness/card-rail.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { type FrozenService, openFrozenService } from '../harness/frozen-time.ts'
import { onceAwaited } from '../harness/lock-wait.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { asSuperuser } from '../harness/service.ts'

const DAY = 86_400_000
const ZONE_AHEAD = 5.5 * 3_600_000
/** A midnight of the business zone. */
const MIDNIGHT = Math.ceil((Date.now() + ZONE_AHEAD) / DAY) * DAY - ZONE_AHEAD

let service: FrozenService
beforeAll(async () => {
  service = await openFrozenService({ CARD_DAY_MAX_RUPEES: '100' })
})
afterAll(() => service.close())

async function newCard() {
  const partner = await newPartner(service)
  const { svcCardId, token } = payloadOf(await createCard(await asPartner(service.client, partner), partner))
  return { svcCardId: svcCardId as string, terminal: new Terminal(service.client, token) }
}
/** What comes of a message that is sent before midnight and waits for its card until after it. */
async function acrossMidnight(svcCardId: string, send: () => Promise<Json>): Promise<Json> {
  await service.at(MIDNIGHT - 1)
  return asSuperuser(service.db.database, async (db) => {
    await db.query('begin')
    await db.query('select from cards where svc_card_id = $1 for update', [svcCardId])
    const sent = send()
    await onceAwaited(db)
    await service.at(MIDNIGHT)
    await db.query('commit')
    return sent
  })
}

test('an authorisation that is decided after midnight counts only what was spent and held on the new day', async () => {
  await service.at(MIDNIGHT - 600_000)
  const { svcCardId, terminal } = await newCard()
  const { authorizationId } = await terminal.authorize(60)
  await terminal.capture(60, { authorizationId })
  await terminal.authorize(40)
  expect(await terminal.authorize(1)).toMatchObject({ status: 'declined', reason: 'over_day_limit' })
  const authorize = () => terminal.authorize(100)
  expect(await acrossMidnight(svcCardId, authorize)).toMatchObject({ status: 'approved' })
  expect(await terminal.authorize(1)).toMatchObject({ status: 'declined', reason: 'over_day_limit' })
})
