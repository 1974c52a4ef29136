import { setTimeout as sleep } from 'node:timers/promises'
import { signNotice } from '@svc/server/http/notice-signature'
import type { Pool } from 'undici'
import { EARLIEST, LATEST } from '../../packages/kernel/test/instants.ts'
import { documentedDates } from '../../test/harness/documents.ts'
import {
  always,
  asOf,
  type DateField,
  type Fields,
  inFuture,
  named,
  notBefore90Days,
  notLongAgo,
  type Reply,
  range,
  replayFields,
  type Send,
  senderOf,
  unique,
} from './date-field.ts'
import { headersOf, RAIL_KEY, type Target, type Tenant } from './target.ts'

type Json = any // oxlint-disable-line typescript/no-explicit-any -- read by name

/** An endpoint that is sent one event, however long the run. */
async function newEndpoint(send: Send): Promise<string> {
  const { payload } = await send('POST', '/api/v0/webhook-endpoints', {
    url: 'http://127.0.0.1:59999/dates',
    types: ['qr_code.credited'],
  })
  const replay = `/api/v0/webhook-endpoints/${payload.endpointId}/replay`
  // The payment of the first code reaches the feed in the background.
  while ((await send('POST', replay, { from: EARLIEST, to: LATEST })).payload.queued === 0) await sleep(50)
  return payload.endpointId
}

const FIGURE_DAYS_MS = 800 * 86_400_000

/** Figures of a range of at most 800 days, of which the other end is one of today. */
function figureFields(send: Send, own: Record<string, string>, api: string): Fields {
  const otherMs = Math.floor(Date.now() / 1_000) * 1_000
  const field = (path: string, name: 'from' | 'to', more: Record<string, string>): DateField => ({
    async send(text) {
      const query = {
        ...more,
        from: new Date(otherMs).toISOString(),
        to: new Date(otherMs).toISOString(),
        [name]: text,
      }
      const shown = await send('GET', `${api}/${path}?${new URLSearchParams(query)}`, undefined, own)
      return shown.status === 200 ? { ...shown, seen: [shown.payload[name]] } : shown
    },
    takes(at) {
      const lengthMs = name === 'from' ? otherMs - at : at - otherMs
      return lengthMs > 0 && lengthMs <= FIGURE_DAYS_MS
    },
  })
  return Object.fromEntries(
    (['from', 'to'] as const).flatMap((name) => [
      [`console.showFigures ${name}`, field('figures', name, { metrics: 'payments', bucket: 'month' })],
      [`console.showMovers ${name}`, field('movers', name, { comparison: 'week' })],
    ]),
  )
}

const CREATED = ['createdFrom', 'createdTo'] as const
const RECORDED = ['from', 'to'] as const

function qrCodeFields(send: Send, endpointId: string, { paymentId, refundId, qrCodeId }: Paid): Fields {
  const search = (query: object) => send('POST', '/api/v0/qr-code/search', { limit: 5, ...query })
  const list = (path: string) => (query: Record<string, string>) =>
    send('GET', `/api/v0${path}?limit=5&${new URLSearchParams(query)}`)
  const times = ({ data }: Json) => data.map(({ createdOn }: Json) => createdOn)
  const created = (operation: string, path: string) => named(operation, range(CREATED, list(path), times))
  const received = ({ data }: Json) => data.map(({ receivedOn }: Json) => receivedOn)
  return {
    'createQrCode expiry': {
      async send(expiry) {
        const made = await send('POST', '/api/v0/qr-code', { expiry })
        if (made.status !== 200) return made
        const got = await send('GET', `/api/v0/qr-code/${made.payload.qrCodeId}`)
        return { ...made, seen: [made.payload.expiry, got.payload?.expiry] }
      },
      takes: inFuture,
    },
    ...named('searchQrCodes', range(CREATED, search, times)),
    ...named('findPayments', range(RECORDED, list('/payments'), times)),
    ...created('findPayments', '/payments'),
    ...created('findRefunds', '/refunds'),
    ...created('listRefunds', `/payments/${paymentId}/refunds`),
    ...created('listDisputes', '/disputes'),
    ...created('listPayouts', '/payouts'),
    ...named('listRequests', range(RECORDED, list('/requests'), received)),
    'getQrCode asOf': asOf(send, `/api/v0/qr-code/${qrCodeId}`),
    'getPayment asOf': asOf(send, `/api/v0/payments/${paymentId}`),
    'getRefund asOf': asOf(send, `/api/v0/payments/${paymentId}/refunds/${refundId}`),
    ...named(
      'replayWebhookEvents',
      replayFields((body) => send('POST', `/api/v0/webhook-endpoints/${endpointId}/replay`, body)),
    ),
  }
}

