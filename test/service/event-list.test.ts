import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { memberBrowser } from '../harness/portal.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let operator: Browser
beforeAll(async () => {
  service = await openService()
  operator = await signedIn(service, 'viewer')
})
afterAll(() => service.close())

/** A merchant whose code was paid by this payer, with a member, and its events. */
async function paidShop(payerVpa: string) {
  const merchant = await service.newMerchant()
  const { merchantId } = merchant
  const { tr } = await newCode(service, await service.as(merchant), { multipleUse: true })
  await notifyCredit(service.client, creditOf(tr, { payerVpa }))
  const member = await memberBrowser(service, merchantId, 'viewer')
  const events = async (): Promise<Json[]> => (await operator.get(`/tenants/${merchantId}/events`)).json.data
  // A code that was created and credited, and a member that was invited.
  await expect.poll(async () => (await events()).length).toBe(3)
  return { merchant, merchantId, member, events: await events() }
}

test('operators and members list the events of a tenant, newest first, by type and time, and nothing of another', async () => {
  const [shop, other] = [await paidShop('one@bank'), await paidShop('two@bank')]
  const { events, member } = shop
  const sequences = events.map(({ sequence }) => sequence)
  expect(sequences).toEqual(sequences.toSorted((a, b) => b - a))
  expect((await member.get('/recent-events')).json.data).toEqual(events)
  const feed = payloadOf(await (await service.as(shop.merchant)).get('/api/v0/events'))
  expect(feed.data.map(({ id }: Json) => id)).toEqual(events.map(({ eventId }) => eventId).toReversed())
  const ids = new Set(other.events.map(({ eventId }) => eventId))
  expect(events.filter(({ eventId }) => ids.has(eventId))).toEqual([])

  for (const list of [`/tenants/${shop.merchantId}/events`, '/recent-events']) {
    const browser = list === '/recent-events' ? member : operator
    const found = async (query: string) => (await browser.get(`${list}?${query}`)).json.data
    const [{ type, createdOn }] = events as [Json]
    expect(await found(`type=${type}`)).toEqual(events.filter((event) => event.type === type))
    expect(await found(`createdTo=${encodeURIComponent(createdOn)}`)).toEqual(
      events.filter((event) => event.createdOn < createdOn),
    )
    const first = (await browser.get(`${list}?limit=1`)).json
    expect([first.data, (await found(`limit=1&after=${first.next}`)).length]).toEqual([[events[0]], 1])
  }
})

test('an operator sees what an event says with personal data masked, and no event under another tenant', async () => {
  const [shop, other] = [await paidShop('payer.one@bank'), await paidShop('payer.two@bank')]
  const { eventId } = shop.events.find(({ type }) => type === 'qr_code.credited')!
  const shown = await operator.get(`/tenants/${shop.merchantId}/events/${eventId}`)
  expect(shown.json).toMatchObject({ id: eventId, type: 'qr_code.credited' })
  expect(shown.text).not.toContain('payer.one@bank')
  expect(await operator.get(`/tenants/${other.merchantId}/events/${eventId}`)).toMatchObject({
    status: 404,
    error: 'event_not_found',
  })
  expect(await operator.get('/tenants/mer_none/events')).toMatchObject({
    status: 404,
    error: 'tenant_not_found',
  })
})
