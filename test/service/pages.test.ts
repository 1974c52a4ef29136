import { afterAll, beforeAll, expect, test } from 'vitest'
import { encryptOrders, upload } from '../harness/bulk.ts'
import { runHere } from '../harness/cli.ts'
import { type Client, payloadOf } from '../harness/client.ts'
import { asCoinPartner, newConfig } from '../harness/coins.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { type DocumentedOperation, documentedOperations } from '../harness/documents.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { giveAccount } from '../harness/payouts.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { MASTER_KEY, openService, RAIL_KEY, type TestService } from '../harness/service.ts'

let service: TestService
let browser: Browser
let merchant: Client
let partner: Client
/** Parts of paths, by name. */
let ids: Record<string, string>
/** What an operation needs besides, by its name. */
let needs: Record<string, Record<string, string>>

/** The last day of a month that is closed. */
const CLOSED = '2020-01-31'
/** A transfer of the bank that takes a charge. */
const CHARGED = {
  batchUtr: 'HDFCN526001',
  valueDate: new Date().toISOString(),
  netAmount: -1,
  lines: [{ kind: 'charge', amount: -1 }],
}

beforeAll(async () => {
  service = await openService()
  browser = await signedIn(service, 'admin')
  const shop = await service.newMerchant()
  merchant = await service.as(shop)
  const rewards = await newPartner(service, { products: ['employee_rewards'] })
  partner = await asPartner(service.client, rewards)
  const { companyId, cardAccountId, userId } = rewards
  const endpoint = { url: 'https://shop.example.com/hook' }
  const code = await newCode(service, merchant)
  await giveAccount(service, shop.merchantId)
  ids = {
    qrCodeId: code.qrCodeId,
    paymentId: payloadOf(await notifyCredit(service.client, creditOf(code.tr))).paymentId,
    payoutId: payloadOf(await merchant.post('/sandbox/payouts', {})).payoutId,
    svcCardId: payloadOf(await createCard(partner, rewards)).svcCardId,
    jobId: (await upload(partner, await encryptOrders(rewards, 1))).json.payload.jobId,
    coinConfigId: (await newConfig(await asCoinPartner(service.client, rewards))).coinConfigId,
    endpointId: payloadOf(await partner.post('/api/v0/webhook-endpoints', endpoint)).endpointId,
    accountId: `card_funding:${cardAccountId}`,
    batchId: payloadOf(await service.client.notify('/rails/upi/settlements', CHARGED, RAIL_KEY)).batchId,
    through: CLOSED,
    tenantId: rewards.partnerId,
    userId,
  }
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const close = ['books', 'close', '--through', CLOSED, '--despite', 'no statements of then']
  const closed = await runHere(['admin', ...close], env)
  expect(closed, closed.stderr).toMatchObject({ code: 0 })
  const range = { from: '2020-01-01T00:00:00Z', to: '2021-01-01T00:00:00Z' }
  needs = {
    searchCards: { companyId, cardAccountId },
    listUsers: { companyId },
    replayWebhookEvents: range,
    'console.replayWebhook': range,
    'console.listQrCodes': { merchantId: shop.merchantId },
  }
})
afterAll(() => service.close())

interface Outcome {
  readonly status: number
  readonly text: string
}

/** Asks for a page by one field of the query string, or of the body. */
async function requestPage(operation: DocumentedOperation, field: string, value: unknown): Promise<Outcome> {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name]!))
  const requested = { ...needs[operation.name], [field]: value }
  const query = `?${new URLSearchParams(requested as Record<string, string>)}`
  if (operation.name.startsWith('console.')) {
    const own = path.slice('/console/api/v0'.length)
    return operation.body ? browser.post(own, requested) : browser.get(own + query)
  }
  const client = operation.scheme === 'merchant' ? merchant : partner
  return operation.body ? client.post(path, requested) : client.get(path + query)
}

const schemaOf = ({ body, parameters }: DocumentedOperation, field: string) =>
  body?.properties?.[field] ?? parameters.find(({ name }) => name === field)?.schema
