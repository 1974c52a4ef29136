import { type Check, decided, specified } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import {
  at,
  errorOf,
  fail,
  PLAIN_TIME,
  wantFailure,
  wantJson,
  wantKeys,
  wantMatch,
  wantNoOtherKeys,
  wantRefused,
  wantStatus,
  wantText,
  wantValue,
} from '../expect.ts'
import { cancelPath, JSON_BODY, PATHS, type Subject, skip } from '../subject.ts'

/** A line of a stack trace, or what servers are made of. */
const INSIDES = /\.(?:ts|js|mjs):\d|node_modules|postgres|fastify/i
const SQL = [/\bselect\b/i, /\bfrom\b/i]

const MISSING_QR = 'qr_00000000000000000000000000'

interface Condition {
  readonly id: string
  readonly words: string
  readonly status: number
  readonly errorCode: string
  readonly errorType: string
  /** Fields beside the envelope: those of the operation's own success envelope (decision F1). */
  readonly more: Readonly<Record<string, unknown>>
  readonly cause: (subject: Subject) => Promise<HttpResponse>
}

const condition = (
  id: string,
  words: string,
  [status, errorCode, errorType]: readonly [number, string, string],
  more: Condition['more'],
  cause: Condition['cause'],
): Condition => ({ id, words, status, errorCode, errorType, more, cause })

const cancelText = async (subject: Subject, body: string | Buffer): Promise<HttpResponse> => {
  const headers = { ...(await subject.asMerchant()), ...JSON_BODY }
  return subject.send({ method: 'PATCH', path: cancelPath(MISSING_QR), headers, body })
}

const VALIDATION = [400, 'validation_failed', 'VALIDATION_ERROR'] as const
const MALFORMED = [400, 'malformed_body', 'VALIDATION_ERROR'] as const
const CARDS = { code: 1, message: 'Failure' }

