import { dismissNotice } from '@svc/core/rails/dismiss-notice'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { operatorsOf } from '../harness/operators.ts'
import { newUtr } from '../harness/qr-codes.ts'
import { BANK_RAIL_KEY, openService, RAIL_KEY, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

test.each<[string, string, Json, string]>([
  ['a credit', '/rails/upi/credits', { message: 'a test' }, RAIL_KEY],
  ['a refund', '/rails/upi/refunds', { message: 'a second test' }, RAIL_KEY],
  ['a refund of an unknown credit', '/rails/upi/refunds', { utr: newUtr(), amount: 10 }, RAIL_KEY],
  ['a dispute', '/rails/upi/disputes', { message: 'another test' }, RAIL_KEY],
  ['a transfer', '/rails/bank/credits', { message: 'a test' }, BANK_RAIL_KEY],
])('a repeat of a dismissed notice of %s gets a response with its status', async (_, path, notice, key) => {
  const send = async (): Promise<Json> => (await service.client.notify(path, notice, key)).json.payload
  const first = await send()
  expect(await send()).toEqual(first)
  expect(first.status).toBe('QUARANTINED')
  const dismissal = { tenantId: 'house', noticeId: first.noticeId, actor: 'operator', reason: 'a test' }
  await operatorsOf(service.app.services.commands).open(dismissNotice).run(dismissal)
  expect(await send()).toEqual({ ...first, status: 'DISMISSED' })
})
