import { type Check, must, ours } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import {
  at,
  errorOf,
  fail,
  type Kind,
  kindOf,
  PLAIN_TIME,
  sameJson,
  show,
  wantFailure,
  wantJson,
  wantKeys,
  wantKind,
  wantMatch,
  wantNoOtherKeys,
  wantOneOf,
  wantRefused,
  wantSameRefusal,
  wantStatus,
  wantText,
  wantValue,
} from '../expect.ts'
import { type Headers, PATHS, type Subject, skip } from '../subject.ts'
import { COIN_READER_CHECKS } from './coin-readers.ts'
import { wantInstant } from './qr-code-fields.ts'

const MISSING = 'ccf_00000000000000000000000000'
const DAY_MS = 86_400_000

const coinConfigId = (subject: Subject): string =>
  subject.credentials.coinConfigId ?? skip('the credentials have no coinConfigId')

const lookUp = (subject: Subject, id: string, headers: Headers): Promise<HttpResponse> =>
  subject.call('GET', `${PATHS.coins}/${encodeURIComponent(id)}`, undefined, headers)

async function found(subject: Subject): Promise<HttpResponse> {
  const id = coinConfigId(subject)
  const { token } = await subject.asPartner()
  return subject.observe('the coin configuration', () =>
    lookUp(subject, id, { authorization: `Bearer ${token}` }),
  )
}

/** The lookup needs no real id to refuse a caller. */
const anyId = (subject: Subject): string => subject.credentials.coinConfigId ?? MISSING

/** The two conditions of spec §7: no token, and one that is invalid. */
const CONDITIONS = [
  ['missing', 'without a token', {}],
  ['invalid', 'with an invalid token', { authorization: 'Bearer not-a-token' }],
] as const

const refusal = (subject: Subject, name: string, headers: Headers): Promise<HttpResponse> =>
  subject.observe(`the coin lookup refused: token ${name}`, () => lookUp(subject, anyId(subject), headers))

const ENVELOPE = ['payload', 'errorResponse', 'response_code', 'response_message']
const PAYLOAD = ['error', 'error_description']
const ERROR_RESPONSE = ['timestamp', 'requestId', 'errorType', 'errorMessage']

