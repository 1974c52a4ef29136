import { createPublicKey } from 'node:crypto'
import { registerPublicKey } from '@svc/core/tenants/jwe-keys'
import { encrypt } from '@svc/jwe/jwe'
import { newJweKeyPair, publicJwk } from '@svc/jwe/keys'
import type { Operation } from '@svc/server/http/operation'
import { OPERATIONS } from '@svc/server/operations'
import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dumpDatabase } from '../harness/dump-database.ts'
import {
  CREATE,
  encryptFor,
  FORM,
  JOSE,
  newPartner,
  publishedKey,
  SEARCH,
  type TestPartner,
} from '../harness/partner.ts'
import {
  asSuperuser,
  MASTER_KEY,
  openService,
  RAIL_KEY,
  type TestMerchant,
  type TestService,
} from '../harness/service.ts'

const BIN = '999912'
/** Personal data in every field that takes text: none of it belongs into logs and metrics. */
const PERSON = {
  firstName: 'CanaryFirst',
  lastName: 'CanaryLast',
  email: 'canary@example.com',
  mobile: '9876501234',
  address: 'Canary Street 5',
}

let service: TestService
let partner: TestPartner
let merchant: TestMerchant
/** By name; none may show up anywhere. */
const secrets = new Map<string, string>()
/** Every answer, with its headers, less those that hand a secret to its owner. */
const responses: string[] = []

beforeAll(async () => {
  service = await openService({
    env: { LOG_LEVEL: 'trace', METRICS_TOKEN: 'metrics-token-of-this-test', CARD_BIN: BIN },
  })
  partner = await newPartner(service, {
    products: ['incentive', 'employee_rewards'],
    accountProduct: 'employee_rewards',
  })
  merchant = await service.newMerchant()
  const shared = partner.sharedKey.key.export()
  for (const encoding of ['base64url', 'base64', 'hex'] as const)
    secrets.set(`shared key as ${encoding}`, shared.toString(encoding))
  secrets.set('client secret', partner.clientSecret)
  secrets.set('API key', merchant.apiKey)
  secrets.set('master key', MASTER_KEY)
  secrets.set('rail key', RAIL_KEY)
  secrets.set('metrics token', 'metrics-token-of-this-test')
})
afterAll(() => service.close())

interface HttpResponse {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
}
type Headers = Record<string, string>

/** Without the client of the other tests, which holds answers against the contract: much that is sent here is nonsense. */
async function send(
  method: string,
  path: string,
  body?: string,
  headers: Headers = {},
  handsOver = false,
): Promise<HttpResponse> {
  const {
    statusCode,
    headers: fields,
    body: stream,
  } = await request(`${service.baseUrl}${path}`, {
    method: method as 'GET',
    headers,
    ...(body !== undefined && { body }),
  })
  // A stream of events goes on for ever; its beginning is enough.
  const endless = String(fields['content-type']).startsWith('text/event-stream')
  const text = endless ? '' : await stream.text()
  if (endless) stream.destroy()
  if (!handsOver) responses.push(JSON.stringify(fields) + text)
  return { status: statusCode, headers: fields, text }
}
const JSON_TYPE = { 'content-type': 'application/json' }
const post = (path: string, body: unknown, headers: Headers) =>
  send('POST', path, JSON.stringify(body), { ...JSON_TYPE, ...headers })

async function login(): Promise<{ asPartner: Headers; asMerchant: Headers }> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: partner.clientId,
    client_secret: partner.clientSecret,
  })
  const token = await send('POST', '/oauth/token', form.toString(), FORM, true)
  const cookie = String(token.headers['set-cookie']).split(';')[0]!
  const bearer = JSON.parse(token.text).access_token as string
  const other = await send('POST', '/api/v0/merchant/token', undefined, { 'api-key': merchant.apiKey }, true)
  secrets.set('partner token', bearer)
  secrets.set('session cookie', cookie.slice('SVCSESSION='.length))
  secrets.set('merchant token', JSON.parse(other.text).token as string)
  return {
    asPartner: { authorization: `Bearer ${bearer}`, partnerid: partner.partnerId, cookie },
    asMerchant: { authorization: `Bearer ${secrets.get('merchant token')}` },
  }
}

