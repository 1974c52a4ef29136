import { expireQrCodes } from '@svc/core/qr-codes/expire-qr-codes'
import { revokeApiKey } from '@svc/core/tenants/api-key'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client, Json } from '../harness/client.ts'
import { eventually, feed, feedOf } from '../harness/event-feed.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { cancel, creditOf, newCodes, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

const newTenant = async (): Promise<Client> => service.as(await service.newMerchant())

test('every committed change is in the feed once, numbered from 1 without gaps, oldest first', async () => {
  const tenant = await newTenant()
  // The one payment of a single-use code uses it up: two events of one object in one transaction.
  const codes = await newCodes(service, tenant, 40)
  await Promise.all(codes.map(({ tr }) => notifyCredit(service.client, creditOf(tr))))
  const { data } = await feedOf(tenant, 120)
  expect(data.map(({ sequence }: Json) => sequence)).toEqual(Array.from({ length: 120 }, (_, i) => i + 1))
  expect(new Set(data.map(({ id }: Json) => id)).size).toBe(120)
  for (const { qrCodeId } of codes)
    expect(
      data.filter((event: Json) => event.data.qrCodeId === qrCodeId).map(({ type }: Json) => type),
    ).toEqual(['qr_code.created', 'qr_code.credited', 'qr_code.cancelled'])
})

test('the feed is paged by sequence, filtered by type, and contains nothing of another tenant', async () => {
  const [tenant, other] = [await newTenant(), await newTenant()]
  await newCodes(service, other, 3)
  const codes = await newCodes(service, tenant, 5)
  await cancel(tenant, codes[0]!.qrCodeId)
  await feedOf(tenant, 6)
  const first = await feed(tenant, '?limit=4')
  expect(first).toMatchObject({ recordsCount: 4, next: 4, more: true })
  const second = await feed(tenant, `?after=${first.next}&limit=4`)
  expect(second).toMatchObject({ recordsCount: 2, next: 6, more: false })
  expect((await feed(tenant, '?after=6')).next).toBe(6)
  const cancelled = await feed(tenant, '?type=qr_code.cancelled')
  expect(cancelled.data.map(({ data }: Json) => data.qrCodeId)).toEqual([codes[0]!.qrCodeId])
  expect((await tenant.get('/api/v0/events?type=nothing.happened')).error).toBe('validation_failed')
  expect((await tenant.get('/api/v0/events?limit=501')).error).toBe('validation_failed')
})

test('partners read their own feed, with their own kind of token', async () => {
  const partner = await newPartner(service)
  const caller = await asPartner(service.client, partner)
  expect((await createCard(caller, partner)).status).toBe(200)
  const { data } = await feedOf(caller, 1)
  expect(data[0]).toMatchObject({ sequence: 1, type: 'card.created', data: { companyId: partner.companyId } })
  expect(JSON.stringify(data)).not.toMatch(/\b\d{16}\b/)
  expect((await service.client.get('/api/v0/events')).error).toBe('invalid_token')
})

test('an expired code has one event, however many processes look for expired codes', async () => {
  const tenant = await newTenant()
  const expiry = new Date(service.clock.now() + 60_000).toISOString()
  const codes = await newCodes(service, tenant, 30, { expiry, multipleUse: true })
  await cancel(tenant, codes[0]!.qrCodeId)
  const other = await openService({ db: service.db })
  service.clock.advance(61_000)
  other.clock.advance(61_000)
  await Promise.all([service, other, service, other].map(({ app }) => expireQrCodes(app.services)))
  const { data } = await eventually(
    () => feed(tenant, '?type=qr_code.expired&limit=500'),
    (page) => page.recordsCount >= 29,
  )
  expect(data.map((event: Json) => event.data.qrCodeId).sort()).toEqual(
    codes
      .slice(1)
      .map(({ qrCodeId }) => qrCodeId)
      .sort(),
  )
  expect(await expireQrCodes(service.app.services)).toBe(0)
  await other.close()
})

test('revoking an API key twice has one event, which does not contain the key', async () => {
  const merchant = await service.newMerchant()
  const tenant = await service.as(merchant)
  const spare = (await service.newMerchant()).apiKeyId
  const revoke = (id: string) => service.app.services.database.operate((tx) => revokeApiKey(tx, id))
  await revoke(spare)
  await revoke(spare)
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query(`select payload from outbox where type = 'api_key.revoked' and object_id = $1`, [spare]),
  )
  expect(rows).toHaveLength(1)
  expect(Object.keys(rows[0].payload).sort()).toEqual([
    'apiKeyId',
    'createdOn',
    'name',
    'prefix',
    'revokedOn',
  ])
  expect((await feed(tenant)).recordsCount).toBe(0)
})
