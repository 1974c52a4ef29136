import { checkInvariants } from '@svc/console-api/invariants'
import { endDueCards } from '@svc/core/cards/end/end-card'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiResponse, type Client, type Json, payloadOf } from '../harness/client.ts'
import { asCoinPartner, COINS, newConfig } from '../harness/coins.ts'
import { expectFailure } from '../harness/failure.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'
import { tablesWith } from '../harness/tables-with.ts'

const USERS = '/api/v0/partner/users'
/** As the name of a person would be. */
const NAME = 'qzxperson'

let service: TestService
let other: TestService
let partner: TestPartner
let client: Client
let elsewhere: Client
beforeAll(async () => {
  service = await openService()
  other = await openService({ db: service.db })
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
  elsewhere = await asPartner(other.client, partner)
})
afterAll(async () => {
  const broken = await brokenInvariants()
  await other.close()
  await service.close()
  expect(broken).toEqual([])
})

const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as T[])
const brokenInvariants = async (): Promise<string[]> =>
  (await checkInvariants(service.app.services.database))
    .filter(({ violations }) => violations.length > 0)
    .map(({ name }) => name)

const path = (svcCardId: string, rest = '') => `/api/v0/partner/svcCard/${svcCardId}${rest}`
const erase = (userId: string, by = client): Promise<ApiResponse> => by.post(`${USERS}/${userId}/erase`, {})
const setStatus = (svcCardId: string, status: string, reason: string) =>
  client.patch(path(svcCardId, '/status'), { status, reason })

/** A card that has expired, with nothing on it. */
async function expiredCard(): Promise<Json> {
  const card = payloadOf(await createCard(client, partner, { loadAmount: 500, firstName: 'Once' }))
  payloadOf(
    await service.client.post(`/sandbox/cards/${card.svcCardId}/spend`, { amount: 500, channel: 'pos' }),
  )
  await sql('update cards set expiry_year = 2020, due_at = now() where svc_card_id = $1', [card.svcCardId])
  await endDueCards(service.app.services)
  return card
}

/** An allocation whose coins are spent, of a new user by default. */
async function spentAllocation(
  requestId: string,
  of?: string,
): Promise<Record<'userId' | 'allocationId', string>> {
  const coins = await asCoinPartner(service.client, partner)
  const { event } = await newConfig(coins, { amount: 5 })
  const { companyId } = partner
  const userId = of ?? payloadOf(await client.post(USERS, { companyId, firstName: 'Spender' })).userId
  const award = { requestId: `${requestId}.1`, event, userId, companyId }
  const { allocationId } = payloadOf(await coins.post(`${COINS}/allocate`, award))
  payloadOf(await coins.post(`${COINS}/redeem`, { requestId: `${requestId}.2`, userId, amount: 5 }))
  return { userId, allocationId }
}
const takeBack = (allocationId: string, requestId: string) =>
  client.post(`${COINS}/allocations/${allocationId}/void`, { requestId, reason: `${NAME} left` })

test('a card that expired before its user was erased can be locked and blocked; the reasons are not stored', async () => {
  const { svcCardId, userId } = await expiredCard()
  payloadOf(await erase(userId))
  for (const status of ['L', 'BL'])
    expect(payloadOf(await setStatus(svcCardId, status, `${NAME} asked for it`))).toMatchObject({
      cardStatus: { name: status },
      remarks: '',
    })
  expectFailure(await setStatus(svcCardId, 'UL', NAME), 'invalid_transition')
  expect(await tablesWith(service, [NAME])).toEqual([])
  const changes = await sql<Json>(
    `select to_value, reason from card_changes where svc_card_id = $1 and field = 'cardStatus' order by change_id`,
    [svcCardId],
  )
  expect(changes).toEqual([
    { to_value: 'L', reason: '' },
    { to_value: 'BL', reason: '' },
  ])
})

test('a card of an erased user is not replaced; money refunded to it is returned', async () => {
  const { svcCardId, userId } = await expiredCard()
  payloadOf(await erase(userId))
  payloadOf(await service.client.post(`/sandbox/cards/${svcCardId}/refund`, { amount: 100 }))
  expectFailure(await client.post(path(svcCardId, '/replace'), { reason: NAME }), 'user_erased')
  expect(await sql('select from cards where user_id = $1', [userId])).toHaveLength(1)
  expect(await tablesWith(service, [NAME])).toEqual([])
  const returned = await client.post(path(svcCardId, '/return'), { consentReference: 'consent.1' })
  expect(payloadOf(returned)).toMatchObject({ amount: 100, status: 'WAITING' })
})