const CONDITIONS: readonly Condition[] = [
  condition(
    'token',
    'a token without a key',
    [401, 'invalid_api_key', 'SYSTEM_ERROR'],
    { resultCode: 1 },
    (s) => s.call('POST', PATHS.token, undefined),
  ),
  condition('cancel', 'a cancel of a missing code', [404, 'qr_code_not_found', 'NOT_FOUND_ERROR'], {}, (s) =>
    s.cancel(MISSING_QR),
  ),
  condition(
    'create',
    'a card order that is not encrypted',
    [400, 'request_not_encrypted', 'VALIDATION_ERROR'],
    CARDS,
    async (s) => s.call('POST', PATHS.card, {}, (await s.asPartner()).headers),
  ),
  condition('search', 'a search without its fields', VALIDATION, CARDS, (s) =>
    s.search('incentivePartner', {}),
  ),
  condition(
    'coins',
    'a lookup of a missing configuration',
    [404, 'coin_config_not_found', 'NOT_FOUND_ERROR'],
    {},
    async (s) =>
      s.call('GET', `${PATHS.coins}/none`, undefined, {
        authorization: `Bearer ${(await s.asPartner()).token}`,
      }),
  ),
  condition('route', 'a path that does not exist', [404, 'route_not_found', 'NOT_FOUND_ERROR'], {}, (s) =>
    s.call('GET', '/api/v0/no-such-thing', undefined),
  ),
  condition(
    'method',
    'a method that the path does not take',
    [405, 'method_not_allowed', 'NOT_FOUND_ERROR'],
    {},
    (s) => s.call('DELETE', cancelPath(MISSING_QR), undefined),
  ),
  condition('json', 'a body that is not JSON', MALFORMED, {}, (s) => cancelText(s, '{"a":')),
  condition('duplicate', 'a body that names a field twice', MALFORMED, {}, (s) =>
    cancelText(s, '{"a":1,"a":2}'),
  ),
  condition('utf8', 'a body that is not UTF-8', MALFORMED, {}, (s) =>
    cancelText(s, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
  ),
  condition('surrogate', 'a body with a lone surrogate', MALFORMED, {}, (s) =>
    cancelText(s, '{"a":"\\ud800"}'),
  ),
  condition('nul', 'a body with a NUL character', MALFORMED, {}, (s) => cancelText(s, '{"a":"\\u0000"}')),
  condition('deep', 'a body of more than 20 levels', MALFORMED, {}, (s) =>
    cancelText(s, `${'{"a":'.repeat(25)}1${'}'.repeat(25)}`),
  ),
  condition('array', 'an array where an object belongs', VALIDATION, {}, (s) => cancelText(s, '[]')),
  condition(
    'media',
    'a body of another media type',
    [415, 'unsupported_media_type', 'VALIDATION_ERROR'],
    {},
    async (s) => s.cancel(MISSING_QR, { 'content-type': 'application/xml' }),
  ),
  condition(
    'encoding',
    'a body that says it is compressed',
    [415, 'unsupported_media_type', 'VALIDATION_ERROR'],
    {},
    async (s) => s.cancel(MISSING_QR, { 'content-encoding': 'gzip' }),
  ),
]

const caused = (subject: Subject, { id, words, cause: provoke }: Condition): Promise<HttpResponse> =>
  subject.observe(`${words} (${id})`, () => provoke(subject))

const each: readonly Check[] = CONDITIONS.flatMap((kind) => {
  const { id, words, status, errorCode, errorType, more } = kind
  const operation = id !== 'route' && id !== 'method'
  return [
    // The specification says this of its operations; of unknown routes and methods it says nothing.
    (operation ? specified : decided)(
      `7.${id}.json`,
      operation ? '§7, rule 1' : 'decision F1',
      `${words}: the failure body is JSON with application/json`,
      async (s) => {
        const response = await caused(s, kind)
        if (response.status < 400) skip(`the server does not refuse ${words}`)
        wantJson(response)
      },
    ),
    decided(
      `7.${id}.word`,
      'decisions F2, F3',
      `${words}: ${status} ${errorCode}, ${errorType}`,
      async (s) => {
        const response = await caused(s, kind)
        wantFailure(response, status, errorCode)
        wantValue(response, 'errorResponse.errorType', errorType)
      },
    ),
    decided(
      `7.${id}.envelope`,
      'decision F1; §2.2',
      `${words}: the envelope of section 2.2, and the operation’s own fields`,
      async (s) => {
        const response = await caused(s, kind)
        const names = ['payload', 'errorResponse', 'response_code', 'response_message', ...Object.keys(more)]
        wantKeys(response, '', names)
        wantNoOtherKeys(response, '', 'resultCode' in more ? [...names, 'resultMessage'] : names)
        const inner = ['timestamp', 'requestId', 'errorType', 'errorMessage']
        wantKeys(response, 'errorResponse', inner)
        wantNoOtherKeys(response, 'errorResponse', inner)
        wantMatch(response, 'errorResponse.timestamp', PLAIN_TIME, 'YYYY-MM-DD HH:MM:SS')
        wantValue(response, 'response_code', 1)
        wantValue(response, 'response_message', 'Failure')
        wantText(response, 'payload')
        wantValue(response, 'errorResponse.errorMessage', at(response, 'payload') as string)
        for (const [name, value] of Object.entries(more)) wantValue(response, name, value as number)
      },
    ),
    decided(
      `7.${id}.requestId`,
      'decision F7',
      `${words}: x-request-id is the envelope’s requestId`,
      async (s) => {
        const response = await caused(s, kind)
        const id = response.headers['x-request-id'] ?? 'none'
        if (id !== wantText(response, 'errorResponse.requestId'))
          fail(response, 'x-request-id: the requestId', id)
      },
    ),
  ]
})

const problem = (subject: Subject): Promise<HttpResponse> =>
  subject.observe('a failure as problem details', () =>
    subject.call('GET', '/api/v0/no-such-thing', undefined, { accept: 'application/problem+json' }),
  )

const others: readonly Check[] = [
  decided(
    '7.problem',
    'decision F6',
    'With Accept: application/problem+json a failure is RFC 9457',
    async (s) => {
      const response = await problem(s)
      wantStatus(response, 404)
      const mediaType = response.headers['content-type'] ?? 'none'
      if (!mediaType.startsWith('application/problem+json'))
        fail(response, 'content type application/problem+json', mediaType)
      const type = wantText(response, 'type')
      if (!type.endsWith('route_not_found')) fail(response, 'type: ends in route_not_found', type)
      wantValue(response, 'status', 404)
    },
  ),
  decided(
    '7.success.requestId',
    'decision F7',
    'A response of success carries x-request-id, too',
    async (s) => {
      const response = await s.tokenResponse()
      if (!response.headers['x-request-id']) fail(response, 'x-request-id', 'none')
    },
  ),
  decided(
    '7.no-values',
    'decision F4',
    'A failure repeats no value of the request, not even in a path',
    async (s) => {
      const canary = `canary${crypto.randomUUID().replaceAll('-', '')}`
      const responses = [
        await s.cancel(canary),
        await s.cancelWith(MISSING_QR, { x: canary }),
        await s.call('GET', `/${canary}`, undefined),
        await s.search('incentivePartner', { companyId: canary, cardAccountId: canary, svcCardId: canary }),
      ]
      for (const response of responses) {
        wantRefused(response)
        if (response.text.includes(canary))
          fail(response, 'no value of the request in a failure', response.text)
      }
    },
  ),
  decided(
    '7.no-internals',
    'decision F1',
    'A failure reveals nothing internal: no stack, no file, no SQL',
    async (s) => {
      for (const kind of CONDITIONS) {
        const response = await caused(s, kind)
        if (INSIDES.test(response.text) || SQL.every((pattern) => pattern.test(response.text)))
          fail(response, 'no internals', response.text)
      }
    },
  ),
  decided('7.words', 'decision F2', 'error is a word: lower case letters and _', async (s) => {
    for (const kind of CONDITIONS) {
      const response = await caused(s, kind)
      const error = errorOf(response)?.error
      if (typeof error !== 'string' || !/^[a-z]+(?:_[a-z]+)*$/.test(error))
        fail(response, 'a word', String(error))
    }
  }),
]

export const FAILURE_CHECKS: readonly Check[] = [...each, ...others]
