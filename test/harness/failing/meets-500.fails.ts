import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../client.ts'
import { signedIn } from '../console.ts'
import { asSuperuser, openService, type TestService } from '../service.ts'

let service: TestService
beforeAll(async () => void (service = await openService()))
afterAll(() => service.close())

const hide = (table: string) =>
  asSuperuser(service.db.database, (db) => db.query(`alter table ${table} rename to hidden_${table}`))

test('receives a 500 of the API', async () => {
  const client = await service.as(await service.newMerchant())
  await hide('qr_codes')
  payloadOf(await client.get('/api/v0/qr-code/qr_01m7yx4bphxhfnwrhn48jfhas5'))
})

test('receives an expected 500', async () => {
  const client = await service.as(await service.newMerchant())
  const { status } = await client.get('/api/v0/qr-code/qr_01m7yx4bphxhfnwrhn48jfhas5')
  expect(status).toBe(500)
})

test('receives a 500 of the console', async () => {
  const browser = await signedIn(service, 'viewer')
  await hide('merchants')
  const { status, text } = await browser.get('/merchants')
  if (status !== 200) throw new Error(text)
})
