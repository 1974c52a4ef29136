import { type Check, must, ours } from '../check.ts'
import type { Answer } from '../exchange.ts'
import {
  at,
  fail,
  wantFailure,
  wantJson,
  wantKeys,
  wantKind,
  wantMatch,
  wantRefused,
  wantSameRefusal,
  wantStatus,
  wantText,
  wantValue,
} from '../expect.ts'
import { cancelPath, type Headers, PATHS, type Subject } from '../subject.ts'

const FIELDS = ['token', 'expiry', 'resultCode', 'resultMessage']
/** What RFC 6750 section 2.1 lets a bearer token be made of. */
const BEARER_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/
const YEAR_MS = 366 * 86_400_000
const INT32_MAX = 2 ** 31 - 1

const ask = (subject: Subject, headers: Headers, body?: string): Promise<Answer> =>
  subject.send({ method: 'POST', path: PATHS.token, headers, ...(body !== undefined && { body }) })

function wantNoToken(answer: Answer): void {
  wantRefused(answer)
  if (at(answer, 'token') !== undefined) fail(answer, 'no token in a refusal', 'a token')
}

/** A key that looks like the merchant's and is not: its last characters are others. */
const otherKey = (key: string): string => key.slice(0, -4) + (key.endsWith('zzzz') ? 'yyyy' : 'zzzz')

const refused = (subject: Subject): Promise<Answer> =>
  subject.observe('a refused token', () => ask(subject, { 'API-Key': 'not-a-key-of-anybody' }))

const result = (id: string, field: string, title: string, look: (answer: Answer) => void): Check =>
  must(`4.1.${id}`, `§2.1, ${field}`, title, async (subject) => look(await subject.tokenAnswer()))

const issued: readonly Check[] = [
  must('4.1.status', '§4.1, success response', 'A merchant’s API key in API-Key gets status 200', async (s) =>
    wantStatus(await s.tokenAnswer(), 200),
  ),
  must(
    '4.1.content-type',
    '§4, data formats',
    'The answer is JSON, said to be application/json',
    async (s) => void wantJson(await s.tokenAnswer()),
  ),
  result(
    'fields',
    'the table',
    'The result has exactly token, expiry, resultCode and resultMessage',
    (answer) => wantKeys(answer, '', FIELDS),
  ),
  result('token', 'token', 'token is text with something in it', (answer) => void wantText(answer, 'token')),
  result(
    'token.bearer',
    'token',
    'token is made of characters that a bearer token may have (RFC 6750)',
    (answer) => void wantMatch(answer, 'token', BEARER_TOKEN, 'a bearer token'),
  ),
  result('expiry', 'expiry', 'expiry is an integer that fits int64, in milliseconds', (answer) => {
    const expiry = wantKind(answer, 'expiry', 'integer') as number
    if (expiry <= 0) fail(answer, 'expiry: more than 0', String(expiry))
  }),
  result('resultCode', 'resultCode', 'resultCode is an integer that fits int32', (answer) => {
    const code = wantKind(answer, 'resultCode', 'integer') as number
    if (Math.abs(code) > INT32_MAX) fail(answer, 'resultCode: an int32', String(code))
  }),
  result(
    'resultMessage',
    'resultMessage',
    'resultMessage is text',
    (answer) => void wantKind(answer, 'resultMessage', 'string'),
  ),
  ours(
    '4.1.expiry.absolute',
    'decision A1',
    'expiry is an instant to come, in milliseconds since 1970',
    async (s) => {
      const answer = await s.tokenAnswer()
      const expiry = wantKind(answer, 'expiry', 'integer') as number
      const aheadMs = expiry - Date.now()
      if (aheadMs <= 0 || aheadMs > YEAR_MS)
        fail(answer, 'expiry: an instant within a year from now, in milliseconds since 1970', String(expiry))
    },
  ),
  ours('4.1.resultCode.zero', 'decision A3', 'resultCode is 0 when a token was issued', async (s) =>
    wantValue(await s.tokenAnswer(), 'resultCode', 0),
  ),
  ours(
    '4.1.resultMessage.success',
    'decision A3',
    'resultMessage is Success when a token was issued',
    async (s) => wantValue(await s.tokenAnswer(), 'resultMessage', 'Success'),
  ),
  must(
    '4.1.works',
    '§4.1, rule',
    'The token is accepted as Authorization: Bearer on a later call',
    async (s) => {
      const answer = await s.call('PATCH', cancelPath('no-such-code'), {}, await s.asMerchant())
      if (answer.status === 401 || answer.status === 403)
        fail(answer, 'any answer but 401 and 403 to a fresh token', `${answer.status} ${answer.text}`)
    },
  ),
  ours('4.1.again', 'decision A4', 'A second token does not end the first', async (s) => {
    const { apiKey } = s.merchant()
    const headers = await s.asMerchant()
    wantStatus(await ask(s, { 'API-Key': apiKey }), 200)
    const answer = await s.call('PATCH', cancelPath('no-such-code'), {}, headers)
    if (answer.status === 401)
      fail(answer, 'the first token still accepted', `${answer.status} ${answer.text}`)
  }),
]

