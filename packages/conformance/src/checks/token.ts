import { type Check, decided, specified } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import {
  at,
  fail,
  wantFailure,
  wantJson,
  wantKeys,
  wantKind,
  wantMatch,
  wantNoOtherKeys,
  wantRefused,
  wantSameRefusal,
  wantStatus,
  wantText,
  wantValue,
} from '../expect.ts'
import { interpretationOf } from '../interpretation.ts'
import { cancelPath, type Headers, JSON_BODY, PATHS, type Subject } from '../subject.ts'

const FIELDS = ['token', 'expiry', 'resultCode', 'resultMessage']
/** What RFC 6750 section 2.1 lets a bearer token be made of. */
const BEARER_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/
const YEAR_MS = 366 * 86_400_000
const INT32_MAX = 2 ** 31 - 1
/** A double holds no 2 ** 63 - 1: the largest int64 reads as this. */
const INT64_MAX = 2 ** 63

const requestToken = (subject: Subject, headers: Headers, body?: string): Promise<HttpResponse> =>
  subject.send({ method: 'POST', path: PATHS.token, headers, ...(body !== undefined && { body }) })

function wantToken(response: HttpResponse): void {
  wantStatus(response, 200)
  wantText(response, 'token')
}

function wantNoToken(response: HttpResponse): void {
  if (at(response, 'token')) fail(response, 'no token', 'a token')
}

/** Spec §5.1: no token comes of it. The status of the refusal is a decision (§7 rule 3). */
const refusesKey = (
  id: string,
  title: string,
  requestToken: (subject: Subject) => Promise<HttpResponse>,
): Check[] => {
  const response = (subject: Subject) => subject.observe(`the response to ${id}`, () => requestToken(subject))
  return [
    specified(id, '§5.1', title, async (s) => wantNoToken(await response(s))),
    decided(`${id}.4xx`, 'decision F3', `${title}: with a status from 400 to 499`, async (s) => {
      wantRefused(await response(s))
      wantNoToken(await response(s))
    }),
  ]
}

/** A key that looks like the merchant's and is not: its last characters are others. */
function otherKey(s: Subject): string {
  const { apiKey } = s.merchant()
  const key = apiKey.slice(0, -4) + (apiKey.endsWith('zzzz') ? 'yyyy' : 'zzzz')
  s.http.redactor.hide(key, 'OTHER_API_KEY')
  return key
}

const refused = (subject: Subject): Promise<HttpResponse> =>
  subject.observe('a refused token', () => requestToken(subject, { 'API-Key': 'not-a-key-of-anybody' }))

const result = (id: string, field: string, title: string, look: (response: HttpResponse) => void): Check =>
  specified(`4.1.${id}`, `§2.1, ${field}`, title, async (subject) => look(await subject.tokenResponse()))

const issued: readonly Check[] = [
  specified(
    '4.1.status',
    '§4.1, success response',
    'A merchant’s API key in API-Key gets status 200',
    async (s) => wantStatus(await s.tokenResponse(), 200),
  ),
  specified(
    '4.1.content-type',
    '§4, data formats',
    'The response is JSON, said to be application/json',
    async (s) => void wantJson(await s.tokenResponse()),
  ),
  result('fields', 'the table', 'The result has token, expiry, resultCode and resultMessage', (response) =>
    wantKeys(response, '', FIELDS),
  ),
  decided('4.1.fields.only', 'decision R6', 'The result has no other field', async (s) =>
    wantNoOtherKeys(await s.tokenResponse(), '', FIELDS),
  ),
  result(
    'token',
    'token',
    'token is text with something in it',
    (response) => void wantText(response, 'token'),
  ),
  decided(
    '4.1.token.bearer',
    'decision A4',
    'token is made of characters that a bearer token may have (RFC 6750)',
    async (s) => void wantMatch(await s.tokenResponse(), 'token', BEARER_TOKEN, 'a bearer token'),
  ),
  result('expiry', 'expiry', 'expiry is an integer of more than 0 that fits int64', (response) => {
    const expiry = wantKind(response, 'expiry', 'integer') as number
    if (expiry <= 0) fail(response, 'expiry: more than 0', String(expiry))
    if (expiry > INT64_MAX) fail(response, 'expiry: an int64', String(expiry))
  }),
  result('resultCode', 'resultCode', 'resultCode is an integer that fits int32', (response) => {
    const code = wantKind(response, 'resultCode', 'integer') as number
    if (code > INT32_MAX || code < -INT32_MAX - 1) fail(response, 'resultCode: an int32', String(code))
  }),
  result(
    'resultMessage',
    'resultMessage',
    'resultMessage is text',
    (response) => void wantKind(response, 'resultMessage', 'string'),
  ),
  decided(
    '4.1.expiry.absolute',
    'decision A1',
    'expiry is an instant to come, in milliseconds since 1970; a duration where TOKEN_EXPIRY says so',
    async (s) => {
      const response = await s.tokenResponse()
      const expiry = wantKind(response, 'expiry', 'integer') as number
      const isDuration = (await interpretationOf(s, 'TOKEN_EXPIRY')) === 'duration'
      const aheadMs = isDuration ? expiry : expiry - Date.now()
      if (aheadMs <= 0 || aheadMs > YEAR_MS)
        fail(
          response,
          'expiry: an instant within a year from now, in milliseconds since 1970',
          String(expiry),
        )
    },
  ),
  decided('4.1.resultCode.zero', 'decision A3', 'resultCode says that a token was issued', async (s) =>
    wantValue(
      await s.tokenResponse(),
      'resultCode',
      Number(await interpretationOf(s, 'SUCCESS_RESULT_CODE')),
    ),
  ),
  decided(
    '4.1.resultMessage.success',
    'decision A3',
    'resultMessage is Success when a token was issued',
    async (s) => wantValue(await s.tokenResponse(), 'resultMessage', 'Success'),
  ),
  specified(
    '4.1.works',
    '§4.1, rule',
    'The token is accepted as Authorization: Bearer on a later call',
    async (s) => {
      const response = await s.call('PATCH', cancelPath('no-such-code'), {}, await s.asMerchant())
      // 403 may be another server's word for a code that does not exist.
      if (response.status === 401 || response.status >= 500)
        fail(response, 'any response but 401 to a fresh token', `${response.status} ${response.text}`)
    },
  ),
  decided('4.1.again', 'decision A4', 'A second token does not end the first', async (s) => {
    const { apiKey } = s.merchant()
    const headers = await s.asMerchant()
    wantToken(await requestToken(s, { 'API-Key': apiKey }))
    const response = await s.call('PATCH', cancelPath('no-such-code'), {}, headers)
    if (response.status === 401)
      fail(response, 'the first token still accepted', `${response.status} ${response.text}`)
  }),
]