/** Cards issued with every kind of key, read back plain and encrypted. */
async function useCards(headers: Headers): Promise<void> {
  const { publicKey } = newJweKeyPair('P-256')
  await service.app.services.database.operate((tx) =>
    registerPublicKey(
      tx,
      partner.partnerId,
      publicJwk('own', 'ECDH-ES+A256KW', createPublicKey(publicKey.export({ format: 'pem', type: 'spki' }))),
    ),
  )
  const { companyId, cardAccountId } = partner
  const keys = [
    partner.sharedKey,
    ...(await Promise.all(
      (['P-256', 'X25519', 'RSA'] as const).map((kind) => publishedKey(service.client, kind)),
    )),
  ]
  for (const key of keys) {
    const encrypted = await encryptFor(partner, { companyId, cardAccountId, ...PERSON, loadAmount: 5 }, key)
    secrets.set(`request encrypted with ${key.kid}`, encrypted)
    // A key of its own, since the orders are alike (decision C22).
    const created = await send('POST', CREATE, encrypted, { ...JOSE, ...headers, 'idempotency-key': key.kid })
    expect(created.status).toBe(200)
    await send('POST', CREATE, encrypted, { ...JOSE, ...headers, 'idempotency-key': 'another' })
    const { svcCardId } = JSON.parse(created.text).payload
    await post(SEARCH, { companyId, cardAccountId, svcCardId }, headers)
    const read = await send(
      'GET',
      `${CREATE}/${svcCardId}`,
      undefined,
      { ...headers, accept: 'application/jose' },
      true,
    )
    secrets.set(`encrypted answer of ${svcCardId}`, read.text)
    await send('PATCH', `${CREATE}/${svcCardId}/status`, '{"status":"L","reason":"lost"}', {
      ...JSON_TYPE,
      ...headers,
    })
    await post(`/sandbox/cards/${svcCardId}/spend`, { amount: 1, channel: 'pos' }, {})
    for (const order of [
      { ...PERSON, mobile: 'x' },
      { ...PERSON, companyId: 'x' },
      { companyId, cardAccountId, ...PERSON, loadAmount: '9999999' },
    ])
      await send(
        'POST',
        CREATE,
        await encrypt(Buffer.from(JSON.stringify({ companyId, cardAccountId, ...order })), key),
        { ...JOSE, ...headers },
      )
    const altered = `${encrypted.slice(0, -4)}AAAA`
    secrets.set(`altered request encrypted with ${key.kid}`, altered)
    await send('POST', CREATE, altered, { ...JOSE, ...headers })
  }
  expect((await post(SEARCH, { companyId, cardAccountId }, headers)).status).toBe(200)
}

/** One operation, refused in many ways, with secrets where they do not belong. */
async function refuse(operation: Operation, logins: readonly Headers[]): Promise<void> {
  const path = operation.path.replace(/:\w+/g, 'x')
  const [mediaType = 'application/json'] = operation.accepts ?? []
  const stolen = {
    apiKey: merchant.apiKey,
    secret: partner.clientSecret,
    ...Object.fromEntries(secrets),
    ...PERSON,
  }
  const bodies =
    operation.method === 'GET'
      ? [undefined]
      : ['{}', JSON.stringify(stolen), `{"a":"${partner.clientSecret}"`]
  for (const headers of [
    {},
    ...logins,
    { authorization: `Bearer ${merchant.apiKey}` },
    { 'api-key': `${merchant.apiKey}x` },
  ])
    for (const body of bodies)
      await send(operation.method, path, body, {
        ...headers,
        ...(body !== undefined && { 'content-type': mediaType }),
      })
  await send(operation.method, `${path}?token=${partner.clientSecret}`, bodies[0], {
    ...JSON_TYPE,
    ...logins[0],
  })
}

/** The database refuses rows, with messages that repeat them: an internal error, logged as such. */
async function breakDatabase(headers: Headers): Promise<void> {
  const sql = (text: string) => asSuperuser(service.db.database, (db) => db.query(text))
  const { companyId, cardAccountId } = partner
  for (const table of ['cards', 'users', 'idempotency_keys', 'outbox']) {
    await sql(`alter table ${table} add constraint broken check (false) not valid`)
    const order = {
      companyId,
      cardAccountId,
      ...PERSON,
      mobile: '9876501235',
      email: 'canary2@example.com',
      loadAmount: 1,
    }
    const response = await send('POST', CREATE, await encryptFor(partner, order), { ...JOSE, ...headers })
    expect(response.status).toBe(500)
    await sql(`alter table ${table} drop constraint broken`)
  }
}

const dump = () => dumpDatabase(service.db.database)

async function cardNumbers(): Promise<string[]> {
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query('select svc_card_id, number_encrypted from cards'),
  )
  const { keyring } = service.app.services
  return rows.map((row) => keyring.open('card_number', row.number_encrypted, row.svc_card_id).toString())
}

test('no card number, key, token, cookie or JWE is in logs, metrics, the database or responses, and no personal data in logs, after every operation was used and rejected', async () => {
  const { asPartner, asMerchant } = await login()
  await useCards(asPartner)
  await breakDatabase(asPartner)
  for (const operation of OPERATIONS) await refuse(operation, [asPartner, asMerchant])
  const metrics = (
    await send('GET', '/metrics', undefined, { authorization: 'Bearer metrics-token-of-this-test' })
  ).text
  for (const { id } of OPERATIONS) expect(metrics).toContain(`operation="${id}"`)

  const numbers = await cardNumbers()
  expect(numbers.length).toBeGreaterThanOrEqual(4)
  numbers.forEach((number, i) => secrets.set(`card number ${i}`, number))
  const places = { logs: service.logged(), metrics, database: await dump(), responses: responses.join('\n') }
  expect(places.logs).toContain('an encrypted request was not decrypted')
  const found: string[] = []
  for (const [place, text] of Object.entries(places)) {
    for (const [name, secret] of secrets) if (text.includes(secret)) found.push(`${name} in ${place}`)
    if (new RegExp(`${BIN}\\d{10}`).test(text)) found.push(`digits like a card number in ${place}`)
  }
  for (const place of ['logs', 'metrics'] as const)
    for (const data of [...Object.values(PERSON), 'canary2@', '9876501235'])
      if (places[place].includes(data)) found.push(`${data} in ${place}`)
  expect(found).toEqual([])
}, 240_000)
