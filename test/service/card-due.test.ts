import { checkInvariants } from '@svc/console-api/invariants'
import type { KycStatus } from '@svc/core/cards/card/card-states'
import { setCardKyc } from '@svc/core/cards/card/set-card-kyc'
import { endDueCards } from '@svc/core/cards/end/end-card'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Terminal } from '../harness/card-rail.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let client: Client

beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
})
afterAll(async () => {
  const broken = (await checkInvariants(service.app.services.database))
    .filter(({ violations }) => violations.length > 0)
    .map(({ name, violations }) => [name, violations])
  await service.close()
  expect(broken).toEqual([])
})

const DAY_MS = 86_400_000
const path = (svcCardId: string, rest = '') => `/api/v0/partner/svcCard/${svcCardId}${rest}`
const newCard = async (): Promise<Json> => payloadOf(await createCard(client, partner, { loadAmount: 500 }))
const block = async (svcCardId: string): Promise<Json> =>
  payloadOf(await client.patch(path(svcCardId, '/status'), { status: 'BL', reason: 'lost' }))
const giveBack = async (svcCardId: string): Promise<Json> =>
  payloadOf(await client.post(path(svcCardId, '/return'), { consentReference: 'letter-1' }))
const sweep = () => endDueCards(service.app.services)
const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as T[])

/** Each creates a card that is over and due: a return waits, or money came back. */
const DUE_CARDS: Readonly<Record<string, () => Promise<string>>> = {
  'a blocked card whose return waits': async () => {
    const { svcCardId } = await newCard()
    await block(svcCardId)
    await giveBack(svcCardId)
    return svcCardId
  },
  'a blocked card beyond its days whose return waits': async () => {
    const { svcCardId } = await newCard()
    await block(svcCardId)
    await sql('update cards set unclaimed_at = now(), due_at = now() where svc_card_id = $1', [svcCardId])
    await sweep()
    return svcCardId
  },
  'an expired card whose return waits, before its end is recorded': async () => {
    const { svcCardId } = await newCard()
    await sql('update cards set expiry_year = 2020, due_at = null where svc_card_id = $1', [svcCardId])
    await giveBack(svcCardId)
    return svcCardId
  },
  'a replaced card to which money came back': async () => {
    const { svcCardId, token } = await newCard()
    const terminal = new Terminal(service.client, token)
    const { authorizationId } = await terminal.authorize(100)
    const { messageId: captureId } = await terminal.capture(100, { authorizationId })
    payloadOf(await client.post(path(svcCardId, '/replace'), { reason: 'lost' }))
    await terminal.refund(40, { captureId })
    return svcCardId
  },
}
const kyc = (svcCardId: string, kycStatus: KycStatus) =>
  service.app.services.commands
    .open(setCardKyc)
    .run({ partnerId: partner.partnerId, svcCardId, actor: 'operator', reason: '', kycStatus })
const CHANGES: Readonly<Record<string, (svcCardId: string) => Promise<unknown>>> = {
  flags: async (svcCardId) => payloadOf(await client.patch(path(svcCardId, '/flags'), { posAllowed: false })),
  KYC: (svcCardId) => kyc(svcCardId, 'CREATED'),
  status: (svcCardId) => block(svcCardId),
}
const dueAt = async (svcCardId: string): Promise<number> => {
  const [row] = await sql<{ due_at: Date | null }>('select due_at from cards where svc_card_id = $1', [
    svcCardId,
  ])
  return row!.due_at?.getTime() ?? Number.POSITIVE_INFINITY
}

test.each(
  Object.keys(DUE_CARDS).flatMap((kind) => Object.keys(CHANGES).map((change) => [kind, change] as const)),
)('%s becomes due no later after a change of its %s', async (kind, change) => {
  const svcCardId = await DUE_CARDS[kind]!()
  const before = await dueAt(svcCardId)
  expect(before).toBeLessThan(Date.now() + 8 * DAY_MS)
  await CHANGES[change]!(svcCardId)
  expect(await dueAt(svcCardId)).toBeLessThanOrEqual(before)
  await sweep()
  expect(payloadOf(await client.get(path(svcCardId))).accountBalance).toBe(0)
})
