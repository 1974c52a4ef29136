import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { EARLIEST, LATEST, misspellings, spellings } from '../../packages/kernel/test/instants.ts'
import { type ApiResponse, type Client, payloadOf } from '../harness/client.ts'
import { clockField } from '../harness/clock-field.ts'
import { asCoinPartner, COINS, ifMatch, newConfig, newEvent } from '../harness/coins.ts'
import { type Browser, type ConsoleResponse, signedIn } from '../harness/console.ts'
import { consoleCoinFields } from '../harness/console-coin-fields.ts'
import { newDispute } from '../harness/disputes.ts'
import { documentedDates } from '../harness/documents.ts'
import {
  after,
  EDGES,
  type Field,
  HOUR_MS,
  named,
  type Outcome,
  range,
  reported,
} from '../harness/instant-fields.ts'
import { sampled } from '../harness/long.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { giveAccount, preparePayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { shopWith } from '../harness/refunds.ts'
import { openService, type TestService } from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

let service: TestService
let receiver: WebhookReceiver
let fields: Record<string, Field>

beforeAll(async () => {
  service = await openService()
  receiver = await WebhookReceiver.open()
  fields = {
    ...(await qrCodeFields()),
    ...(await moneyLists()),
    ...(await coinFields()),
    ...(await consoleFields()),
    ...(await pastFields()),
    ...clockField(service),
  }
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

async function newEndpoint(tenant: Client): Promise<string> {
  await vi.waitFor(
    async () => expect(payloadOf(await tenant.get('/api/v0/events')).data).not.toEqual([]),
    10_000,
  )
  const request = { url: receiver.url('/hook') }
  return payloadOf(await tenant.post('/api/v0/webhook-endpoints', request)).endpointId
}

/** The ends of a replay, each beside an end that leaves it open. */
const replayFields = (
  send: (body: object) => Promise<ApiResponse | ConsoleResponse>,
): Record<string, Field> =>
  range(['from', 'to'], async (query) =>
    reported(await send({ from: EARLIEST, to: LATEST, ...query }), ({ queued }) => ({ found: queued > 0 })),
  )

async function qrCodeFields(): Promise<Record<string, Field>> {
  const tenant = await service.as(await service.newMerchant())
  const { tr } = await newCode(service, tenant)
  payloadOf(await notifyCredit(service.client, creditOf(tr)))
  const endpointId = await newEndpoint(tenant)
  return {
    'createQrCode expiry': {
      async send(expiry) {
        const response = await tenant.post('/api/v0/qr-code', { expiry })
        return reported(response, (payload) => ({ instant: payload.expiry }))
      },
      instants: [after(HOUR_MS)],
    },
    ...named(
      'findPayments',
      range(['from', 'to'], async (query) =>
        reported(await tenant.get(`/api/v0/payments?${new URLSearchParams(query)}`), ({ data }) => ({
          found: data.length > 0,
        })),
      ),
    ),
    ...named(
      'listRequests',
      range(['from', 'to'], async (query) =>
        reported(await tenant.get(`/api/v0/requests?${new URLSearchParams(query)}`), ({ data }) => ({
          found: data.length > 0,
        })),
      ),
    ),
    ...named(
      'searchQrCodes',
      range(['createdFrom', 'createdTo'], async (query) =>
        reported(await tenant.post('/api/v0/qr-code/search', query), ({ data }) => ({
          found: data.length > 0,
        })),
      ),
    ),
    ...named(
      'replayWebhookEvents',
      replayFields((body) => tenant.post(`/api/v0/webhook-endpoints/${endpointId}/replay`, body)),
    ),
  }
}

/** The lists of a merchant that has one of each. */
async function moneyLists(): Promise<Record<string, Field>> {
  const { client, merchantId, paymentId } = await shopWith(service, 100)
  const refunds = `/api/v0/payments/${paymentId}/refunds`
  payloadOf(await client.post(refunds, { amount: 1, referenceNumber: 'r-1' }))
  await newDispute(service, paymentId)
  await giveAccount(service, merchantId)
  await preparePayoutOf(service, merchantId)
  const lists = {
    findPayments: '/api/v0/payments',
    findRefunds: '/api/v0/refunds',
    listRefunds: refunds,
    listDisputes: '/api/v0/disputes',
    listPayouts: '/api/v0/payouts',
  }
  const fieldsOf = ([name, path]: [string, string]) =>
    named(
      name,
      range(['createdFrom', 'createdTo'], async (query) =>
        reported(await client.get(`${path}?${new URLSearchParams(query)}`), ({ data }) => ({
          found: data.length > 0,
        })),
      ),
    )
  return Object.assign({}, ...Object.entries(lists).map(fieldsOf)) as Record<string, Field>
}

async function coinFields(): Promise<Record<string, Field>> {
  const partner = await newPartner(service)
  const client = await asCoinPartner(service.client, partner)
  const { companyId, userId } = partner
  const { event } = await newConfig(client, { validFrom: EARLIEST })
  const [start, end] = [after(HOUR_MS), after(2 * HOUR_MS)]
  const within = await newConfig(client, { validFrom: start.toISOString(), validTo: end.toISOString() })
  const validAt = (send: Field['send']): Field => ({
    send,
    instants: [new Date(start.getTime() - 100), start, end, ...EDGES],
    finds: (at) => at >= start && at < end,
  })
  const browser = await signedIn(service, 'admin')
  const queryOf = (at: string) =>
    new URLSearchParams({ validAt: at, partnerId: partner.partnerId, event: within.event })
  const create = (name: string): Field => ({
    async send(text) {
      const request = { event: newEvent(), amount: 1, title: 'Thanks', validFrom: EARLIEST, [name]: text }
      return reported(await client.post(COINS, request), (payload) => ({ instant: payload[name] }))
    },
    instants: name === 'validTo' ? [after(HOUR_MS), EDGES[1]] : [after(HOUR_MS), ...EDGES],
  })
  const update = (name: string): Field => ({
    async send(text) {
      const { coinConfigId } = await newConfig(client, { validFrom: '2000-01-01T00:00:00Z' })
      const path = `${COINS}/${coinConfigId}`
      const response = await client.patch(path, { [name]: text }, ifMatch(1))
      const now = payloadOf(await client.get(path))
      expect(now.revision, `${name} ${text}`).toBe(response.status === 200 ? 2 : 1)
      return reported(response, () => ({ instant: now[name] }))
    },
    instants: create(name).instants,
  })
  return {
    'createCoinConfig validFrom': create('validFrom'),
    'createCoinConfig validTo': create('validTo'),
    'updateCoinConfig validFrom': update('validFrom'),
    'updateCoinConfig validTo': update('validTo'),
    'allocateCoins occurredOn': {
      async send(occurredOn) {
        const request = { requestId: newEvent(), event, userId, companyId, occurredOn }
        const response = await client.post(`${COINS}/allocate`, request)
        return reported(response, (payload) => ({ instant: payload.occurredOn }))
      },
      instants: [after(-HOUR_MS)],
    },
    'searchCoinConfigs validAt': validAt(async (at) =>
      reported(await client.post(`${COINS}/search`, { validAt: at, event: within.event }), ({ data }) => ({
        found: data.length > 0,
      })),
    ),
    'console.listCoinConfigs validAt': validAt(async (at) =>
      reported(await browser.get(`/coin-configs?${queryOf(at)}`), ({ data }) => ({ found: data.length > 0 })),
    ),
    'console.exportCoinConfigs validAt': validAt(async (at) => {
      const { status, text } = await browser.get(`/coin-configs.csv?${queryOf(at)}`)
      return { status, text, ...(status === 200 && { found: text.split('\r\n').length > 2 }) }
    }),
  }
}

/** Sums, refunds and exports of the console. */
function moneyFields(browser: Browser, merchantId: string): Record<string, Field> {
  const sums = (path: string) => async (query: Record<string, string>) =>
    reported(await browser.get(`${path}/totals?${new URLSearchParams(query)}`), ({ count }) => ({
      found: count > 0,
    }))
  const rows = (path: string) => async (query: Record<string, string>) => {
    const { status, text } = await browser.get(`${path}.csv?${new URLSearchParams(query)}`)
    return { status, text, ...(status === 200 && { found: text.split('\r\n').length > 2 }) }
  }
  const list = (path: string) => async (query: Record<string, string>) =>
    reported(await browser.get(`${path}?limit=1&${new URLSearchParams(query)}`), ({ data }) => ({
      found: data.length > 0,
    }))
  return {
    ...named('console.sumPayments', range(['createdFrom', 'createdTo'], sums('/payments'))),
    ...named('console.sumPayments', range(['from', 'to'], sums('/payments'))),
    ...named('console.sumPayouts', range(['createdFrom', 'createdTo'], sums('/payouts'))),
    ...named('console.listPayments', range(['from', 'to'], list('/payments'))),
    ...named('console.listRefunds', range(['createdFrom', 'createdTo'], list('/refunds'))),
    ...named('console.listDisputes', range(['createdFrom', 'createdTo'], list('/disputes'))),
    ...named('console.listPayouts', range(['createdFrom', 'createdTo'], list('/payouts'))),
    ...named('console.exportQrCodes', range(['createdFrom', 'createdTo'], rows('/qr-codes'))),
    ...named('console.exportPayments', range(['createdFrom', 'createdTo'], rows('/payments'))),
    ...named('console.exportPayments', range(['from', 'to'], rows('/payments'))),
    ...named('console.exportDisputes', range(['createdFrom', 'createdTo'], rows('/disputes'))),
    ...named('console.exportPayouts', range(['createdFrom', 'createdTo'], rows('/payouts'))),
    ...named('console.exportRefunds', range(['createdFrom', 'createdTo'], rows('/refunds'))),
    ...named('console.exportCards', range(['createdFrom', 'createdTo'], rows('/cards'))),
    ...named('console.listCardTransactions', range(['createdFrom', 'createdTo'], list('/card-transactions'))),
    ...named(
      'console.exportCardTransactions',
      range(['createdFrom', 'createdTo'], rows('/card-transactions')),
    ),
    ...named(
      'console.exportEvents',
      range(['createdFrom', 'createdTo'], rows(`/tenants/${merchantId}/events`)),
    ),
    ...named('console.exportRequests', range(['from', 'to'], rows('/requests'))),
    ...named('console.exportAudit', range(['from', 'to'], rows('/audit'))),
  }
}

async function consoleFields(): Promise<Record<string, Field>> {
  const browser: Browser = await signedIn(service, 'admin')
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  payloadOf(await createCard(client, partner))
  const { event } = await newConfig(client, { validFrom: EARLIEST })
  const endpointId = await newEndpoint(client)
  const merchant = await service.newMerchant()
  const { merchantId } = merchant
  const shop = await service.as(merchant)
  const { paymentId } = payloadOf(
    await notifyCredit(service.client, creditOf((await newCode(service, shop)).tr)),
  )
  payloadOf(await shop.post(`/api/v0/payments/${paymentId}/refunds`, { amount: 1, referenceNumber: 'r-1' }))
  const list = (path: string) => async (query: Record<string, string>) =>
    reported(await browser.get(`${path}?limit=1&${new URLSearchParams(query)}`), ({ data }) => ({
      found: data.length > 0,
    }))
  await vi.waitFor(async () => expect((await list('/requests')({})).found).toBe(true), 10_000)
  return {
    'console.createQrCode expiry': {
      async send(expiry) {
        const response = await browser.post('/qr-codes', { merchantId, qrCode: { expiry } })
        return reported(response, (json) => ({ instant: json.expiry }))
      },
      instants: [after(HOUR_MS)],
    },
    ...named('console.listQrCodes', range(['createdFrom', 'createdTo'], list('/qr-codes'))),
    ...named('console.listPayments', range(['createdFrom', 'createdTo'], list('/payments'))),
    ...moneyFields(browser, merchantId),
    ...consoleCoinFields(browser, partner, event),
    ...named('console.listCards', range(['createdFrom', 'createdTo'], list('/cards'))),
    ...named(
      'console.listEvents',
      range(['createdFrom', 'createdTo'], list(`/tenants/${merchantId}/events`)),
    ),
    ...named('console.listRequests', range(['from', 'to'], list('/requests'))),
    ...named('console.listAudit', range(['from', 'to'], list('/audit'))),
    ...named(
      'console.replayWebhook',
      replayFields((body) => browser.post(`/webhooks/${endpointId}/replay`, body)),
    ),
  }
}

/** The first instant of a backtest of spend rules, which its result repeats. */
const backtest = (run: (from: string) => Promise<Parameters<typeof reported>[0]>): Field => ({
  send: async (from) => reported(await run(from), ({ from: instant }) => ({ instant })),
  instants: [after(-HOUR_MS), after(HOUR_MS)],
})

/** Figures and balances of the console, which repeat the instants that they are of. */
function figureFields(auditor: Browser, instants: readonly Date[]): Record<string, Field> {
  const figures = (path: string, name: 'from' | 'to', more: Record<string, string>): Field => ({
    async send(text) {
      const other = name === 'from' ? { to: after(2 * HOUR_MS) } : { from: after(-2 * HOUR_MS) }
      const query = new URLSearchParams({
        ...Object.fromEntries(Object.entries(other).map(([key, at]) => [key, at.toISOString()])),
        ...more,
        [name]: text,
      })
      return reported(await auditor.get(`${path}?${query}`), (json) => ({ instant: json[name] }))
    },
    instants,
  })
  return {
    ...Object.fromEntries(
      (['from', 'to'] as const).flatMap((name) => [
        [`console.showFigures ${name}`, figures('/figures', name, { metrics: 'payments' })],
        [`console.showMovers ${name}`, figures('/movers', name, { comparison: 'week' })],
      ]),
    ),
    'console.showTrialBalance asOf': {
      send: async (asOf) =>
        reported(await auditor.get(`/ledger/trial-balance?${new URLSearchParams({ asOf })}`), (json) => ({
          instant: json.asOf,
        })),
      instants,
    },
    ...Object.fromEntries(
      (['exportTrialBalance csv', 'showTrialBalancePdf pdf'] as const).map((each) => {
        const [id = '', form] = each.split(' ')
        // A file does not say of when it is: it is the balance that the record of the same instant has.
        const send = async (asOf: string) => {
          const query = new URLSearchParams({ asOf })
          const file = await auditor.get(`/ledger/trial-balance.${form}?${query}`)
          if (file.status !== 200) return reported(file, () => ({}))
          return reported(await auditor.get(`/ledger/trial-balance?${query}`), (json) => ({
            instant: json.asOf,
          }))
        }
        return [`console.${id} asOf`, { send, instants }]
      }),
    ),
  }
}

/** Operations that also show what they show as it was: found from the creation on, here of a moment ago. */
async function pastFields(): Promise<Record<string, Field>> {
  const partner = await newPartner(service)
  const [issuer, shop] = [
    await asPartner(service.client, partner),
    await service.as(await service.newMerchant()),
  ]
  const { svcCardId } = payloadOf(await createCard(issuer, partner))
  const { qrCodeId, tr } = await newCode(service, shop)
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(tr)))
  const refunds = `/api/v0/payments/${paymentId}/refunds`
  const { refundId } = payloadOf(await shop.post(refunds, { amount: 1, referenceNumber: 'r-1' }))
  service.clock.advance(2_000)
  const auditor = await signedIn(service, 'auditor')
  const [longAgo, now] = [after(-HOUR_MS), after(1_000)]
  const asOf = (client: Client, url: string): Field => ({
    async send(text) {
      const response = await client.get(`${url}?${new URLSearchParams({ asOf: text })}`)
      const isFound = response.status === 200
      return { status: response.status === 404 ? 200 : response.status, text: response.text, found: isFound }
    },
    instants: [longAgo, now],
    finds: (at) => at > longAgo,
  })
  const transactions = (path: string) =>
    range(['createdFrom', 'createdTo'], async (query) =>
      reported(await issuer.get(`/api/v0/partner/${path}?${new URLSearchParams(query)}`), ({ data }) => ({
        found: data.length > 0,
      })),
    )
  return {
    ...figureFields(auditor, [longAgo, now]),
    'getQrCode asOf': asOf(shop, `/api/v0/qr-code/${qrCodeId}`),
    'getPayment asOf': asOf(shop, `/api/v0/payments/${paymentId}`),
    'getRefund asOf': asOf(shop, `${refunds}/${refundId}`),
    'getCard asOf': asOf(issuer, `/api/v0/partner/svcCard/${svcCardId}`),
    'getCardBalance asOf': asOf(issuer, `/api/v0/partner/svcCard/${svcCardId}/balance`),
    ...named('listCardTransactions', transactions(`svcCard/${svcCardId}/transactions`)),
    ...named('findCardTransactions', transactions('card-transactions')),
    'backtestSpendRules from': backtest((from) =>
      issuer.post('/api/v0/partner/spend-rules/backtest', { from }),
    ),
    'console.backtestSpendRules from': backtest((from) =>
      auditor.post('/spend-rules/backtest', { partnerId: partner.partnerId, from }),
    ),
    'getCardAccount asOf': asOf(issuer, `/api/v0/partner/card-accounts/${partner.cardAccountId}`),
    'getCoinBalance asOf': asOf(issuer, `${COINS}/users/${partner.userId}/balance`),
  }
}

