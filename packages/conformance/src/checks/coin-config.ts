import { type Check, decided, specified } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import {
  at,
  errorOf,
  fail,
  kindOf,
  PLAIN_TIME,
  show,
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
import type { Headers, Subject } from '../subject.ts'
import { COIN_READER_CHECKS } from './coin-readers.ts'
import { COIN_RECORD_CHECKS, coinConfigId, lookUp } from './coin-record.ts'

const MISSING = 'ccf_00000000000000000000000000'
const DAY_MS = 86_400_000

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

function wantPayloadOnly(response: HttpResponse): void {
  const error = errorOf(response) ?? fail(response, 'payload: JSON text', 'something else')
  const more = Object.keys(error).filter((field) => !PAYLOAD.includes(field))
  if (more.length > 0) fail(response, 'payload: error and error_description', `also ${more.join(', ')}`)
}

const failures: readonly Check[] = CONDITIONS.flatMap(([name, words, headers]) => {
  const spec = (part: string, source: string, title: string, look: (response: HttpResponse) => void): Check =>
    specified(`4.5.401.${name}.${part}`, source, `${words}: ${title}`, async (s) =>
      look(await refusal(s, name, headers)),
    )
  const decision: typeof spec = (part, source, title, look) => ({
    ...spec(part, source, title, look),
    origin: 'decision',
  })
  return [
    spec('status', '§7, the table', 'status 401', (response) => wantStatus(response, 401)),
    spec('content-type', '§7, rule 1', 'application/json', (response) => void wantJson(response)),
    spec(
      'envelope',
      '§2.2',
      'the body has payload, errorResponse, response_code, response_message',
      (response) => wantKeys(response, '', ENVELOPE),
    ),
    decision('envelope.only', 'decision R6', 'the body has no other field', (response) =>
      wantNoOtherKeys(response, '', ENVELOPE),
    ),
    decision('order', 'decision F1', 'the fields come in the order of the specification', (response) => {
      const names = Object.keys(wantJson(response)).filter((field) => ENVELOPE.includes(field))
      if (names.join() !== ENVELOPE.filter((field) => names.includes(field)).join())
        fail(response, ENVELOPE.join(', '), names.join(', '))
    }),
    spec(
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
    decision(
      'payload.only',
      'decision R6',
      'payload holds error and error_description, nothing else',
      wantPayloadOnly,
    ),
    spec('error', '§7, the table', 'error is invalid_token', (response) => {
      if (errorOf(response)?.error !== 'invalid_token')
        fail(response, 'error invalid_token', show(errorOf(response)?.error))
    }),
    spec('error_description', '§7, the table', 'error_description is Invalid access token', (response) => {
      if (errorOf(response)?.error_description !== 'Invalid access token')
        fail(response, 'error_description Invalid access token', show(errorOf(response)?.error_description))
    }),
    spec(
      'errorResponse',
      '§2.2, errorResponse',
      'errorResponse has timestamp, requestId, errorType, errorMessage',
      (response) => wantKeys(response, 'errorResponse', ERROR_RESPONSE),
    ),
    decision('errorResponse.only', 'decision R6', 'errorResponse has no other field', (response) =>
      wantNoOtherKeys(response, 'errorResponse', ERROR_RESPONSE),
    ),
    spec(
      'timestamp',
      '§2.2, timestamp',
      'timestamp has the form YYYY-MM-DD HH:MM:SS',
      (response) => void wantMatch(response, 'errorResponse.timestamp', PLAIN_TIME, 'YYYY-MM-DD HH:MM:SS'),
    ),
    decision('timestamp.now', 'decision F5', 'timestamp is of today', (response) => {
      const text = wantText(response, 'errorResponse.timestamp')
      // No zone is said, so it may be up to 14 hours off.
      if (Math.abs(Date.parse(`${text.replace(' ', 'T')}Z`) - Date.now()) > DAY_MS)
        fail(response, 'errorResponse.timestamp: now, in some zone', text)
    }),
    spec(
      'requestId',
      '§2.2, requestId',
      'requestId is text',
      (response) => void wantText(response, 'errorResponse.requestId'),
    ),
    spec('errorType', '§7, the table', 'errorType is SYSTEM_ERROR', (response) =>
      wantValue(response, 'errorResponse.errorType', 'SYSTEM_ERROR'),
    ),
    spec(
      'errorMessage',
      '§2.2, errorMessage',
      'errorMessage is the same JSON text as payload',
      (response) => {
        const message = wantText(response, 'errorResponse.errorMessage')
        if (message !== at(response, 'payload')) fail(response, 'errorMessage: the text of payload', message)
      },
    ),
    spec('response_code', '§7, the table', 'response_code is the integer 1', (response) =>
      wantValue(response, 'response_code', 1),
    ),
    spec('response_message', '§7, the table', 'response_message is Failure', (response) =>
      wantValue(response, 'response_message', 'Failure'),
    ),
  ]
})

const challenges: readonly Check[] = [
  specified('4.5.401.requestId.unique', '§2.2, requestId', 'Two refusals have two request ids', async (s) => {
    const [one, other] = await Promise.all([lookUp(s, MISSING, {}), lookUp(s, MISSING, {})])
    const id = wantText(one, 'errorResponse.requestId')
    if (id === wantText(other, 'errorResponse.requestId')) fail(other, 'another request id', id)
  }),
  decided(
    '4.5.401.exists',
    'decision A10',
    'Requests without a valid token get the same response, whether the id exists or not',
    async (s) => {
      const real = await lookUp(s, coinConfigId(s), {})
      wantSameRefusal(real, await lookUp(s, MISSING, {}), 'the response to a missing id')
    },
  ),
  ...COIN_READER_CHECKS,
]

const ids: readonly Check[] = [
  decided('4.5.missing', 'decision F3', 'An id that does not exist is refused', async (s) => {
    const { token } = await s.asPartner()
    wantRefused(await lookUp(s, MISSING, { authorization: `Bearer ${token}` }))
  }),
  decided(
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
  decided(
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
  decided(
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

export const COIN_CHECKS: readonly Check[] = [...failures, ...challenges, ...COIN_RECORD_CHECKS, ...ids]
