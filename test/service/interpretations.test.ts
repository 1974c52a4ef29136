import { EVERY_INTERPRETATION } from '@svc/contract/interpretations'
import { WRAPPING_NAMES } from '@svc/contract/payload-string'
import { linkMerchant } from '@svc/core/tenants/merchant'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiResponse, type Client, type Json, payloadOf } from '../harness/client.ts'
import { asCoinPartner, COINS, newConfig } from '../harness/coins.ts'
import { conformanceOf, idsOf, openSandbox } from '../harness/conformance.ts'
import {
  asPartner,
  CREATE,
  createCard,
  encryptFor,
  JOSE,
  newPartner,
  orderCard,
  partnerToken,
  SEARCH,
  type TestPartner,
} from '../harness/partner.ts'
import { newDatabase, openService, type TestMerchant, type TestService } from '../harness/service.ts'

const OTHERWISE = {
  ACCESS_KEY_ALONE: 'accept',
  BUSINESS_TIME_ZONE: 'UTC',
  CARD_AMOUNTS: 'exact',
  CARD_REPEAT_SECONDS: '0',
  COIN_LOOKUP_TOKEN: 'partner',
  COIN_LOT_ORDER: 'fifo',
  EXPIRED_STATUS: 'CANCELLED',
  SEARCH_COOKIE: 'token',
  SECOND_CANCEL: 'conflict',
  SUCCESS_RESULT_CODE: '200',
  TOKEN_EXPIRY: 'duration',
  TOKEN_TTL_SECONDS: '3600',
  UNKNOWN_FIELDS: 'ignore',
}

// Two processes on one database, one of them with every interpretation other than by default.
let byDefault: TestService
let otherwise: TestService
let merchant: TestMerchant
let partner: TestPartner
beforeAll(async () => {
  const db = await newDatabase()
  byDefault = await openService({ db })
  otherwise = await openService({ db, env: OTHERWISE })
  merchant = await byDefault.newMerchant()
  partner = await newPartner(byDefault)
})
afterAll(async () => {
  await otherwise?.close()
  await byDefault?.close()
})

const JSON_TYPE = { 'content-type': 'application/json' }
const result = ({ status, error }: ApiResponse) => [status, error]
const newCodeId = async (client: Client, request: object = {}): Promise<string> =>
  payloadOf(await client.post('/api/v0/qr-code', request)).qrCodeId