const COINS = '/api/v0/svc-coins'

async function coinConfigFields(send: Send, make: (more: object) => Promise<Reply>): Promise<Fields> {
  const startMs = Math.floor(Date.now() / 1_000) * 1_000 + 6 * 3_600_000
  const [validFrom, validTo] = [startMs, startMs + 6 * 3_600_000].map((at) => new Date(at).toISOString())
  const within = (await make({ validFrom, validTo })).payload.event
  const takesOf = (name: string, from: string) => (at: number) =>
    name === 'validFrom' || at > Date.parse(from)
  const create = (name: string): DateField => ({
    async send(text) {
      const made = await make({ validFrom: EARLIEST, [name]: text })
      if (made.status !== 200) return made
      const got = await send('GET', `${COINS}/${made.payload.coinConfigId}`)
      return { ...made, seen: [made.payload[name], got.payload?.[name]] }
    },
    takes: takesOf(name, EARLIEST),
  })
  const update = (name: string): DateField => ({
    async send(text) {
      const { coinConfigId } = (await make({ validFrom: '2000-01-01T00:00:00Z' })).payload
      const path = `${COINS}/${coinConfigId}`
      const changed = await send('PATCH', path, { [name]: text }, { 'if-match': '"1"' })
      if (changed.status !== 200) return changed
      const got = await send('GET', path)
      const { data } = (await send('GET', `${path}/revisions`)).payload
      const newest = data.find(({ revision }: Json) => revision === 2)
      return { ...changed, seen: [changed.payload[name], got.payload?.[name], newest?.[name]] }
    },
    takes: takesOf(name, '2000-01-01T00:00:00Z'),
  })
  return {
    'createCoinConfig validFrom': create('validFrom'),
    'createCoinConfig validTo': create('validTo'),
    'updateCoinConfig validFrom': update('validFrom'),
    'updateCoinConfig validTo': update('validTo'),
    'searchCoinConfigs validAt': {
      async send(validAt) {
        const found = await send('POST', `${COINS}/search`, { validAt, event: within })
        return found.status === 200 ? { ...found, found: found.payload.data.length > 0 } : found
      },
      takes: always,
      finds: (at) => at >= startMs && at < startMs + 6 * 3_600_000,
    },
  }
}

async function partnerFields(send: Send, { ids, partner }: Tenant): Promise<Fields> {
  const svcCardId = ids.get('svcCardId')!.at(-1)!
  const { userId, companyId } = partner!
  const make = (more: object) => send('POST', COINS, { event: unique(), amount: 1, title: 'Thanks', ...more })
  const { event } = (await make({ validFrom: EARLIEST })).payload
  const transactions = (operation: string, path: string) =>
    named(
      operation,
      range(
        CREATED,
        (query) => send('GET', `/api/v0/partner/${path}?limit=5&${new URLSearchParams(query)}`),
        ({ data }: Json) => data.map(({ createdOn }: Json) => createdOn),
      ),
    )
  return {
    ...(await coinConfigFields(send, make)),
    'getCoinBalance asOf': asOf(send, `${COINS}/users/${userId}/balance`),
    'getCardAccount asOf': asOf(send, `/api/v0/partner/card-accounts/${partner!.cardAccountId}`),
    'getCard asOf': asOf(send, `/api/v0/partner/svcCard/${svcCardId}`),
    'getCardBalance asOf': asOf(send, `/api/v0/partner/svcCard/${svcCardId}/balance`),
    ...transactions('listCardTransactions', `svcCard/${svcCardId}/transactions`),
    ...transactions('findCardTransactions', 'card-transactions'),
    'backtestSpendRules from': backtest((from) =>
      send('POST', '/api/v0/partner/spend-rules/backtest', { from }),
    ),
    'allocateCoins occurredOn': {
      async send(occurredOn) {
        const request = { requestId: unique(), event, userId, companyId, occurredOn }
        const made = await send('POST', `${COINS}/allocate`, request)
        if (made.status !== 200) return made
        // The repeat is read from the database.
        const again = await send('POST', `${COINS}/allocate`, request)
        return { ...made, seen: [made.payload.occurredOn, again.payload?.occurredOn] }
      },
      takes: notLongAgo,
    },
  }
}