const requests: readonly Check[] = [
  decided('4.1.no-body', 'decision C14', 'No body is needed, nor a content type', async (s) =>
    wantToken(await requestToken(s, { 'API-Key': s.merchant().apiKey })),
  ),
  specified(
    '4.1.header-name',
    '§4.1, headers',
    'API-Key is found in any case of letters, as HTTP has it',
    async (s) => wantToken(await requestToken(s, { 'aPi-kEY': s.merchant().apiKey, ...JSON_BODY })),
  ),
  decided('4.1.empty-object', 'decision C14', 'An empty JSON object is as good as no body', async (s) => {
    const { apiKey } = s.merchant()
    wantToken(await requestToken(s, { 'API-Key': apiKey, 'content-type': 'application/json' }, '{}'))
  }),
  decided(
    '4.1.body',
    'decision C14',
    'A body, of which the specification describes none, has no effect',
    async (s) => {
      const { apiKey } = s.merchant()
      const response = await requestToken(
        s,
        { 'API-Key': apiKey, 'content-type': 'application/json' },
        '{"scope":"all"}',
      )
      wantToken(response)
    },
  ),
  decided('4.1.method', 'decision F3', 'GET returns 405 with the allowed methods', async (s) => {
    const response = await s.call('GET', PATHS.token, undefined)
    wantFailure(response, 405, 'method_not_allowed')
    if (!response.headers['allow']?.includes('POST'))
      fail(response, 'Allow with POST', response.headers['allow'] ?? 'none')
  }),
]

const refusals: readonly Check[] = [
  ...refusesKey('4.1.key.missing', 'Without API-Key there is no token', (s) => requestToken(s, JSON_BODY)),
  ...refusesKey('4.1.key.unknown', 'A key that was never issued gets no token', refused),
  ...refusesKey('4.1.key.altered', 'A merchant’s key with other last characters gets no token', async (s) =>
    requestToken(s, { 'API-Key': otherKey(s), ...JSON_BODY }),
  ),
  decided(
    '4.1.key.elsewhere',
    'decision A5',
    'The key counts in API-Key only: not as a bearer token',
    async (s) => wantNoToken(await requestToken(s, { authorization: `Bearer ${s.merchant().apiKey}` })),
  ),
  decided('4.1.key.token', 'decision A5', 'A token is no key: it gets no further token', async (s) =>
    wantNoToken(await requestToken(s, { 'API-Key': await s.merchantToken() })),
  ),
  decided(
    '4.1.key.status',
    'decision F3',
    'A key that is missing or wrong returns 401 invalid_api_key',
    async (s) => {
      for (const response of [await requestToken(s, JSON_BODY), await refused(s)])
        wantFailure(response, 401, 'invalid_api_key')
    },
  ),
  decided(
    '4.1.key.result',
    'decisions A3, F1',
    'A refusal carries resultCode 1 and the reason as resultMessage',
    async (s) => {
      const response = await refused(s)
      wantValue(response, 'resultCode', 1)
      wantText(response, 'resultMessage')
    },
  ),
  decided(
    '4.1.key.alike',
    'decision A11',
    'Malformed keys and well-formed unknown ones are refused alike',
    async (s) => {
      const altered = await requestToken(s, { 'API-Key': otherKey(s) })
      wantSameRefusal(altered, await refused(s), 'the response to any other wrong key')
    },
  ),
]

export const TOKEN_CHECKS: readonly Check[] = [...issued, ...requests, ...refusals]
