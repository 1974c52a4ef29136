import { covers, ROLES } from '@svc/console-api/identity/permissions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

test('an operator who moves money and one who locks cards do not have to be the same person', async () => {
  const partner = await newPartner(service)
  const card = payloadOf(await createCard(await asPartner(service.client, partner), partner, {}))
  const lock = [`/cards/${card.svcCardId}/status`, { status: 'L', reason: 'lost' }] as const
  const fund = [
    `/card-accounts/${partner.cardAccountId}/funds`,
    { amount: '10.00', reference: 'ROLES0001', reason: 'paid in' },
  ] as const
  const [finance, support] = [await signedIn(service, 'finance'), await signedIn(service, 'support')]
  expect((await finance.post(...lock)).error).toBe('role_too_low')
  expect((await support.post(...fund)).error).toBe('role_too_low')
  expect((await finance.post(...fund)).status).toBe(200)
  expect((await support.post(...lock, { 'idempotency-key': 'roles-lock' })).status).toBe(200)
})

test('the role operator includes support, finance and operations; none of these includes another', () => {
  const parts = ['support', 'finance', 'operations'] as const
  for (const role of parts) {
    expect(covers('operator', role)).toBe(true)
    expect(parts.filter((other) => other !== role && covers(role, other))).toEqual([])
  }
  expect(ROLES.every((role) => covers('admin', role) && covers(role, 'viewer'))).toBe(true)
})
