import { type Check, must, ours } from '../check.ts'
import type { Answer } from '../exchange.ts'
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
  wantOneOf,
  wantRefused,
  wantSameRefusal,
  wantStatus,
  wantText,
  wantValue,
} from '../expect.ts'
import { type Headers, PATHS, type Subject, skip } from '../subject.ts'
import { wantInstant } from './qr-code-fields.ts'

const MISSING = 'ccf_00000000000000000000000000'
const DAY_MS = 86_400_000

const coinConfigId = (subject: Subject): string =>
  subject.credentials.coinConfigId ?? skip('the credentials have no coinConfigId')

const lookUp = (subject: Subject, id: string, headers: Headers): Promise<Answer> =>
  subject.call('GET', `${PATHS.coins}/${encodeURIComponent(id)}`, undefined, headers)

async function found(subject: Subject): Promise<Answer> {
  const id = coinConfigId(subject)
  const { token } = await subject.asPartner()
  return subject.observe('the coin configuration', () =>
    lookUp(subject, id, { authorization: `Bearer ${token}` }),
  )
}

/** The look-up needs no real id to refuse a caller. */
const anyId = (subject: Subject): string => subject.credentials.coinConfigId ?? MISSING

/** The two conditions of spec §7: no token, and one that is invalid. */
const CONDITIONS = [
  ['missing', 'without a token', {}],
  ['invalid', 'with an invalid token', { authorization: 'Bearer not-a-token' }],
] as const

const refusal = (subject: Subject, name: string, headers: Headers): Promise<Answer> =>
  subject.observe(`the coin look-up refused: token ${name}`, () => lookUp(subject, anyId(subject), headers))

const ENVELOPE = ['payload', 'errorResponse', 'response_code', 'response_message']
const ERROR_RESPONSE = ['timestamp', 'requestId', 'errorType', 'errorMessage']