/** The first instant of a backtest of spend rules, which its result repeats. */
const backtest = (run: (from: string) => Promise<Reply>): DateField => ({
  async send(from) {
    const reply = await run(from)
    return reply.status === 200 ? { ...reply, seen: [reply.payload.from] } : reply
  },
  takes: notBefore90Days,
})

/** Configurations of coins that operators create and change for a partner. */
function consoleCoinFields(send: Send, partnerId: string): Fields {
  const path = '/console/api/v0/coin-configs'
  const own = { 'x-svc-console': '1' }
  const first = '2000-01-01T00:00:00Z'
  const create = (more: object): Promise<Reply> =>
    send('POST', path, { partnerId, config: { event: unique(), amount: 1, title: 'Thanks', ...more } }, own)
  const field = (name: string, sent: (text: string) => Promise<Reply>): DateField => ({
    async send(text) {
      const reply = await sent(text)
      return reply.status === 200 ? { ...reply, seen: [reply.payload[name]] } : reply
    },
    takes: (at) => name === 'validFrom' || at > Date.parse(first),
  })
  const created = (name: string) => field(name, (text) => create({ validFrom: first, [name]: text }))
  const updated = (name: string) =>
    field(name, async (text) => {
      const { coinConfigId } = (await create({ validFrom: first })).payload
      return send('PATCH', `${path}/${coinConfigId}`, { revision: 1, terms: { [name]: text } }, own)
    })
  const listed = (list: string): DateField => ({
    send: (validAt) => send('GET', `${list}?${new URLSearchParams({ partnerId, validAt })}`),
    takes: always,
  })
  return {
    'console.backtestSpendRules from': backtest((from) =>
      send('POST', '/console/api/v0/spend-rules/backtest', { partnerId, from }, own),
    ),
    'console.createCoinConfig validFrom': created('validFrom'),
    'console.createCoinConfig validTo': created('validTo'),
    'console.updateCoinConfig validFrom': updated('validFrom'),
    'console.updateCoinConfig validTo': updated('validTo'),
    'console.listCoinConfigs validAt': listed(path),
    'console.exportCoinConfigs validAt': listed(`${path}.csv`),
  }
}

/** Lists of operators: each is read, exported and, where it has totals, summed. */
function consoleLists(send: Send, merchantId: string): Fields {
  const list =
    (path: string, limit = 'limit=5&') =>
    (query: Record<string, string>) =>
      send('GET', `/console/api/v0${path}?${limit}${new URLSearchParams(query)}`)
  /** Sums and texts carry no instants to compare. */
  const none = (): readonly string[] => []
  const listed = (noun: string, path: string, filters = CREATED as readonly [string, string]) => ({
    ...named(`console.list${noun}`, range(filters, list(path), times)),
    ...named(
      `console.export${noun}`,
      range(filters, list(`${path}.csv`, ''), none, (csv: string) => csv.split('\r\n').length > 2),
    ),
  })
  const summed = (noun: string, path: string, filters = CREATED as readonly [string, string]) =>
    named(
      `console.sum${noun}`,
      range(filters, list(`${path}/totals`, ''), none, ({ count }) => count > 0),
    )
  const times = ({ data }: Json) => data.flatMap(({ createdOn, at }: Json) => createdOn ?? at ?? [])
  return {
    ...listed('QrCodes', '/qr-codes'),
    ...listed('Payments', '/payments'),
    ...listed('Payments', '/payments', RECORDED),
    ...summed('Payments', '/payments'),
    ...summed('Payments', '/payments', RECORDED),
    ...listed('Refunds', '/refunds'),
    ...listed('Disputes', '/disputes'),
    ...listed('Payouts', '/payouts'),
    ...summed('Payouts', '/payouts'),
    ...listed('Cards', '/cards'),
    ...listed('CardTransactions', '/card-transactions'),
    ...listed('Events', `/tenants/${merchantId}/events`),
    ...listed('Requests', '/requests', RECORDED),
    ...listed('Audit', '/audit', RECORDED),
  }
}