const failures: readonly Check[] = CONDITIONS.flatMap(([name, words, headers]) => {
  const seen = (part: string, source: string, title: string, look: (response: HttpResponse) => void): Check =>
    must(`4.5.401.${name}.${part}`, source, `${words}: ${title}`, async (s) =>
      look(await refusal(s, name, headers)),
    )
  const own: typeof seen = (part, source, title, look) => ({
    ...seen(part, source, title, look),
    severity: 'ours',
  })
  return [
    seen('status', '§7, the table', 'status 401', (response) => wantStatus(response, 401)),
    seen('content-type', '§7, rule 1', 'application/json', (response) => void wantJson(response)),
    seen(
      'envelope',
      '§2.2',
      'the body has payload, errorResponse, response_code, response_message',
      (response) => wantKeys(response, '', ENVELOPE),
    ),
    own('envelope.only', 'decision R6', 'the body has no other field', (response) =>
      wantNoOtherKeys(response, '', ENVELOPE),
    ),
    own('order', 'decision F1', 'the fields come in the order of the specification', (response) => {
      const names = Object.keys(wantJson(response)).filter((field) => ENVELOPE.includes(field))
      if (names.join() !== ENVELOPE.filter((field) => names.includes(field)).join())
        fail(response, ENVELOPE.join(', '), names.join(', '))
    }),
    seen(
      'payload',
      '§2.2, payload',
      'payload is text that holds a JSON object with error and error_description',
      (response) => {
        wantKind(response, 'payload', 'string')
        const error = errorOf(response)
        if (kindOf(error) !== 'object' || !PAYLOAD.every((field) => Object.hasOwn(error ?? {}, field)))
          fail(
            response,
            'payload: JSON text with error and error_description',
            String(at(response, 'payload')),
          )
      },
    ),
    own(
      'payload.only',
      'decision R6',
      'payload holds error and error_description, nothing else',
      (response) => {
        const more = Object.keys(errorOf(response) ?? {}).filter((field) => !PAYLOAD.includes(field))
        if (more.length > 0) fail(response, 'payload: error and error_description', `also ${more.join(', ')}`)
      },
    ),
    seen('error', '§7, the table', 'error is invalid_token', (response) => {
      if (errorOf(response)?.error !== 'invalid_token')
        fail(response, 'error invalid_token', show(errorOf(response)?.error))
    }),
    seen('error_description', '§7, the table', 'error_description is Invalid access token', (response) => {
      if (errorOf(response)?.error_description !== 'Invalid access token')
        fail(response, 'error_description Invalid access token', show(errorOf(response)?.error_description))
    }),
    seen(
      'errorResponse',
      '§2.2, errorResponse',
      'errorResponse has timestamp, requestId, errorType, errorMessage',
      (response) => wantKeys(response, 'errorResponse', ERROR_RESPONSE),
    ),
    own('errorResponse.only', 'decision R6', 'errorResponse has no other field', (response) =>
      wantNoOtherKeys(response, 'errorResponse', ERROR_RESPONSE),
    ),
    seen(
      'timestamp',
      '§2.2, timestamp',
      'timestamp has the form YYYY-MM-DD HH:MM:SS',
      (response) => void wantMatch(response, 'errorResponse.timestamp', PLAIN_TIME, 'YYYY-MM-DD HH:MM:SS'),
    ),
    own('timestamp.now', 'decision F5', 'timestamp is of today', (response) => {
      const text = wantText(response, 'errorResponse.timestamp')
      // No zone is said, so it may be up to 14 hours off.
      if (Math.abs(Date.parse(`${text.replace(' ', 'T')}Z`) - Date.now()) > DAY_MS)
        fail(response, 'errorResponse.timestamp: now, in some zone', text)
    }),
    seen(
      'requestId',
      '§2.2, requestId',
      'requestId is text',
      (response) => void wantText(response, 'errorResponse.requestId'),
    ),
    seen('errorType', '§7, the table', 'errorType is SYSTEM_ERROR', (response) =>
      wantValue(response, 'errorResponse.errorType', 'SYSTEM_ERROR'),
    ),
    seen(
      'errorMessage',
      '§2.2, errorMessage',
      'errorMessage is the same JSON text as payload',
      (response) => {
        const message = wantText(response, 'errorResponse.errorMessage')
        if (message !== at(response, 'payload')) fail(response, 'errorMessage: the text of payload', message)
      },
    ),
    seen('response_code', '§7, the table', 'response_code is the integer 1', (response) =>
      wantValue(response, 'response_code', 1),
    ),
    seen('response_message', '§7, the table', 'response_message is Failure', (response) =>
      wantValue(response, 'response_message', 'Failure'),
    ),
  ]
})

const challenges: readonly Check[] = [
  must('4.5.401.requestId.unique', '§2.2, requestId', 'Two refusals have two request ids', async (s) => {
    const [one, other] = await Promise.all([lookUp(s, MISSING, {}), lookUp(s, MISSING, {})])
    const id = wantText(one, 'errorResponse.requestId')
    if (id === at(other, 'errorResponse.requestId')) fail(other, 'another request id', id)
  }),
  ours(
    '4.5.401.exists',
    'decision A10',
    'Strangers are refused alike, whether the id exists or not',
    async (s) => {
      const real = await lookUp(s, coinConfigId(s), {})
      wantSameRefusal(real, await lookUp(s, MISSING, {}), 'the response to a missing id')
    },
  ),
  ...COIN_READER_CHECKS,
]

const FIELDS: readonly (readonly [name: string, kind: Kind, required: boolean])[] = [
  ['coinConfigId', 'string', true],
  ['configuration', 'string', true],
  ['companyId', 'string', false],
  ['event', 'string', true],
  ['amount', 'integer', true],
  ['title', 'string', true],
  ['description', 'string', false],
  ['status', 'string', true],
  ['validFrom', 'string', true],
  ['validTo', 'string', false],
  ['perUserDailyLimit', 'integer', false],
  ['coinsExpireAfterDays', 'integer', false],
  ['revision', 'integer', true],
  ['createdOn', 'string', true],
  ['modifiedOn', 'string', true],
]
const ENUMS: Readonly<Record<string, readonly string[]>> = {
  configuration: ['DEFAULT', 'CUSTOM'],
  status: ['ACTIVE', 'INACTIVE'],
}
const INSTANTS = new Set(['validFrom', 'validTo', 'createdOn', 'modifiedOn'])

async function withCookie(s: Subject): Promise<HttpResponse> {
  const { token } = await s.asPartner()
  const headers = { authorization: `Bearer ${token}`, cookie: 'SVCSESSION=x; a=b' }
  return s.observe('the coin configuration with a cookie', () => lookUp(s, coinConfigId(s), headers))
}

const SUCCESS = ['response_code', 'response_message', 'payload']