const requests: readonly Check[] = [
  must('4.1.no-body', '§4.1, request body', 'No body is needed, nor a content type', async (s) =>
    wantStatus(await ask(s, { 'API-Key': s.merchant().apiKey }), 200),
  ),
  must(
    '4.1.header-name',
    '§4.1, headers',
    'API-Key is found in any case of letters, as HTTP has it',
    async (s) => wantStatus(await ask(s, { 'aPi-kEY': s.merchant().apiKey }), 200),
  ),
  ours('4.1.empty-object', 'decision C14', 'An empty JSON object is as good as no body', async (s) => {
    const { apiKey } = s.merchant()
    wantStatus(await ask(s, { 'API-Key': apiKey, 'content-type': 'application/json' }, '{}'), 200)
  }),
  ours(
    '4.1.unknown-field',
    'decision C14',
    'A field that the operation does not know is refused by name',
    async (s) => {
      const { apiKey } = s.merchant()
      const answer = await ask(
        s,
        { 'API-Key': apiKey, 'content-type': 'application/json' },
        '{"scope":"all"}',
      )
      wantFailure(answer, 400, 'validation_failed', 'scope')
    },
  ),
  ours('4.1.method', 'decision F3', 'GET is answered 405 and told which methods there are', async (s) => {
    const answer = await s.call('GET', PATHS.token, undefined)
    wantFailure(answer, 405, 'method_not_allowed')
    if (!answer.headers['allow']?.includes('POST'))
      fail(answer, 'Allow with POST', answer.headers['allow'] ?? 'none')
  }),
]

const refusals: readonly Check[] = [
  must('4.1.key.missing', '§5.1', 'Without API-Key there is no token', async (s) =>
    wantNoToken(await ask(s, {})),
  ),
  must('4.1.key.unknown', '§5.1', 'A key that was never issued gets no token', async (s) =>
    wantNoToken(await refused(s)),
  ),
  must('4.1.key.altered', '§5.1', 'A merchant’s key with other last characters gets no token', async (s) =>
    wantNoToken(await ask(s, { 'API-Key': otherKey(s.merchant().apiKey) })),
  ),
  must(
    '4.1.key.elsewhere',
    '§4.1, headers',
    'The key counts in API-Key only: not as a bearer token',
    async (s) => wantNoToken(await ask(s, { authorization: `Bearer ${s.merchant().apiKey}` })),
  ),
  must('4.1.key.token', '§5.1', 'A token is no key: it gets no further token', async (s) =>
    wantNoToken(await ask(s, { 'API-Key': await s.merchantToken() })),
  ),
  ours(
    '4.1.key.status',
    'decision F3',
    'A key that is missing or wrong is answered 401 invalid_api_key',
    async (s) => wantFailure(await refused(s), 401, 'invalid_api_key'),
  ),
  ours(
    '4.1.key.result',
    'decisions A3, F1',
    'A refusal carries resultCode 1 and the reason as resultMessage',
    async (s) => {
      const answer = await refused(s)
      wantValue(answer, 'resultCode', 1)
      wantText(answer, 'resultMessage')
    },
  ),
  ours(
    '4.1.key.alike',
    'decision A11',
    'Malformed keys and well-formed unknown ones are refused alike',
    async (s) => {
      const altered = await ask(s, { 'API-Key': otherKey(s.merchant().apiKey) })
      wantSameRefusal(altered, await refused(s), 'the answer to any other wrong key')
    },
  ),
]

export const TOKEN_CHECKS: readonly Check[] = [...issued, ...requests, ...refusals]