const cancel = (client: Client, id: string, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  client.patch(`/api/v0/qr-code/${id}/cancel`, {}, headers)

test('the settings in force are published, with their defaults and their meaning', async () => {
  const read = async ({ client }: TestService): Promise<Json[]> =>
    (await client.get('/.well-known/svc-interpretation.json')).json.interpretations
  const values = (rows: Json[], field: string) =>
    Object.fromEntries(rows.map((row) => [row.setting, row[field]]))
  const [plain, other] = [await read(byDefault), await read(otherwise)]
  expect(Object.keys(values(plain, 'value'))).toEqual(Object.keys(EVERY_INTERPRETATION))
  expect(values(plain, 'value')).toEqual(values(plain, 'default'))
  expect(values(other, 'value')).toEqual(OTHERWISE)
  for (const { value, choices } of [...plain, ...other]) expect(Object.keys(choices)).toContain(value)
})

test('a server that reads the specification in every other way passes every check of the kit, as it reads it', async () => {
  for (const settings of [OTHERWISE, { ...OTHERWISE, SEARCH_COOKIE: 'any' }]) {
    const sandbox = await openSandbox(settings)
    const result = await conformanceOf(sandbox)
    expect(idsOf(result, 'failed', 'blocked')).toEqual([])
    // Without a check of the cookie there is nothing to refuse.
    expect(idsOf(result, 'skipped').filter((id) => !id.startsWith('5.search.cookie.'))).toEqual([])
    await sandbox.service.close()
  }
}, 240_000)

test('ACCESS_KEY_ALONE: the access key cancels codes of its merchant where it is accepted, and does nothing else', async () => {
  const mine = await newCodeId(await byDefault.as(merchant))
  const key = { merchantaccesskey: merchant.accessKey }
  expect(result(await cancel(byDefault.client, mine, key))).toEqual([401, 'invalid_token'])
  const { client } = otherwise
  expect(result(await cancel(client, mine, { merchantaccesskey: 'mak_unknown' }))).toEqual([
    401,
    'invalid_token',
  ])
  const outsider = await byDefault.newMerchant()
  const theirs = { merchantaccesskey: outsider.accessKey }
  expect(result(await cancel(client, mine, theirs))).toEqual([404, 'qr_code_not_found'])
  expect(result(await client.get(`/api/v0/qr-code/${mine}`, key))).toEqual([401, 'invalid_token'])
  const badToken = { ...key, authorization: 'Bearer nonsense' }
  expect(result(await cancel(client, mine, badToken))).toEqual([401, 'invalid_token'])
  expect(payloadOf(await cancel(client, mine, key)).status).toBe('CANCELLED')
})

test('COIN_LOOKUP_TOKEN: a merchant reads the configurations of the partner that it is linked to', async () => {
  const coins = await asCoinPartner(byDefault.client, partner)
  const path = `${COINS}/${(await newConfig(coins)).coinConfigId}`
  const shop = await byDefault.newMerchant()
  const read = async (service: TestService) => (await service.as(shop)).get(path)
  expect(result(await read(byDefault))).toEqual([404, 'coin_config_not_found'])
  const link = (partnerId: string) =>
    byDefault.app.services.database.operate((tx) => linkMerchant(tx, shop.merchantId, partnerId))
  await link((await newPartner(byDefault)).partnerId)
  expect(result(await read(byDefault))).toEqual([404, 'coin_config_not_found'])
  await link(partner.partnerId)
  expect((await read(byDefault)).text).toBe((await coins.get(path)).text)
  expect(result(await read(otherwise))).toEqual([401, 'invalid_token'])
})

test('EXPIRED_STATUS: get and search show and filter an expired code as the setting says', async () => {
  const shop = await byDefault.newMerchant()
  const soon = new Date(byDefault.clock.now() + 60_000).toISOString()
  const id = await newCodeId(await byDefault.as(shop), { expiry: soon })
  for (const [service, status] of [
    [byDefault, 'ACTIVE'],
    [otherwise, 'CANCELLED'],
  ] as const) {
    service.clock.advance(61_000)
    const client = await service.as(shop)
    const found = async (filter: object): Promise<Json[]> =>
      payloadOf(await client.post('/api/v0/qr-code/search', filter)).data.map((code: Json) => code.status)
    expect(payloadOf(await client.get(`/api/v0/qr-code/${id}`)).status).toBe(status)
    expect(await found({})).toEqual([status])
    expect(await found({ expired: true })).toEqual([status])
    expect(await found({ status: 'ACTIVE' })).toEqual([])
    expect(await found({ status: 'CANCELLED' })).toEqual(status === 'CANCELLED' ? [status] : [])
    service.clock.advance(-61_000)
  }
})

test('ACCESS_KEY_ALONE: the OpenAPI document says what authorises the cancellation', async () => {
  const securityOf = async ({ client }: TestService) => {
    const { paths, components } = (await client.get('/openapi.json')).json
    const { security } = paths['/api/v0/qr-code/{qrCodeId}/cancel'].patch
    return [
      security,
      paths['/api/v0/qr-code/{qrCodeId}'].get.security,
      components.securitySchemes.accessKey?.name,
    ]
  }
  const token = [{ merchant: [] }]
  expect(await securityOf(byDefault)).toEqual([token, token, undefined])
  expect(await securityOf(otherwise)).toEqual([[...token, { accessKey: [] }], token, 'merchantAccessKey'])
})

describe('SEARCH_COOKIE', () => {
  const searchWith = async (service: TestService, cookieFrom: 'own' | 'colleague' | 'outsider' | 'none') => {
    const cookieOf = (response: ApiResponse) => String(response.headers['set-cookie']).split(';')[0]!
    const own = await partnerToken(service.client, partner)
    const cookies = {
      own: cookieOf(own),
      colleague: cookieOf(await partnerToken(service.client, partner)),
      outsider: cookieOf(await partnerToken(service.client, await newPartner(service))),
      none: 'theme=dark',
    }
    const { companyId, cardAccountId } = partner
    const response = await service.client.post(
      SEARCH,
      { companyId, cardAccountId, svcCardId: 'card_unknown' },
      {
        authorization: `Bearer ${own.json.access_token}`,
        partnerid: partner.partnerId,
        cookie: cookies[cookieFrom],
      },
    )
    return response.error ?? response.status
  }

  test('partner: a session of any live token of the partner is accepted, another partner’s is not', async () => {
    expect(await searchWith(byDefault, 'own')).toBe(200)
    expect(await searchWith(byDefault, 'colleague')).toBe(200)
    expect(await searchWith(byDefault, 'outsider')).toBe('invalid_session')
    expect(await searchWith(byDefault, 'none')).toBe('invalid_session')
  })

  test('partner: a session ends with its token', async () => {
    const colleague = await asPartner(byDefault.client, partner)
    byDefault.clock.advance(3_601_000)
    const late = await asPartner(byDefault.client, partner)
    const { companyId, cardAccountId } = partner
    const search = (cookie: string) =>
      late.post(SEARCH, { companyId, cardAccountId, svcCardId: 'card_unknown' }, { cookie })
    expect((await search(colleague.headers['cookie']!)).error).toBe('invalid_session')
    expect((await search(late.headers['cookie']!)).status).toBe(200)
    byDefault.clock.advance(-3_601_000)
  })

  test('token: only the session of this very token is accepted', async () => {
    expect(await searchWith(otherwise, 'own')).toBe(200)
    expect(await searchWith(otherwise, 'colleague')).toBe('invalid_session')
    expect(await searchWith(otherwise, 'outsider')).toBe('invalid_session')
  })

  test('any: every cookie is accepted, and none', async () => {
    const any = await openService({ db: byDefault.db, env: { SEARCH_COOKIE: 'any' }, background: false })
    expect(await searchWith(any, 'outsider')).toBe(200)
    expect(await searchWith(any, 'none')).toBe(200)
    await any.close()
  })
})

test('SECOND_CANCEL: the first response again, or 409; a repeat with the same key gets the first response', async () => {
  const [plain, other] = [await byDefault.as(merchant), await otherwise.as(merchant)]
  const id = await newCodeId(plain)
  const key = { 'idempotency-key': 'cancel-once' }
  const first = await cancel(other, id, key)
  expect(first.status).toBe(200)
  expect(result(await cancel(other, id))).toEqual([409, 'qr_code_already_cancelled'])
  expect((await cancel(other, id, key)).text).toBe(first.text)
  // In another time zone, the same instant.
  const modifiedAt = (response: ApiResponse) => Date.parse(payloadOf(response).modifiedOn)
  expect(modifiedAt(await cancel(plain, id))).toBe(modifiedAt(first))
})

test('SUCCESS_RESULT_CODE: 0 or 200 when a token was issued, 1 when not', async () => {
  const codes = async ({ client }: TestService) =>
    Promise.all(
      [merchant.apiKey, 'unknown'].map(
        async (key) =>
          (await client.post('/api/v0/merchant/token', undefined, { 'api-key': key })).json.resultCode,
      ),
    )
  expect(await codes(byDefault)).toEqual([0, 1])
  expect(await codes(otherwise)).toEqual([200, 1])
})

test('CARD_AMOUNTS: a record shows whole rupees, or rupees with their paise', async () => {
  const amounts = ({ otbBalance, accountBalance, lastAllocatedAmount, loadAmount }: Json) => [
    otbBalance,
    accountBalance,
    lastAllocatedAmount,
    loadAmount,
  ]
  const client = await asPartner(byDefault.client, partner)
  const { svcCardId } = payloadOf(await createCard(client, partner, { loadAmount: '100' }))
  payloadOf(await byDefault.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount: 0.5, channel: 'pos' }))
  const shown = async (service: TestService): Promise<unknown[]> => {
    const caller = await asPartner(service.client, partner)
    const { companyId, cardAccountId } = partner
    const { data } = payloadOf(await caller.post(SEARCH, { companyId, cardAccountId, svcCardId }))
    expect(amounts(data[0])).toEqual(amounts(payloadOf(await caller.get(`${CREATE}/${svcCardId}`))))
    return amounts(data[0])
  }
  expect(await shown(byDefault)).toEqual([99, 99, 100, '100'])
  expect(await shown(otherwise)).toEqual([99.5, 99.5, 100, '100'])
  const { Card } = (await otherwise.client.get('/openapi.json')).json.components.schemas
  expect(Card.properties.otbBalance.type).toBe('number')
})