function consoleFields(send: Send, endpointId: string, shop: Tenant, { partner }: Tenant): Fields {
  const api = '/console/api/v0'
  const own = { 'x-svc-console': '1' }
  const merchantId = shop.tenantId
  return {
    'console.createQrCode expiry': {
      async send(expiry) {
        const made = await send('POST', `${api}/qr-codes`, { merchantId, qrCode: { expiry } }, own)
        return made.status === 200 ? { ...made, seen: [made.payload.expiry] } : made
      },
      takes: inFuture,
    },
    'console.tryAllocation occurredOn': {
      async send(occurredOn) {
        const request = { userId: partner!.userId, event: 'fuzz.event', occurredOn }
        const tried = await send('POST', `${api}/coin-dry-runs`, request, own)
        return tried.status === 200 ? { ...tried, seen: [tried.payload.occurredOn] } : tried
      },
      takes: notLongAgo,
    },
    ...consoleLists(send, merchantId),
    ...figureFields(send, own, api),
    // At any instant of the past there is a trial balance.
    ...Object.fromEntries(
      [
        ['showTrialBalance', ''],
        ['exportTrialBalance', '.csv'],
        ['showTrialBalancePdf', '.pdf'],
      ].map(([id, form]) => [
        `console.${id} asOf`,
        {
          ...asOf((method, path) => send(method, path, undefined, own), `${api}/ledger/trial-balance${form}`),
          finds: () => undefined,
        },
      ]),
    ),
    ...named(
      'console.replayWebhook',
      replayFields((body) => send('POST', `${api}/webhooks/${endpointId}/replay`, body, own)),
    ),
  }
}

const DAY_MS = 86_400_000

/** The test clock of a merchant of its own: it goes to any instant of the next 400 days, and stays for earlier ones. */
const clockFields = (send: Send): Fields => ({
  'sandboxAdvanceClock to': {
    async send(to) {
      const merchant = { name: 'Clock', vpa: `${unique()}@bank`, mcc: '5411' }
      const made = await send('POST', '/console/api/v0/merchants', merchant, { 'x-svc-console': '1' })
      if (made.status !== 200) return made
      return send('POST', `/sandbox/tenants/${made.payload.merchant.merchantId}/clock/advance`, { to })
    },
    takes: (at, now) => (Math.abs(at - now - 400 * DAY_MS) < DAY_MS ? undefined : at < now + 400 * DAY_MS),
  },
})

interface Paid {
  readonly paymentId: string
  readonly refundId: string
  readonly qrCodeId: string
}

/** A refund, a dispute and a payout of an accepted payment, so that their lists have one. */
async function moveMoney(send: Send): Promise<Paid> {
  const done = async (method: string, path: string, body?: object, headers?: Record<string, string>) => {
    const { status, text, payload } = await send(method, path, body, headers)
    if (status !== 200) throw new Error(`${method} ${path}: ${text}`)
    return payload
  }
  const [payment] = (await done('GET', '/api/v0/payments?status=ACCEPTED&limit=1')).data
  const { paymentId, qrCodeId, utr } = payment
  const refund = { amount: 0.01, referenceNumber: unique() }
  const { refundId } = await done('POST', `/api/v0/payments/${paymentId}/refunds`, refund)
  const dispute = { caseReference: unique(), utr, amount: 0.01, reason: 'Goods not received' }
  await done('POST', '/rails/upi/disputes', dispute, {
    'x-rail-signature': signNotice(Buffer.from(JSON.stringify(dispute)), RAIL_KEY, Date.now()),
  })
  await done('POST', '/sandbox/payouts', {})
  return { paymentId, qrCodeId, refundId }
}

/** Every date of the documents, with a request for it; in the name of the victims, whom nobody else disturbs. */
export async function dateFields(
  target: Target,
  pool: Pool,
): Promise<readonly (readonly [string, DateField])[]> {
  const [shop, partner] = target.victims as [Tenant, Tenant]
  const qrCodes = senderOf(pool, headersOf(shop))
  const endpointId = await newEndpoint(qrCodes)
  const paid = await moveMoney(qrCodes)
  const operators = senderOf(pool, { cookie: target.operatorCookie })
  const fields: Fields = {
    ...qrCodeFields(qrCodes, endpointId, paid),
    ...(await partnerFields(senderOf(pool, headersOf(partner)), partner)),
    ...consoleFields(operators, endpointId, shop, partner),
    ...consoleCoinFields(operators, partner.tenantId),
    ...clockFields(operators),
  }
  const missing = documentedDates().filter((name) => !(name in fields))
  if (missing.length > 0) throw new Error(`No request is made for ${missing.join(', ')}`)
  return Object.entries(fields)
}