// A stream has no pages: what is wrong with its `after` is told by the same pattern as the feed's.
const OPERATIONS = documentedOperations().filter(({ name }) => name !== 'streamEvents')
const having = (field: string) =>
  OPERATIONS.filter((operation) => schemaOf(operation, field)).map(
    (operation) => [operation.name, operation] as const,
  )

const WHOLE = [1, 7, 50, 499]
const NUMBERS = [0, -1, 1.5, 1e300, '7', '', true, [7], {}]
const TEXTS = [
  '0',
  '00',
  '01',
  '007',
  '050',
  '0500',
  '501',
  '999',
  '1000',
  '9999',
  '10001',
  '-1',
  '+1',
].concat([
  '1.0',
  '1.5',
  '1e2',
  '0x10',
  ' 1',
  '1 ',
  '1,2',
  '',
  'many',
  '\u0667',
  'NaN',
  'Infinity',
  '1\u00002',
])

test.each(having('limit'))(
  '%s accepts the same limits as every list, and clamps none',
  async (_, operation) => {
    const most = schemaOf(operation, 'limit')!.maximum ?? 500
    const [good, bad] = operation.body
      ? [
          [...WHOLE, most],
          [...NUMBERS, most + 1, most * 2],
        ]
      : [[...WHOLE, most].map(String), TEXTS]
    const wrong: unknown[] = []
    for (const limit of good) {
      const { status, text } = await requestPage(operation, 'limit', limit)
      if (status !== 200) wrong.push([limit, status, text])
    }
    for (const limit of bad) {
      const { status, text } = await requestPage(operation, 'limit', limit)
      if (status !== 400 || !/limit must (?:not )?be |NUL/.test(text)) wrong.push([limit, status, text])
    }
    expect(wrong).toEqual([])
  },
)

test('every list but the whole account ends a page at 500 records (decisions Q8, S3)', () => {
  const most = having('limit').flatMap(([name, operation]) =>
    schemaOf(operation, 'limit')!.maximum === 500 ? [] : [name],
  )
  expect(most).toEqual(['searchCards'])
})

const coded = (text: string): string => Buffer.from(text).toString('base64url')
/** Cursors that no page ever named, many of them in the form of some list's. */
const CURSORS = [
  'nonsense',
  '',
  '7',
  coded('x'),
  coded('{}'),
  coded('null'),
  coded('[]'),
  coded('[1]'),
].concat(
  ['0 ~', '999999999999999 9', '1 999999999999999', '1 0', '1 zz', '9999999999999999 1', '-1 1', '1 '].map(
    coded,
  ),
  [['a'], ['9'.repeat(18)], ['9'.repeat(19)], ['-1'], ['1.5'], ['\u0000'], ['\ud800'], [null], [['a']]].map(
    (keys) => coded(JSON.stringify(keys)),
  ),
  ['now', 'infinity', '2026-01-01', '2026-02-30T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z', 'x'].map(
    (at) => coded(JSON.stringify([at, 'x'])),
  ),
)
const NUMERIC = [-1, 1.5, 1e21, 1e300, '7', null, 0, 7]

test.each(having('after'))(
  '%s: a cursor that no page returned is 400, a page, or a position ahead of the feed; never 5xx',
  async (_, operation) => {
    const wrong: unknown[] = []
    for (const after of [...CURSORS, ...(operation.body ? NUMERIC : [])]) {
      const { status, text } = await requestPage(operation, 'after', after)
      // A whole number may be a position of the feed, which tells where it ends (decision E6).
      const isOfFeed = operation.name === 'listEvents' || operation.name === 'listEventLeaves'
      const isAhead = isOfFeed && after === '7' && /events_ahead/.test(text)
      if (status !== 200 && !isAhead && !(status === 400 && /after must |NUL/.test(text)))
        wrong.push([after, status, text])
    }
    expect(wrong).toEqual([])
    const { status, text } = await requestPage(operation, 'after', 'nonsense')
    expect([status, /after must /.test(text)]).toEqual([400, true])
  },
)
