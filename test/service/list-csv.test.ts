import { CSV_MEDIA_TYPE } from '@svc/kernel/csv'
import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Terminal } from '../harness/card-rail.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { giveAccount, sendPayoutOf } from '../harness/payouts.ts'
import { newUtr } from '../harness/qr-codes.ts'
import { shopWith } from '../harness/refunds.ts'
import { openService, type TestService } from '../harness/service.ts'

/** Lists of tenants that are there as CSV too; statements and exports have tests of their own. */
const LISTS = OPERATIONS.filter(
  ({ alsoProduces, query }) =>
    alsoProduces === CSV_MEDIA_TYPE &&
    'limit' in ((query as { properties?: object } | undefined)?.properties ?? {}),
)

let service: TestService
let shop: Client
let partner: Client
/** Parts of paths. */
const IDS: Record<string, string> = {}
beforeAll(async () => {
  service = await openService({ background: false })
  const sold = await shopWith(service, 500)
  shop = sold.client
  IDS['paymentId'] = sold.paymentId
  payloadOf(await shop.post(sold.path, { amount: 12.5, referenceNumber: newUtr(), reason: '=1+1' }))
  await giveAccount(service, sold.merchantId)
  IDS['payoutId'] = await sendPayoutOf(service, sold.merchantId)
  const owner = await newPartner(service)
  partner = await asPartner(service.client, owner)
  const { svcCardId, token } = payloadOf(await createCard(partner, owner, {}))
  IDS['svcCardId'] = svcCardId
  await new Terminal(service.client, token).authorize(40)
})
afterAll(() => service.close())

const csvLines = (text: string): string[] => text.trimEnd().split('\r\n')
const reading = ({ auth, path }: (typeof LISTS)[number]) => ({
  client: auth === 'merchant' ? shop : partner,
  at: path.replace(/:(\w+)/g, (_, name: string) => IDS[name] ?? name),
})

test('payments, refunds, payouts with their lines, disputes, tax documents and card transactions are there as CSV', () => {
  expect(LISTS.map(({ id }) => id).sort()).toEqual([
    'findCardTransactions',
    'findPayments',
    'findRefunds',
    'listCardTransactions',
    'listDisputes',
    'listPayoutLines',
    'listPayouts',
    'listRefunds',
    'listTaxDocuments',
  ])
})

test.each(LISTS.map((list) => [list.id, list] as const))(
  '%s as CSV has the rows of the list, in its order, with a column for every field',
  async (id, list) => {
    const { client, at } = reading(list)
    const { data } = payloadOf(await client.get(at))
    if (!['listDisputes', 'listTaxDocuments'].includes(id)) expect(data.length).toBeGreaterThan(0)
    const response = await client.send('GET', at, undefined, { accept: CSV_MEDIA_TYPE })
    expect(response.status, response.text).toBe(200)
    const [heading = '', ...lines] = csvLines(response.text)
    expect(lines).toHaveLength(data.length)
    const columns = heading.split(',')
    for (const record of data)
      for (const name of Object.keys(record).filter((key) => typeof record[key] !== 'object'))
        if (id !== 'findPayments') expect(columns).toContain(name)
    const first = columns.indexOf(Object.keys(data[0] ?? {})[0] ?? '')
    expect(lines.map((line) => line.split(',')[first])).toEqual(
      data.map((row: Json) => Object.values(row)[0]),
    )
    const limited = await client.send('GET', `${at}?limit=1`, undefined, { accept: CSV_MEDIA_TYPE })
    expect([limited.status, limited.error]).toEqual([400, 'validation_failed'])
  },
)

test('HEAD says of a CSV what GET would, and leaves the tenant all its streams', async () => {
  for (let n = 0; n < 20; n++) {
    const head = await shop.send('HEAD', '/api/v0/refunds', undefined, { accept: CSV_MEDIA_TYPE })
    expect([head.status, head.headers['content-type'], head.text]).toEqual([
      200,
      'text/csv; charset=utf-8',
      '',
    ])
    expect(head.headers).not.toHaveProperty('content-length')
  }
})

test('amounts have two decimals, and no text is a formula', async () => {
  const { text } = await shop.send('GET', '/api/v0/refunds', undefined, { accept: CSV_MEDIA_TYPE })
  expect(text).toContain(',12.50,')
  expect(text).toContain('"\'=1+1"')
})

test('the card of another partner is not there, also as CSV', async () => {
  const other = await asPartner(service.client, await newPartner(service))
  const at = `/api/v0/partner/svcCard/${IDS['svcCardId']}/transactions`
  const response = await other.send('GET', at, undefined, { accept: CSV_MEDIA_TYPE })
  expect([response.status, response.error]).toEqual([404, 'card_not_found'])
})
