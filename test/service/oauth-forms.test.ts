import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newPartner, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner

beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service)
})
afterAll(() => service.close())

const parameters = () => ({
  grant_type: 'client_credentials',
  client_id: partner.clientId,
  client_secret: partner.clientSecret,
})
const form = () => new URLSearchParams(parameters()).toString()
const json = () => JSON.stringify(parameters())
const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Sends bytes with exactly these headers: `fetch` adds a content type of its own to every text. */
const requestToken = async (body: string, contentType?: string) => {
  const response = await fetch(`${service.baseUrl}/oauth/token`, {
    method: 'POST',
    body: new TextEncoder().encode(body),
    headers: contentType === undefined ? {} : { 'content-type': contentType },
  })
  return { status: response.status, json: (await response.json()) as Record<string, string> }
}

describe('the token operation reads a form', () => {
  test.each([
    ['without a content type', undefined],
    ['with an empty content type', ''],
    ['with its content type', FORM_TYPE],
    ['with a charset', `${FORM_TYPE};charset=UTF-8`],
    ['in capitals', FORM_TYPE.toUpperCase()],
  ])('%s', async (_, contentType) => {
    const { status, json: body } = await requestToken(form(), contentType)
    expect([status, body['token_type']]).toEqual([200, 'Bearer'])
  })
})

describe('JSON instead of a form is rejected as invalid_request that requires a form', () => {
  test.each([
    ['without a content type', undefined, 400],
    ['as a form', FORM_TYPE, 400],
    ['as JSON', 'application/json', 415],
  ])('sent %s', async (_, contentType, status) => {
    for (const text of [json(), ` \r\n\t${json()}`, `[${json()}]`, `\ufeff${json()}`]) {
      const refused = await requestToken(text, contentType)
      expect([refused.status, refused.json['error']]).toEqual([status, 'invalid_request'])
      expect(refused.json['error_description']).toMatch(/form/)
      expect(refused.json['error_description']).not.toMatch(/must be sent as application\/json/)
      expect(JSON.stringify(refused.json)).not.toContain(partner.clientSecret)
    }
  })
})

test('an empty request without a content type is rejected for what is missing, not for its type', async () => {
  const { status, json: body } = await requestToken('')
  expect([status, body['error']]).toEqual([401, 'invalid_client'])
})

test('a body of another type is rejected with the type that the operation accepts', async () => {
  const { status, json: body } = await requestToken(form(), 'text/plain')
  expect([status, body['error']]).toEqual([415, 'invalid_request'])
  expect(body['error_description']).toContain(FORM_TYPE)
})

test('an operation that accepts JSON still rejects a body without a content type', async () => {
  const response = await fetch(`${service.baseUrl}/api/v0/qr-code`, {
    method: 'POST',
    body: new TextEncoder().encode('{}'),
    headers: (await service.as(await service.newMerchant())).headers,
  })
  expect(response.status).toBe(415)
})
