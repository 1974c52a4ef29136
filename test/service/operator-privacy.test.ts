import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, payloadOf } from '../harness/client.ts'
import { API, Browser, signedIn } from '../harness/console.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { openService, type TestMerchant, type TestService } from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

const { paths } = JSON.parse(
  await readFile(new URL('../../docs/reference/console-openapi.json', import.meta.url), 'utf8'),
) as { paths: Record<string, Record<string, { operationId: string } | undefined>> }

const CANARY = /canary|912345/i
const customer = {
  qrName: 'Canary Kumari',
  customerName: 'Canary Kumari',
  customerEmail: 'canary.kumari@example.com',
  customerMobile: '9123456780',
  description: 'for Canary Kumari',
  customParams: { 'canary key': 'canary value' },
}
const holder = {
  ...Object.fromEntries(
    ['title', 'firstName', 'middleName', 'lastName', 'gender', 'specialDate', 'address', 'address2', 'city']
      .concat(['state', 'country', 'pincode', 'deliveryAddress', 'deliveryAddress2', 'deliveryCity'])
      .concat(['deliveryState', 'deliveryCountry', 'deliveryPincode'])
      .map((name) => [name, `Canary ${name}`]),
  ),
  email: 'canary.rao@example.com',
  mobile: '9123456781',
  physicalDeliveryAddressFlag: true,
}

let service: TestService
let receiver: WebhookReceiver
let merchant: TestMerchant
let partner: TestPartner
beforeAll(async () => {
  service = await openService()
  receiver = await WebhookReceiver.open()
  // An endpoint that fails and returns what it was sent, as frameworks do in development.
  receiver.response = ({ raw }, response) =>
    void response.writeHead(500, { 'retry-after': '3600' }).end(`cannot process ${raw}`)
  merchant = await service.newMerchant()
  partner = await newPartner(service)
  const admin = await signedIn(service, 'admin')
  for (const tenantId of [merchant.merchantId, partner.partnerId])
    await admin.post('/webhooks', { tenantId, endpoint: { url: receiver.url(`/${tenantId}`) } })

  const shop = await service.as(merchant)
  const { qrCodeId } = payloadOf(await shop.post('/api/v0/qr-code', customer))
  const pay = { qrCodeId, amount: 12, payerVpa: 'canary.kumari@bank' }
  expect((await service.client.post('/sandbox/upi/pay', pay)).status).toBe(200)
  // Names of fields come from callers too, and the description of a failure repeats them.
  const misplaced = { [customer.customerEmail]: 'Canary', '9123456782': 'Canary' }
  const customParams = { [customer.customerEmail]: 'x'.repeat(300) }
  await shop.post('/api/v0/qr-code', { ...customer, ...misplaced, customParams, amount: -1 })
  await shop.get('/api/v0/qr-code/canary.kumari@example.com?mobile=9123456780')
  const cards = await asPartner(service.client, partner)
  const { status } = await createCard(cards, partner, holder)
  expect(status).toBe(200)
  await createCard(cards, partner, { ...holder, ...misplaced })
  await new Browser(service).signIn('canary.kumari', 'canary-as-password')
  await receiver.until(() => new Set(receiver.received.map(({ path }) => path)).size === 2)
  await receiver.until(() => receiver.received.some(({ event }) => event.type === 'qr_code.credited'))
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

/** Every id of the world, by the name of the path parameter that it is for. */
async function idsFor(viewer: Browser): Promise<Record<string, readonly string[]>> {
  const all = async (path: string): Promise<Json[]> => (await viewer.get(`${path}?limit=500`)).json.data
  const of = async (path: string, name: string) => (await all(path)).map((row) => row[name])
  const { companyId, cardAccountId } = partner
  const svcCardId = await of('/cards', 'svcCardId')
  return {
    merchantId: [merchant.merchantId],
    tenantId: [merchant.merchantId, partner.partnerId],
    partnerId: [partner.partnerId],
    companyId: [companyId],
    cardAccountId: [cardAccountId],
    userId: await of('/users', 'userId'),
    qrCodeId: (await all('/qr-codes')).map(({ qrCode }) => qrCode.qrCodeId),
    svcCardId,
    coinConfigId: ['ccf_none'],
    accountId: [`card:${svcCardId[0]}`],
    requestId: await of('/requests', 'requestId'),
    paymentId: (await all('/payments')).map(({ payment }) => payment.paymentId),
    refundId: ['rfd_none'],
    payoutId: ['pyo_none'],
    noticeId: ['rnt_none'],
    exceptionId: ['cex_none'],
    journalId: ['jrn_none'],
    objectId: [...(await all('/qr-codes')).map(({ qrCode }) => qrCode.qrCodeId), ...svcCardId],
    endpointId: (await all('/webhooks')).map(({ endpoint }) => endpoint.endpointId),
    eventId: receiver.received.map(({ event }) => event.id),
  }
}

/** The paths of an operation, with every id that the world has for its parameters. */
function filled(path: string, ids: Record<string, readonly string[]>): string[] {
  const [, name] = /\{(\w+)\}/.exec(path) ?? []
  if (!name) return [path]
  const values = ids[name]
  if (!values) throw new Error(`this test needs ids for {${name}} of ${path}`)
  return values.flatMap((id) => filled(path.replace(`{${name}}`, encodeURIComponent(id)), ids))
}

/** The records of people and of what they pay: what operators come for. */
const RECORDS = [
  'console.exportCards',
  'console.exportPayments',
  'console.exportQrCodes',
  'console.exportUsers',
  'console.listCards',
  'console.listPayments',
  'console.listQrCodes',
  'console.listUsers',
  'console.search',
  'console.showCard',
  'console.showPayment',
  'console.showQrCode',
  'console.showUser',
]

test('a viewer reads personal data in the records themselves, and nowhere in copies of them', async () => {
  const viewer = await signedIn(service, 'viewer')
  await expect
    .poll(async () => (await viewer.get('/requests?outcome=failure')).json.total.count)
    .toBeGreaterThanOrEqual(3)
  const webhooks: Json[] = (await viewer.get('/webhooks')).json.data
  for (const { endpoint } of webhooks)
    await expect
      .poll(async () => (await viewer.get(`/webhooks/${endpoint.endpointId}/attempts`)).json.total.count)
      .toBeGreaterThan(0)
  const ids = await idsFor(viewer)
  const leaking = new Set<string>()
  const read = new Set<string>()
  for (const [path, { get: operation }] of Object.entries(paths)) {
    if (!operation) continue
    for (const url of filled(path.slice(API.length), ids)) {
      const query = operation.operationId === 'console.search' ? '?q=canary.rao@example.com' : ''
      const { status, text } = await viewer.get(`${url}${query}`)
      if (status === 200) read.add(operation.operationId)
      if (CANARY.test(text)) leaking.add(operation.operationId)
    }
  }
  expect(read).toContain('console.showWebhookEvent')
  expect([...leaking].sort()).toEqual(RECORDS)
})

test('an operator reads an event and the response as they were sent', async () => {
  const operator = await signedIn(service, 'operator')
  const { endpointId } = (await operator.get(`/webhooks?tenantId=${partner.partnerId}`)).json.data[0].endpoint
  const sent = receiver.received.find(({ event }) => event.type === 'card.created')!
  expect((await operator.get(`/webhooks/${endpointId}/events/${sent.event.id}`)).json).toEqual(sent.event)
  const { data } = (await operator.get(`/webhooks/${endpointId}/attempts?eventId=${sent.event.id}`)).json
  expect(data[0].responseExcerpt).toContain(sent.raw.slice(0, 900))
})