test('a spent allocation of an erased user is not voided', async () => {
  const { userId, allocationId } = await spentAllocation('voided')
  payloadOf(await erase(userId))
  expectFailure(await takeBack(allocationId, 'voided.3'), 'user_erased')
  expect(await tablesWith(service, [NAME])).toEqual([])
})

test('reasons concurrent with an erasure in another process: none is left', async () => {
  for (let round = 0; round < 12; round++) {
    const card = await expiredCard()
    const { userId, allocationId } = await spentAllocation(`race${round}`)
    const [changed, first, voided, second] = await Promise.all([
      setStatus(card.svcCardId, 'BL', NAME),
      erase(card.userId, elsewhere),
      takeBack(allocationId, `race${round}.3`),
      erase(userId, elsewhere),
    ])
    expect([changed.status, first.status, second.status]).toEqual([200, 200, 200])
    expect([undefined, 'user_erased']).toContain(voided.error)
  }
  expect(await tablesWith(service, [NAME])).toEqual([])
})

test('erasing a user again erases what was restored or written since, and creates no second event', async () => {
  const { svcCardId, userId } = await expiredCard()
  payloadOf(await setStatus(svcCardId, 'L', 'lost'))
  const { allocationId } = await spentAllocation('again', userId)
  payloadOf(await takeBack(allocationId, 'again.3'))
  const first = payloadOf(await erase(userId))
  await asSuperuser(service.db.database, async (db) => {
    await db.query('begin; set local session_replication_role = replica')
    await db.query('update cards set remarks = $2, holder = $3 where svc_card_id = $1', [
      svcCardId,
      NAME,
      JSON.stringify({ firstName: NAME }),
    ])
    await db.query('update card_changes set reason = $2 where svc_card_id = $1', [svcCardId, NAME])
    await db.query(
      `update outbox set payload = payload || $2 where object_id = $1 and type = 'card.status_changed'`,
      [svcCardId, JSON.stringify({ remarks: NAME, firstName: NAME })],
    )
    await db.query('update coin_voids set reason = $2 where lot_id = $1', [allocationId, NAME])
    await db.query('commit')
  })
  expect(await brokenInvariants()).toEqual(expect.arrayContaining(['erased_holders', 'erased_void_reasons']))
  expect(payloadOf(await erase(userId))).toEqual(first)
  expect(await tablesWith(service, [NAME])).toEqual([])
  expect(
    await sql(`select from outbox where type = 'user.erased' and object_id = $1`, [userId]),
  ).toHaveLength(1)
})

test('the database stores no card, holder, remarks or reasons of an erased user', async () => {
  const { svcCardId, userId } = await expiredCard()
  payloadOf(await setStatus(svcCardId, 'L', 'lost'))
  const [voided, { allocationId }] = [await spentAllocation('refused'), await spentAllocation('left', userId)]
  payloadOf(await takeBack(voided.allocationId, 'refused.3'))
  payloadOf(await erase(userId))
  const copy = (table: string, fields: object) => [
    `insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(t) || $1)).* from ${table} t
     where ${table === 'coin_voids' ? `lot_id = '${voided.allocationId}'` : `svc_card_id = '${svcCardId}'`}`,
    [JSON.stringify(fields)],
  ]
  const attempts = [
    [`update cards set remarks = 'x' where svc_card_id = $1`, [svcCardId]],
    [`update cards set holder = '{"firstName": "x"}' where svc_card_id = $1`, [svcCardId]],
    copy('cards', {
      svc_card_id: 'card_copy',
      token: 'crd_copy',
      number_digest: '\\x00',
      ciphertext_hash: null,
    }),
    copy('card_changes', { change_id: 'chg_copy', reason: 'x' }),
    copy('coin_voids', { void_id: 'cvo_copy', request_id: 'copy', lot_id: allocationId, user_id: userId }),
  ] as const
  for (const [text, values] of attempts)
    await expect(sql(text as string, values as unknown[]), text as string).rejects.toThrow(
      'nothing is written about an erased user',
    )
  await sql(`update cards set remarks = '', status = 'UL' where svc_card_id = $1`, [svcCardId])
  await sql(`update cards set status = 'L' where svc_card_id = $1`, [svcCardId])
})
