import { type Check, must, ours } from '../check.ts'
import type { Answer } from '../exchange.ts'
import {
  at,
  errorOf,
  fail,
  PLAIN_TIME,
  wantFailure,
  wantJson,
  wantKeys,
  wantMatch,
  wantStatus,
  wantText,
  wantValue,
} from '../expect.ts'
import { cancelPath, JSON_BODY, PATHS, type Subject } from '../subject.ts'

/** A line of a stack trace, or what servers are made of. */
const INSIDES = /\.(?:ts|js|mjs):\d|node_modules|postgres|fastify/i
const SQL = [/\bselect\b/i, /\bfrom\b/i]

const MISSING_QR = 'qr_00000000000000000000000000'

interface Condition {
  readonly id: string
  readonly words: string
  readonly status: number
  readonly word: string
  readonly errorType: string
  /** Fields beside the envelope: those of the operation's own success envelope (decision F1). */
  readonly more: Readonly<Record<string, unknown>>
  readonly provoke: (subject: Subject) => Promise<Answer>
}

const condition = (
  id: string,
  words: string,
  [status, word, errorType]: readonly [number, string, string],
  more: Condition['more'],
  provoke: Condition['provoke'],
): Condition => ({ id, words, status, word, errorType, more, provoke })

const cancelText = async (subject: Subject, body: string | Buffer): Promise<Answer> => {
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
    'a card order that is not sealed',
    [400, 'payload_not_sealed', 'VALIDATION_ERROR'],
    CARDS,
    async (s) => s.call('POST', PATHS.card, {}, (await s.asPartner()).headers),
  ),
  condition('search', 'a search without its fields', VALIDATION, CARDS, (s) =>
    s.search('incentivePartner', {}),
  ),
  condition(
    'coins',
    'a look-up of a missing configuration',
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

const provoked = (subject: Subject, { id, words, provoke }: Condition): Promise<Answer> =>
  subject.observe(`${words} (${id})`, () => provoke(subject))

const each: readonly Check[] = CONDITIONS.flatMap((kind) => {
  const { id, words, status, word, errorType, more } = kind
  return [
    must(
      `7.${id}.json`,
      '§7, rule 1',
      `${words}: the failure body is JSON with application/json`,
      async (s) => {
        const answer = await provoked(s, kind)
        if (answer.status < 400) fail(answer, 'a failure', String(answer.status))
        wantJson(answer)
      },
    ),
    ours(`7.${id}.word`, 'decisions F2, F3', `${words}: ${status} ${word}, ${errorType}`, async (s) => {
      const answer = await provoked(s, kind)
      wantFailure(answer, status, word)
      wantValue(answer, 'errorResponse.errorType', errorType)
    }),
    ours(
      `7.${id}.envelope`,
      'decision F1; §2.2',
      `${words}: the envelope of section 2.2, and the operation’s own fields`,
      async (s) => {
        const answer = await provoked(s, kind)
        const optional = 'resultCode' in more ? ['resultMessage'] : []
        wantKeys(
          answer,
          '',
          ['payload', 'errorResponse', 'response_code', 'response_message', ...Object.keys(more)],
          optional,
        )
        wantKeys(answer, 'errorResponse', ['timestamp', 'requestId', 'errorType', 'errorMessage'])
        wantMatch(answer, 'errorResponse.timestamp', PLAIN_TIME, 'YYYY-MM-DD HH:MM:SS')
        wantValue(answer, 'response_code', 1)
        wantValue(answer, 'response_message', 'Failure')
        wantText(answer, 'payload')
        wantValue(answer, 'errorResponse.errorMessage', at(answer, 'payload') as string)
        for (const [name, value] of Object.entries(more)) wantValue(answer, name, value as number)
      },
    ),
    ours(
      `7.${id}.requestId`,
      'decision F7',
      `${words}: x-request-id is the envelope’s requestId`,
      async (s) => {
        const answer = await provoked(s, kind)
        const id = answer.headers['x-request-id'] ?? 'none'
        if (id !== wantText(answer, 'errorResponse.requestId'))
          fail(answer, 'x-request-id: the requestId', id)
      },
    ),
  ]
})

const problem = (subject: Subject): Promise<Answer> =>
  subject.observe('a failure as problem details', () =>
    subject.call('GET', '/api/v0/no-such-thing', undefined, { accept: 'application/problem+json' }),
  )

const others: readonly Check[] = [
  ours(
    '7.problem',
    'decision F6',
    'With Accept: application/problem+json a failure is RFC 9457',
    async (s) => {
      const answer = await problem(s)
      wantStatus(answer, 404)
      const type = answer.headers['content-type'] ?? 'none'
      if (!type.startsWith('application/problem+json'))
        fail(answer, 'content type application/problem+json', type)
      wantValue(answer, 'type', 'route_not_found')
      wantValue(answer, 'status', 404)
    },
  ),
  ours(
    '7.success.requestId',
    'decision F7',
    'Every answer carries x-request-id, also one of success',
    async (s) => {
      const answer = await s.tokenAnswer()
      if (!answer.headers['x-request-id']) fail(answer, 'x-request-id', 'none')
    },
  ),
  ours(
    '7.no-values',
    'decision F4',
    'A failure repeats no value of the request, not even in a path',
    async (s) => {
      const canary = `canary${crypto.randomUUID().replaceAll('-', '')}`
      const answers = [
        await s.cancel(canary),
        await s.cancelWith(MISSING_QR, { x: canary }),
        await s.call('GET', `/${canary}`, undefined),
        await s.search('incentivePartner', { companyId: canary, cardAccountId: canary, svcCardId: canary }),
      ]
      for (const answer of answers)
        if (answer.text.includes(canary)) fail(answer, 'no value of the request in a failure', answer.text)
    },
  ),
  ours(
    '7.no-internals',
    'decision F1',
    'A failure tells nothing of what is inside: no stack, no file, no SQL',
    async (s) => {
      for (const kind of CONDITIONS) {
        const answer = await provoked(s, kind)
        if (INSIDES.test(answer.text) || SQL.every((word) => word.test(answer.text)))
          fail(answer, 'no internals', answer.text)
      }
    },
  ),
  ours('7.words', 'decision F2', 'error is a word: lower case letters and _', async (s) => {
    for (const kind of CONDITIONS) {
      const answer = await provoked(s, kind)
      const error = errorOf(answer)?.error
      if (typeof error !== 'string' || !/^[a-z]+(?:_[a-z]+)*$/.test(error))
        fail(answer, 'a word', String(error))
    }
  }),
]

export const FAILURE_CHECKS: readonly Check[] = [...each, ...others]