test('CARD_REPEAT_SECONDS: the same bare order twice is one card, or two', async () => {
  const orders = async ({ client }: TestService) => {
    const caller = await asPartner(client, partner)
    const send = async () => payloadOf(await orderCard(caller, partner, { firstName: 'Repeat' })).svcCardId
    return new Set([await send(), await send()]).size
  }
  expect([await orders(byDefault), await orders(otherwise)]).toEqual([1, 2])
})

test('BUSINESS_TIME_ZONE: dates without a zone are of that zone', async () => {
  const hours = async ({ client, clock }: TestService) => {
    const { timestamp } = (await client.get(`${COINS}/ccf_nothing`)).json.errorResponse
    return Math.round((Date.parse(`${timestamp.replace(' ', 'T')}Z`) - clock.now()) / 1_800_000) / 2 || 0
  }
  expect([await hours(byDefault), await hours(otherwise)]).toEqual([5.5, 0])
})

test('TOKEN_EXPIRY: an instant or the remaining time, both in milliseconds', async () => {
  const expiryOf = async ({ client }: TestService): Promise<number> =>
    (await client.post('/api/v0/merchant/token', undefined, { 'api-key': merchant.apiKey })).json.expiry
  const now = byDefault.clock.now()
  const instant = await expiryOf(byDefault)
  expect(instant).toBeGreaterThan(now + 3_590_000)
  const left = await expiryOf(otherwise)
  expect(left).toBeGreaterThan(3_590_000)
  expect(left).toBeLessThanOrEqual(3_600_000)
})