const success: readonly Check[] = [
  ours('4.5.status', 'decision K2', 'The partner’s own configuration returns 200', async (s) =>
    wantStatus(await found(s), 200),
  ),
  ours(
    '4.5.envelope',
    'decision K2',
    'response_code 0, response_message Success, and the record as payload',
    async (s) => {
      const response = await found(s)
      wantJson(response)
      wantKeys(response, '', SUCCESS)
      wantNoOtherKeys(response, '', SUCCESS)
      wantValue(response, 'response_code', 0)
      wantValue(response, 'response_message', 'Success')
    },
  ),
  ours('4.5.id', 'decision K1', 'The record is the one of the id', async (s) => {
    const response = await found(s)
    if (!sameJson(at(response, 'payload.coinConfigId'), coinConfigId(s)))
      wantValue(response, 'payload.coinConfigId', coinConfigId(s))
  }),
  ours(
    '4.5.fields',
    'decision K1',
    'The record has no field beside those of a coin configuration',
    async (s) =>
      wantNoOtherKeys(
        await found(s),
        'payload',
        FIELDS.map(([name]) => name),
      ),
  ),
  ...FIELDS.map(([name, kind, required]) =>
    ours(
      `4.5.payload.${name}`,
      'decision K1',
      `${name} is ${kind === 'integer' ? 'an integer' : 'text'}${required ? '' : ', if it is there'}`,
      async (s) => {
        const response = await found(s)
        const path = `payload.${name}`
        if (!required && at(response, path) === undefined) return
        wantKind(response, path, kind)
        if (ENUMS[name]) wantOneOf(response, path, [...ENUMS[name]])
        if (INSTANTS.has(name)) wantInstant(response, path)
      },
    ),
  ),
  ours(
    '4.5.etag',
    'decision K2',
    'ETag is the revision, and If-None-Match with it returns 304',
    async (s) => {
      const response = await found(s)
      const etag = response.headers['etag'] ?? fail(response, 'an ETag', 'none')
      if (etag !== `"${String(at(response, 'payload.revision'))}"`)
        fail(response, 'the revision as ETag', etag)
      const { token } = await s.asPartner()
      const again = await lookUp(s, coinConfigId(s), {
        authorization: `Bearer ${token}`,
        'if-none-match': etag,
      })
      wantStatus(again, 304)
    },
  ),
  must(
    '4.5.cookie',
    '§4.5, Cookie',
    'Cookie is optional: any cookie beside a good token changes no status',
    async (s) => wantStatus(await withCookie(s), (await found(s)).status),
  ),
  ours('4.5.cookie.same', 'decision K2', 'A cookie beside a good token changes nothing', async (s) => {
    const response = await withCookie(s)
    if (response.text !== (await found(s)).text)
      fail(response, 'the response without the cookie', response.text)
  }),
]

const ids: readonly Check[] = [
  ours('4.5.missing', 'decision F3', 'An id that does not exist is refused', async (s) => {
    const { token } = await s.asPartner()
    wantRefused(await lookUp(s, MISSING, { authorization: `Bearer ${token}` }))
  }),
  ours(
    '4.5.missing.status',
    'decision F3',
    'An id that does not exist is 404 coin_config_not_found',
    async (s) => {
      const { token } = await s.asPartner()
      wantFailure(
        await lookUp(s, MISSING, { authorization: `Bearer ${token}` }),
        404,
        'coin_config_not_found',
      )
    },
  ),
  ours(
    '4.5.foreign',
    'decision A10',
    'Another partner’s configuration gets the same response as one that does not exist',
    async (s) => {
      const { token } = await s.asPartner('otherPartner')
      const headers = { authorization: `Bearer ${token}` }
      const theirs = await lookUp(s, coinConfigId(s), headers)
      wantSameRefusal(theirs, await lookUp(s, MISSING, headers), 'the response to a missing id')
    },
  ),
  ours(
    '4.5.odd-ids',
    'decision A12',
    'Ids that cannot exist get the same response as missing ones',
    async (s) => {
      const { token } = await s.asPartner()
      const headers = { authorization: `Bearer ${token}` }
      const none = await lookUp(s, MISSING, headers)
      for (const id of ['%', "' or 1=1", '../token', 'c'.repeat(3_000), 'कॉइन'])
        wantSameRefusal(await lookUp(s, id, headers), none, 'the response to a missing id')
    },
  ),
]

export const COIN_CHECKS: readonly Check[] = [...failures, ...challenges, ...success, ...ids]
