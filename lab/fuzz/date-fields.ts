import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'undici'
import { EARLIEST, LATEST } from '../../packages/kernel/test/instants.ts'
import { documentedDates } from '../../test/harness/documents.ts'
import { headersOf, type Target, type Tenant } from './target.ts'

type Json = any // oxlint-disable-line typescript/no-explicit-any -- read by name

/** What a request with one date in it led to. */
export interface DateOutcome {
  readonly status: number
  readonly text: string
  /** The field wherever responses have it since. */
  readonly seen?: readonly unknown[]
  /** Of a filter: whether it let a record pass, and of when those are that it let pass. */
  readonly found?: boolean
  readonly times?: readonly string[]
}

export interface DateField {
  readonly send: (text: string) => Promise<DateOutcome>
  /** Whether the operation takes this instant; undefined where that is a matter of moments. */
  readonly takes: (atMs: number, nowMs: number) => boolean | undefined
  /** Of a filter: whether it ought to let a record pass. */
  readonly finds?: (atMs: number, nowMs: number) => boolean | undefined
  /** Of a filter: whether a record of this time may pass. */
  readonly lets?: (atMs: number, timeMs: number) => boolean
}

type Fields = Record<string, DateField>

/** Records are of the time of the run: an instant nearer than this is compared with what is listed only. */
const RUN_MS = 3_600_000
const DAY_MS = 86_400_000
const YEAR_MS = 366 * DAY_MS

/** Whether `at` is on this side of all times from `from` to `to`; undefined in between. */
const later = (at: number, from: number, to = from): boolean | undefined =>
  at > to ? true : at < from ? false : undefined
const not = (known: boolean | undefined): boolean | undefined => (known === undefined ? undefined : !known)
const always = () => true

type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>
interface Reply {
  readonly status: number
  readonly text: string
  /** The payload of a success, or its text where it is CSV. */
  readonly payload: Json
}