const failures: readonly Check[] = CONDITIONS.flatMap(([name, words, headers]) => {
  const seen = (part: string, source: string, title: string, look: (answer: Answer) => void): Check =>
    must(`4.5.401.${name}.${part}`, source, `${words}: ${title}`, async (s) =>
      look(await refusal(s, name, headers)),
    )
  return [
    seen('status', '§7, the table', 'status 401', (answer) => wantStatus(answer, 401)),
    seen('content-type', '§7, rule 1', 'application/json', (answer) => void wantJson(answer)),
    seen(
      'envelope',
      '§2.2',
      'the body has exactly payload, errorResponse, response_code, response_message',
      (answer) => wantKeys(answer, '', ENVELOPE),
    ),
    seen('order', '§2.2', 'the fields come in the order of the specification', (answer) => {
      const names = Object.keys(wantJson(answer)).filter((field) => ENVELOPE.includes(field))
      if (names.join() !== ENVELOPE.filter((field) => names.includes(field)).join())
        fail(answer, ENVELOPE.join(', '), names.join(', '))
    }),
    seen(
      'payload',
      '§2.2, payload',
      'payload is text that holds a JSON object with error and error_description',
      (answer) => {
        wantKind(answer, 'payload', 'string')
        const error = errorOf(answer)
        if (kindOf(error) !== 'object' || Object.keys(error!).sort().join() !== 'error,error_description')
          fail(answer, 'payload: JSON text with error and error_description', String(at(answer, 'payload')))
      },
    ),
    seen('error', '§7, the table', 'error is invalid_token', (answer) => {
      if (errorOf(answer)?.error !== 'invalid_token')
        fail(answer, 'error invalid_token', show(errorOf(answer)?.error))
    }),
    seen('error_description', '§7, the table', 'error_description is Invalid access token', (answer) => {
      if (errorOf(answer)?.error_description !== 'Invalid access token')
        fail(answer, 'error_description Invalid access token', show(errorOf(answer)?.error_description))
    }),
    seen(
      'errorResponse',
      '§2.2, errorResponse',
      'errorResponse has exactly timestamp, requestId, errorType, errorMessage',
      (answer) => wantKeys(answer, 'errorResponse', ERROR_RESPONSE),
    ),
    seen('timestamp', '§2.2, timestamp', 'timestamp has the form YYYY-MM-DD HH:MM:SS, of today', (answer) => {
      const text = wantMatch(answer, 'errorResponse.timestamp', PLAIN_TIME, 'YYYY-MM-DD HH:MM:SS')
      // No zone is said, so it may be up to 14 hours off.
      if (Math.abs(Date.parse(`${text.replace(' ', 'T')}Z`) - Date.now()) > DAY_MS)
        fail(answer, 'errorResponse.timestamp: now, in some zone', text)
    }),
    seen(
      'requestId',
      '§2.2, requestId',
      'requestId is text',
      (answer) => void wantText(answer, 'errorResponse.requestId'),
    ),
    seen('errorType', '§7, the table', 'errorType is SYSTEM_ERROR', (answer) =>
      wantValue(answer, 'errorResponse.errorType', 'SYSTEM_ERROR'),
    ),
    seen('errorMessage', '§2.2, errorMessage', 'errorMessage is the same JSON text as payload', (answer) => {
      const message = wantText(answer, 'errorResponse.errorMessage')
      if (message !== at(answer, 'payload')) fail(answer, 'errorMessage: the text of payload', message)
    }),
    seen('response_code', '§7, the table', 'response_code is the integer 1', (answer) =>
      wantValue(answer, 'response_code', 1),
    ),
    seen('response_message', '§7, the table', 'response_message is Failure', (answer) =>
      wantValue(answer, 'response_message', 'Failure'),
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
      wantSameRefusal(real, await lookUp(s, MISSING, {}), 'the answer to a missing id')
    },
  ),
  ours('4.5.merchant', 'decision K4', 'A merchant’s token is an invalid token here', async (s) =>
    wantFailure(await lookUp(s, anyId(s), await s.asMerchant()), 401, 'invalid_token'),
  ),
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

const success: readonly Check[] = [
  ours('4.5.status', 'decision K2', 'The partner’s own configuration is answered with 200', async (s) =>
    wantStatus(await found(s), 200),
  ),
  ours(
    '4.5.envelope',
    'decision K2',
    'response_code 0, response_message Success, and the record as payload',
    async (s) => {
      const answer = await found(s)
      wantJson(answer)
      wantKeys(answer, '', ['response_code', 'response_message', 'payload'])
      wantValue(answer, 'response_code', 0)
      wantValue(answer, 'response_message', 'Success')
    },
  ),
  must('4.5.id', '§2.6', 'The record is the one of the id', async (s) => {
    const answer = await found(s)
    if (!sameJson(at(answer, 'payload.coinConfigId'), coinConfigId(s)))
      wantValue(answer, 'payload.coinConfigId', coinConfigId(s))
  }),
  ours(
    '4.5.fields',
    'decision K1',
    'The record has no field beside those of a coin configuration',
    async (s) =>
      wantKeys(
        await found(s),
        'payload',
        [],
        FIELDS.map(([name]) => name),
      ),
  ),
  ...FIELDS.map(([name, kind, required]) =>
    ours(
      `4.5.payload.${name}`,
      'decision K1',
      `${name} is ${kind === 'integer' ? 'an integer' : 'text'}${required ? '' : ', if it is there'}`,
      async (s) => {
        const answer = await found(s)
        const path = `payload.${name}`
        if (!required && at(answer, path) === undefined) return
        wantKind(answer, path, kind)
        if (ENUMS[name]) wantOneOf(answer, path, [...ENUMS[name]])
        if (INSTANTS.has(name)) wantInstant(answer, path)
      },
    ),
  ),
  ours(
    '4.5.etag',
    'decision K2',
    'ETag is the revision, and If-None-Match with it answers 304',
    async (s) => {
      const answer = await found(s)
      const etag = answer.headers['etag'] ?? fail(answer, 'an ETag', 'none')
      if (etag !== `"${String(at(answer, 'payload.revision'))}"`) fail(answer, 'the revision as ETag', etag)
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
    'Cookie is optional: any cookie beside a good token changes nothing',
    async (s) => {
      const { token } = await s.asPartner()
      const answer = await lookUp(s, coinConfigId(s), {
        authorization: `Bearer ${token}`,
        cookie: 'SVCSESSION=x; a=b',
      })
      if (answer.status === 401 || answer.text !== (await found(s)).text)
        fail(answer, 'the answer without the cookie', answer.text)
    },
  ),
]

const ids: readonly Check[] = [
  must('4.5.missing', '§4.5, coinConfigId', 'An id that does not exist is refused', async (s) => {
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
    'Another partner’s configuration is answered like one that does not exist',
    async (s) => {
      const { token } = await s.asPartner('otherPartner')
      const headers = { authorization: `Bearer ${token}` }
      const theirs = await lookUp(s, coinConfigId(s), headers)
      wantSameRefusal(theirs, await lookUp(s, MISSING, headers), 'the answer to a missing id')
    },
  ),
  ours(
    '4.5.odd-ids',
    'decision A12',
    'Ids that nobody could have issued are answered like missing ones',
    async (s) => {
      const { token } = await s.asPartner()
      const headers = { authorization: `Bearer ${token}` }
      const none = await lookUp(s, MISSING, headers)
      for (const id of ['%', "' or 1=1", '../token', 'c'.repeat(3_000), 'कॉइन'])
        wantSameRefusal(await lookUp(s, id, headers), none, 'the answer to a missing id')
    },
  ),
]

export const COIN_CHECKS: readonly Check[] = [...failures, ...challenges, ...success, ...ids]
