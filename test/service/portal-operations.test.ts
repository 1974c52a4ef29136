import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newPartner, type TestPartner } from '../harness/partner.ts'
import { memberBrowser } from '../harness/portal.ts'
import { openService, type TestMerchant, type TestService } from '../harness/service.ts'

let service: TestService
let merchant: TestMerchant
let partner: TestPartner

beforeAll(async () => {
  service = await openService()
  merchant = await service.newMerchant()
  partner = await newPartner(service, {})
})
afterAll(() => service.close())

test('an operation of partners does not exist for a merchant’s member, nor the other way round', async () => {
  const [ofMerchant, ofPartner] = [
    await memberBrowser(service, merchant.merchantId),
    await memberBrowser(service, partner.partnerId),
  ]
  expect((await ofMerchant.get('/partner/companies')).status).toBe(404)
  expect((await ofPartner.get('/payments')).status).toBe(404)
  expect((await ofPartner.get('/partner/companies')).status).toBe(200)
})

test('requests of the portal run as the service, which sees one tenant: never as an operator', async () => {
  const { database } = service.app.services
  const browser = await memberBrowser(service, merchant.merchantId)
  const { operate } = database
  const seen: string[] = []
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 100
  database.operate = ((...given: Parameters<typeof operate>) => {
    const { stack = '' } = new Error('operate')
    // What the process does in the background meanwhile is of no request.
    if (!stack.includes('platform/src/loop.ts')) seen.push(stack)
    return operate.apply(database, given)
  }) as typeof operate
  try {
    for (const path of [
      '/session',
      '/overview',
      '/members',
      '/credentials',
      '/payments',
      '/requests',
      '/payouts',
    ])
      expect((await browser.get(path)).status, path).toBe(200)
    await browser.post('/qr-code', {})
    await browser.post('/members', { name: 'one.more@shop.example', role: 'viewer' })
    await browser.post('/credentials', { name: 'another' })
  } finally {
    database.operate = operate
    Error.stackTraceLimit = stackTraceLimit
  }
  expect(seen).toEqual([])
})

test('the portal has every operation of tenants, except those that only programs can call', async () => {
  const { MOUNTED } = await import('@svc/console-api/portal/mounted-operations')
  const left = OPERATIONS.filter(
    ({ id, auth, sandboxOnly }) =>
      ['merchant', 'partner', 'partnerWithId', 'partnerSession', 'tenant'].includes(auth) &&
      !sandboxOnly &&
      !MOUNTED.some((mounted) => mounted.id === id),
  )
  expect(left.map(({ id }) => id).sort()).toEqual([
    'bulkIssueGiftCards',
    'bulkLoadCards',
    'createGiftCard',
    'getEventProof',
    'getFeedConsistency',
    'getFeedHead',
    'listEventLeaves',
    'streamEvents',
  ])
})