test('UNKNOWN_FIELDS: rejected by name, or without effect, also in the query and in an encrypted order', async () => {
  const requestAll = async (service: TestService) => {
    const shop = await service.as(merchant)
    const buyer = await asPartner(service.client, partner)
    return [
      await shop.post('/api/v0/qr-code', { qrName: 'Order', colour: 'red' }),
      await shop.get('/api/v0/payments?colour=red'),
      await createCard(buyer, partner, { colour: 'red' }),
    ]
  }
  for (const response of await requestAll(byDefault)) {
    expect(result(response)).toEqual([400, 'validation_failed'])
    expect(response.errorDescription).toContain('colour')
  }
  expect((await requestAll(otherwise)).map(({ status }) => status)).toEqual([200, 200, 200])
})

test('every literal reading of "one encrypted payload string" is accepted', async () => {
  const client = await asPartner(byDefault.client, partner)
  const { companyId, cardAccountId } = partner
  const send = async (bodyOf: (jwe: string) => string, headers: Record<string, string>) =>
    (
      await client.send(
        'POST',
        CREATE,
        bodyOf(await encryptFor(partner, { companyId, cardAccountId })),
        headers,
      )
    ).status
  expect(await send((jwe) => JSON.stringify(jwe), JSON_TYPE)).toBe(200)
  expect(await send((jwe) => jwe, JSON_TYPE)).toBe(200)
  expect(await send((jwe) => jwe, JOSE)).toBe(200)
  for (const name of WRAPPING_NAMES) {
    expect(await send((jwe) => JSON.stringify({ [name]: ` ${jwe}` }), JSON_TYPE)).toBe(200)
    expect(await send((jwe) => JSON.stringify({ [name]: jwe, note: 'x' }), JSON_TYPE)).toBe(400)
  }
  expect(await send((jwe) => `\uFEFF${JSON.stringify(jwe)}`, JSON_TYPE)).toBe(200)
  expect(await send((jwe) => JSON.stringify({ jwe }), JSON_TYPE)).toBe(400)
})

