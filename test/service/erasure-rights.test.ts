import { HOLDER_TEXTS } from '@svc/core/cards/card/card-record'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqlOn } from '../harness/approvals.ts'
import { asLogin } from '../harness/as-login.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { asCoinPartner, COINS, newConfig } from '../harness/coins.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let client: Client
beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
})
afterAll(() => service.close())

/** What somebody does for the partner who has the service's login, and no program of ours. */
const asService = (text: string) =>
  asLogin(service.db, 'svc_service', (db) =>
    db.query(`begin; set local svc.tenants = '${partner.partnerId}'; ${text}; commit`),
  )
const eventsOf = (objectId: string) =>
  sqlOn<{ id: string; type: string; payload: Json }>(
    service,
    `select event_id as id, type, payload from outbox where object_id = $1 order by event_id`,
    [objectId],
  )

/** A user who is erased, with the card that they spent and blocked. */
async function erasedHolder() {
  const { svcCardId, userId } = payloadOf(await createCard(client, partner, { loadAmount: 500 }))
  payloadOf(await service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount: 500, channel: 'pos' }))
  payloadOf(
    await client.patch(`/api/v0/partner/svcCard/${svcCardId}/status`, { status: 'BL', reason: 'lost' }),
  )
  payloadOf(await client.post(`/api/v0/partner/users/${userId}/erase`, {}))
  return { svcCardId, userId }
}

test('with the service’s login the erasure of a holder changes no field of an event that says nothing of a person', async () => {
  const { svcCardId } = await erasedHolder()
  const before = await eventsOf(svcCardId)
  expect(before.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['card.created', 'card.spent', 'card.status_changed']),
  )
  const fields = [...new Set(before.flatMap(({ payload }) => Object.keys(payload)))]
  await asService(
    `select erase_holders('${partner.partnerId}', '{${svcCardId}}', '{""}', '{~}', '{${fields}}')`,
  )
  expect(await eventsOf(svcCardId)).toEqual(before)
})

test('the fields that an erasure empties are those that a card says of its holder, and its remarks', async () => {
  const [{ source }] = (await sqlOn<{ source: string }>(
    service,
    `select prosrc as source from pg_proc where proname = 'erase_holders'`,
  )) as [{ source: string }]
  const fields = source.match(/personal constant text\[\] := array\[([^\]]*)\]/)?.[1]?.match(/\w+/g)
  expect(fields?.toSorted()).toEqual([...HOLDER_TEXTS, 'remarks'].toSorted())
})

test('with the service’s login no void that it enters for an erased user takes the reason of another event', async () => {
  const coins = await asCoinPartner(service.client, partner)
  const { event } = await newConfig(coins, { amount: 5 })
  const { userId } = payloadOf(
    await client.post('/api/v0/partner/users', { companyId: partner.companyId, firstName: 'Kept' }),
  )
  const award = async (requestId: string) =>
    payloadOf(
      await coins.post(`${COINS}/allocate`, { requestId, event, userId, companyId: partner.companyId }),
    ).allocationId
  const [voided, lotId] = [await award('kept.1'), await award('kept.2')]
  payloadOf(
    await coins.post(`${COINS}/allocations/${voided}/void`, { requestId: 'kept.3', reason: 'wrong person' }),
  )
  const before = await eventsOf(userId)
  expect(before.filter(({ payload }) => payload['reason'] === 'wrong person')).toHaveLength(1)

  const values = before.map(
    ({ id }, n) =>
      `insert into users (partner_id, user_id, company_id, created_at, erased_at)
         values ('${partner.partnerId}', 'usr_thrown${n}', '${partner.companyId}', now(), now());
       insert into coin_voids (partner_id, void_id, user_id, lot_id, request_id, request_hash, reason, actor, was_pending,
           amount, shortfall, balance_after, created_at)
         values ('${partner.partnerId}', 'any_${id.slice(4)}', 'usr_thrown${n}', '${lotId}', 'thrown.${n}', '', '',
           'partner', false, 0, 0, 0, now());
       select erase_coin_reasons('${partner.partnerId}', '{usr_thrown${n}}')`,
  )
  for (const forged of values) {
    await asService(forged)
    expect(await eventsOf(userId)).toEqual(before)
    await sqlOn(service, `delete from coin_voids where user_id like 'usr\\_thrown%'`)
  }
})

test('an erased user stays erased, so that none is erased for a moment to empty events', async () => {
  const { userId } = await erasedHolder()
  await expect(
    asService(`update users set erased_at = null where user_id = '${userId}'`),
  ).rejects.toMatchObject({ constraint: 'erased_for_good' })
})