const senderOf =
  (pool: Pool, own: Record<string, string>): Send =>
  async (method, path, body, headers = {}) => {
    const {
      statusCode: status,
      headers: received,
      body: stream,
    } = await pool.request({
      method: method as 'GET',
      path,
      headers: { ...own, ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await stream.text()
    const isJson = String(received['content-type']).startsWith('application/json')
    const json = status === 200 && isJson ? JSON.parse(text) : undefined
    return { status, text, payload: isJson ? (json?.payload ?? json) : text }
  }

const unique = (): string => `fuzz.${randomBytes(8).toString('hex')}`

/** A pair of filters, the first inclusive and the second exclusive, over records of the time of the run. */
function range(
  [from, to]: readonly [string, string],
  ask: (query: Record<string, string>) => Promise<Reply>,
  timesOf: (payload: Json) => readonly string[] | undefined,
  found = (payload: Json): boolean => payload.data.length > 0,
): Fields {
  const send = (name: string) => async (text: string) => {
    const { status, text: received, payload } = await ask({ [name]: text })
    if (status !== 200) return { status, text: received }
    return { status, text: received, found: found(payload), times: timesOf(payload) ?? [] }
  }
  const passes = (at: number, now: number) => later(at, now - RUN_MS, now + RUN_MS)
  return {
    [from]: {
      send: send(from),
      takes: always,
      finds: (at, now) => not(passes(at, now)),
      lets: (at, time) => time >= at,
    },
    [to]: { send: send(to), takes: always, finds: passes, lets: (at, time) => time < at },
  }
}

const named = (operation: string, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [`${operation} ${name}`, field]))

const inFuture = (at: number, now: number) => {
  const begun = later(at, now - 60_000, now + 60_000)
  return begun ? not(later(at, now + 4.9 * YEAR_MS, now + 5.1 * YEAR_MS)) : begun
}
const notLongAgo = (at: number, now: number) => {
  const early = later(at, now - 31 * DAY_MS - 60_000, now - 31 * DAY_MS + 60_000)
  return early ? not(later(at, now + 4 * 60_000, now + 6 * 60_000)) : early
}

/** The ends of a replay, each beside an end that leaves it open. */
const replayFields = (send: (body: object) => Promise<Reply>): Fields =>
  range(
    ['from', 'to'],
    (query) => send({ from: EARLIEST, to: LATEST, ...query }),
    () => [],
    ({ queued }) => queued > 0,
  )

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

/** Something of the run, as it was: not found before its creation. */
const asOf = (send: Send, url: string): DateField => ({
  async send(text) {
    const { status, text: body } = await send('GET', `${url}?${new URLSearchParams({ asOf: text })}`)
    return { status: status === 404 ? 200 : status, text: body, found: status === 200 }
  },
  takes: (at, now) => (at > now + RUN_MS ? false : at < now - 5_000 ? true : undefined),
  finds: (at, now) => (at < now - DAY_MS ? false : undefined),
})

function qrCodeFields(send: Send, endpointId: string, { paymentId, refundId, qrCodeId }: Paid): Fields {
  const search = (query: object) => send('POST', '/api/v0/qr-code/search', { limit: 5, ...query })
  const findPayments = (query: Record<string, string>) =>
    send('GET', `/api/v0/payments?limit=5&${new URLSearchParams(query)}`)
  const times = ({ data }: Json) => data.map(({ createdOn }: Json) => createdOn)
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
    ...named('searchQrCodes', range(['createdFrom', 'createdTo'], search, times)),
    ...named('findPayments', range(['from', 'to'], findPayments, times)),
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

async function partnerFields(send: Send, { ids, partner }: Tenant): Promise<Fields> {
  const svcCardId = ids.get('svcCardId')!.at(-1)!
  const make = (more: object) => send('POST', COINS, { event: unique(), amount: 1, title: 'Thanks', ...more })
  const { event } = (await make({ validFrom: EARLIEST })).payload
  const startMs = Math.floor(Date.now() / 1_000) * 1_000 + 6 * 3_600_000
  const [validFrom, validTo] = [startMs, startMs + 6 * 3_600_000].map((at) => new Date(at).toISOString())
  const within = (await make({ validFrom, validTo })).payload.event
  const { userId, companyId } = partner!
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
    'getCoinBalance asOf': asOf(send, `${COINS}/users/${userId}/balance`),
    'getCardAccount asOf': asOf(send, `/api/v0/partner/card-accounts/${partner!.cardAccountId}`),
    'getCard asOf': asOf(send, `/api/v0/partner/svcCard/${svcCardId}`),
    'getCardBalance asOf': asOf(send, `/api/v0/partner/svcCard/${svcCardId}/balance`),
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

function consoleFields(send: Send, endpointId: string, shop: Tenant, { partner }: Tenant): Fields {
  const api = '/console/api/v0'
  const own = { 'x-svc-console': '1' }
  const list =
    (path: string, limit = 'limit=5&') =>
    (query: Record<string, string>) =>
      send('GET', `${api}${path}?${limit}${new URLSearchParams(query)}`)
  const sums = list('/payments/totals', '')
  /** Sums and texts carry no instants to compare. */
  const none = (): readonly string[] => []
  const exported = (name: string, filters: readonly [string, string], path: string) =>
    named(
      name,
      range(filters, list(`${path}.csv`, ''), none, (csv: string) => csv.split('\r\n').length > 2),
    )
  const times = ({ data }: Json) => data.flatMap(({ createdOn, at }: Json) => createdOn ?? at ?? [])
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
    ...named('console.listQrCodes', range(['createdFrom', 'createdTo'], list('/qr-codes'), times)),
    ...named('console.listPayments', range(['createdFrom', 'createdTo'], list('/payments'), times)),
    ...named(
      'console.sumPayments',
      range(['createdFrom', 'createdTo'], sums, none, ({ count }) => count > 0),
    ),
    ...named('console.listRefunds', range(['createdFrom', 'createdTo'], list('/refunds'), times)),
    ...exported('console.exportQrCodes', ['createdFrom', 'createdTo'], '/qr-codes'),
    ...exported('console.exportPayments', ['createdFrom', 'createdTo'], '/payments'),
    ...exported('console.exportRefunds', ['createdFrom', 'createdTo'], '/refunds'),
    ...exported('console.exportCards', ['createdFrom', 'createdTo'], '/cards'),
    ...exported('console.exportRequests', ['from', 'to'], '/requests'),
    ...exported('console.exportAudit', ['from', 'to'], '/audit'),
    ...named('console.listCards', range(['createdFrom', 'createdTo'], list('/cards'), times)),
    ...named('console.listRequests', range(['from', 'to'], list('/requests'), times)),
    ...named('console.listAudit', range(['from', 'to'], list('/audit'), times)),
    ...named(
      'console.replayWebhook',
      replayFields((body) => send('POST', `${api}/webhooks/${endpointId}/replay`, body, own)),
    ),
  }
}

interface Paid {
  readonly paymentId: string
  readonly refundId: string
  readonly qrCodeId: string
}

/** A refund of an accepted payment, so that the lists of refunds have one. */
async function newRefund(send: Send): Promise<Paid> {
  const { data } = (await send('GET', '/api/v0/payments?status=ACCEPTED&limit=1')).payload
  const body = { amount: 0.01, referenceNumber: unique() }
  const [{ paymentId, qrCodeId }] = data
  const { status, text, payload } = await send('POST', `/api/v0/payments/${paymentId}/refunds`, body)
  if (status !== 200) throw new Error(`no refund: ${text}`)
  return { paymentId, qrCodeId, refundId: payload.refundId }
}

/** Every date of the documents, with a request for it; in the name of the victims, whom nobody else disturbs. */
export async function dateFields(
  target: Target,
  pool: Pool,
): Promise<readonly (readonly [string, DateField])[]> {
  const [shop, partner] = target.victims as [Tenant, Tenant]
  const qrCodes = senderOf(pool, headersOf(shop))
  const endpointId = await newEndpoint(qrCodes)
  const paid = await newRefund(qrCodes)
  const fields: Fields = {
    ...qrCodeFields(qrCodes, endpointId, paid),
    ...(await partnerFields(senderOf(pool, headersOf(partner)), partner)),
    ...consoleFields(senderOf(pool, { cookie: target.operatorCookie }), endpointId, shop, partner),
  }
  const missing = documentedDates().filter((name) => !(name in fields))
  if (missing.length > 0) throw new Error(`No request is made for ${missing.join(', ')}`)
  return Object.entries(fields)
}