test('null is an absent optional field, and so is an empty text, except for an e-mail address', async () => {
  const shop = await byDefault.as(merchant)
  const create = (request: object) => shop.post('/api/v0/qr-code', request)
  const code = payloadOf(await create({ qrName: 'Order', description: null, customerName: '', amount: null }))
  for (const field of ['description', 'customerName', 'amount']) expect(code).not.toHaveProperty(field)
  expect(result(await create({ customerEmail: '' }))).toEqual([400, 'validation_failed'])
  const client = await asPartner(byDefault.client, partner)
  expect((await createCard(client, partner, { userId: null, email: null, firstName: '' })).status).toBe(200)
  expect(result(await createCard(client, partner, { email: '' }))).toEqual([400, 'validation_failed'])
  const { cardAccountId } = partner
  const companyless = await encryptFor(partner, { companyId: null, cardAccountId })
  expect(result(await client.post(CREATE, companyless))).toEqual([400, 'validation_failed'])
})

test('an empty header is an absent one, except for an empty Idempotency-Key', async () => {
  const shop = await byDefault.as(merchant)
  const create = (headers: Record<string, string>) =>
    shop.post('/api/v0/qr-code', { qrName: 'Order' }, headers)
  const { qrCodeId } = payloadOf(
    await create({ merchantaccesskey: '', accept: '', 'x-http-method-override': '' }),
  )
  expect((await cancel(shop, qrCodeId, { merchantaccesskey: '' })).status).toBe(200)
  expect(result(await create({ 'idempotency-key': '' }))).toEqual([400, 'validation_failed'])
  const buyer = await asPartner(byDefault.client, partner)
  const nameless = await createCard(buyer, partner, {}, { partnerid: '' })
  expect(result(nameless)).toEqual([400, 'validation_failed'])
  const anonymous = await byDefault.client.get('/api/v0/payments', { authorization: '' })
  expect(anonymous.errorDescription).toBe((await byDefault.client.get('/api/v0/payments')).errorDescription)
})

test('what the specification does not show has no effect: a body of the token operation, queries, a leading BOM', async () => {
  const key = { 'api-key': merchant.apiKey }
  for (const [body, type] of [
    ['{"unknown":1}', 'application/json'],
    ['not JSON', 'application/json'],
    ['a=b', 'application/x-www-form-urlencoded'],
  ] as const)
    expect(
      (await byDefault.client.send('POST', '/api/v0/merchant/token', body, { ...key, 'content-type': type }))
        .status,
    ).toBe(200)
  const shop = await byDefault.as(merchant)
  const id = await newCodeId(shop)
  expect((await shop.patch(`/api/v0/qr-code/${id}/cancel?trace=1`, {})).status).toBe(200)
  const withMark = await shop.send('POST', '/api/v0/qr-code', '\uFEFF{"qrName":"Order"}', JSON_TYPE)
  expect(payloadOf(withMark).qrName).toBe('Order')
})