const FIELDS = documentedDates()
test('every date that a request may contain is tested', () => {
  expect(Object.keys(fields).sort()).toEqual(FIELDS)
  const instant = after(0)
  expect(spellings(instant).length + misspellings(instant).length).toBeGreaterThanOrEqual(30)
})

/** One reader parses all of them; that it is asked shows with a fifth of the spellings, another fifth at each field. */
const NTH = 5

test.each(FIELDS.map((name, turn) => [name, turn] as const))(
  '%s: every spelling is parsed to the right instant, or is 400 that names the field',
  async (name, turn) => {
    const field = fields[name]!
    const refusal = new RegExp(`(?:^|["; .])${name.split(' ').at(-1)} must `)
    const wrong: string[] = []
    const tried = async (text: string, fits: (outcome: Outcome) => boolean) => {
      const outcome = await field.send(text)
      if (!fits(outcome)) wrong.push(`${JSON.stringify(text)}: ${JSON.stringify(outcome).slice(0, 300)}`)
    }
    for (const instant of field.instants)
      for (const text of sampled(spellings(instant), NTH, turn))
        await tried(text, ({ status, instant: seen, found }) => {
          if (status !== 200) return false
          if (field.finds) return found === field.finds(instant)
          return /^\d{4}-\d\d-/.test(seen ?? '') && Date.parse(seen!) === instant.getTime()
        })
    for (const text of sampled(misspellings(field.instants[0]!), NTH, turn))
      await tried(text, ({ status, text }) => status === 400 && refusal.test(text))
    expect(wrong).toEqual([])
  },
)

test('an instant out of range is rejected with the range', async () => {
  const client = await asCoinPartner(service.client, await newPartner(service))
  const request = { event: newEvent(), amount: 1, title: 'Thanks', validTo: '9999-12-31T23:59:59Z' }
  const { status, errorDescription } = await client.post(COINS, request)
  expect(status).toBe(400)
  expect(errorDescription).toMatch(/^validTo must be /)
  for (const edge of [EARLIEST, LATEST]) expect(errorDescription).toContain(edge)
})
