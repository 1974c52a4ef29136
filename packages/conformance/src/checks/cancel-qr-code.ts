import { type Check, decided, refuses, specified } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import {
  at,
  fail,
  wantFailure,
  wantJson,
  wantKind,
  wantNoOtherKeys,
  wantRefused,
  wantSameRefusal,
  wantStatus,
  wantValue,
} from '../expect.ts'
import { wantUnknownField } from '../interpretation.ts'
import { cancelPath, type Subject } from '../subject.ts'
import { ACCESS_KEY_CHECKS } from './access-keys.ts'
import { CANCEL_EFFECT_CHECKS } from './cancel-effects.ts'
import { type Cancelled, cancelled, usable, wantActive } from './cancelled-code.ts'
import { QR_CODE_FIELDS, QR_CODE_NAMES, wantInstant, wantQrCodeField } from './qr-code-fields.ts'

const responded = (
  id: string,
  source: string,
  title: string,
  look: (response: HttpResponse, cancel: Cancelled) => void,
): Check =>
  specified(`4.2.${id}`, source, title, async (subject) => {
    const cancel = await cancelled(subject)
    look(cancel.response, cancel)
  })

/** Spec §4.2: the payload is optional. */
const codeOf = (response: HttpResponse): Record<string, unknown> | undefined =>
  at(usable(response), 'payload') === undefined
    ? undefined
    : (wantKind(response, 'payload', 'object') as Record<string, unknown>)

const envelope: readonly Check[] = [
  responded('status', '§4.2, success response', 'Cancelling a code returns status 200', (response) =>
    wantStatus(response, 200),
  ),
  responded(
    'content-type',
    '§4.2, success response',
    'The response is JSON, said to be so',
    (response) => void wantJson(response),
  ),
  decided(
    '4.2.envelope',
    'decision R6',
    'The envelope has no other field than response_code, response_message, payload',
    async (s) =>
      wantNoOtherKeys((await cancelled(s)).response, '', ['response_code', 'response_message', 'payload']),
  ),
  responded(
    'response_code',
    '§4.2, success response',
    'response_code is an integer, if it is there',
    (response) => {
      if (at(usable(response), 'response_code') !== undefined) wantKind(response, 'response_code', 'integer')
    },
  ),
  decided('4.2.response_code.zero', 'decision F2', 'response_code is there, and is 0', async (s) =>
    wantValue((await cancelled(s)).response, 'response_code', 0),
  ),
  responded(
    'response_message',
    '§4.2, success response',
    'response_message is text, if it is there',
    (response) =>
      void (
        at(usable(response), 'response_message') === undefined ||
        wantKind(response, 'response_message', 'string')
      ),
  ),
  responded(
    'payload',
    '§4.2, success response',
    'payload is an object, if it is there',
    (response) => void codeOf(response),
  ),
  decided(
    '4.2.payload.present',
    'decision Q1',
    'The payload is the code',
    async (s) => void wantKind((await cancelled(s)).response, 'payload', 'object'),
  ),
  responded(
    'cancelled',
    '§4.2, rule; §3.1',
    'payload.status of the response is CANCELLED, if there is a payload',
    (response) => {
      if (codeOf(response)) wantValue(response, 'payload.status', 'CANCELLED')
    },
  ),
  decided('4.2.fields', 'decision R6', 'The payload has no field but the seventeen of a QR code', async (s) =>
    wantNoOtherKeys((await cancelled(s)).response, 'payload', QR_CODE_NAMES),
  ),
  decided('4.2.response_message.success', 'decision F2', 'response_message is Success', async (s) =>
    wantValue((await cancelled(s)).response, 'response_message', 'Success'),
  ),
]

const fields: readonly Check[] = QR_CODE_FIELDS.map((row) =>
  responded(
    `payload.${row.name}`,
    `§2.3, ${row.name}`,
    `${row.name} is ${row.words}, if it is there`,
    (response, { qrCodeId }) => {
      const code = codeOf(response)
      if (!code) return
      wantQrCodeField(response, code, row)
      if (row.name === 'qrCodeId' && code['qrCodeId'] !== undefined)
        wantValue(response, 'payload.qrCodeId', qrCodeId)
    },
  ),
)

const echo: readonly Check[] = [
  'qrName',
  'multipleUse',
  'fixedAmount',
  'amount',
  'description',
  'customParams',
  'customerName',
  'customerEmail',
  'customerMobile',
  'customerId',
  'referenceNumber',
].map((name) =>
  decided(`4.2.echo.${name}`, 'decision Q1', `${name} is returned as it was sent`, async (s) => {
    await s.needCreation()
    const { response: reply, requested } = await cancelled(s)
    wantValue(reply, `payload.${name}`, requested[name] as string)
  }),
)

const dates: readonly Check[] = ['expiry', 'createdOn', 'modifiedOn'].map((name) =>
  decided(
    `4.2.dates.${name}`,
    'decision Q7',
    `${name} is RFC 3339 with milliseconds and zone offset`,
    async (s) => {
      await s.needCreation()
      const { response: reply, requested } = await cancelled(s)
      const text = wantInstant(reply, `payload.${name}`)
      if (name === 'expiry' && Date.parse(text) !== Date.parse(String(requested['expiry'])))
        fail(reply, 'payload.expiry: the instant that was asked for', text)
    },
  ),
)

const ODD_IDS: readonly (readonly [name: string, id: string])[] = [
  ['punctuation', "'; drop table qr_codes; --"],
  ['dots', '../../etc/passwd'],
  ['control', 'qr_\u0000\u0007'],
  ['unicode', 'क्यूआर-😀'],
  ['long', 'q'.repeat(4_000)],
]

const missing = (subject: Subject): Promise<HttpResponse> =>
  subject.observe('a cancel of a missing code', () => subject.cancel('qr_00000000000000000000000000'))

const ids: readonly Check[] = [
  ...refuses(
    '4.2.missing',
    '§3.1, condition',
    'A code that does not exist is not cancelled: the response is a refusal',
    missing,
  ),
  decided(
    '4.2.missing.status',
    'decision F3',
    'A code that does not exist returns 404 qr_code_not_found',
    async (s) => wantFailure(await missing(s), 404, 'qr_code_not_found'),
  ),
  decided(
    '4.2.foreign',
    'decision A10',
    'Another merchant’s code gets exactly the same response as one that does not exist',
    async (s) => {
      const headers = await s.asMerchant('otherMerchant')
      const response = await s.cancel(await s.newQrCode(), headers)
      wantSameRefusal(
        response,
        await s.cancel('qr_00000000000000000000000000', headers),
        'the response to a missing id',
      )
    },
  ),
  decided(
    '4.2.foreign.untouched',
    'decision A10',
    'A merchant cannot cancel another merchant’s code',
    async (s) => {
      const headers = await s.asMerchant('otherMerchant')
      const qrCodeId = await s.newQrCode()
      wantRefused(await s.cancel(qrCodeId, headers))
      await wantActive(s, qrCodeId)
    },
  ),
  ...ODD_IDS.map(([name, id]) =>
    decided(
      `4.2.odd-id.${name}`,
      'decision A12',
      `An id with ${name} in it gets the same response as a missing one`,
      async (s) => {
        const response = await s.cancel(id)
        wantSameRefusal(response, await missing(s), 'the response to a missing id')
      },
    ),
  ),
]

const requests: readonly Check[] = [
  decided('4.2.no-body', 'decision C14', 'No body at all is as good as the empty object', async (s) =>
    wantStatus(await s.cancelWith(await s.newQrCode(), undefined), 200),
  ),
  decided(
    '4.2.unknown-field',
    'decision C14',
    'A body with a field is refused by name, and the code stays active',
    async (s) => {
      const qrCodeId = await s.newQrCode()
      const response = await s.cancelWith(qrCodeId, { force: true })
      if (await wantUnknownField(s, response, 'force')) return
      await wantActive(s, qrCodeId)
    },
  ),
  decided('4.2.media-type', 'decision F3', 'A body of another media type is refused with 415', async (s) =>
    wantFailure(
      await s.cancel('qr_00000000000000000000000000', { 'content-type': 'text/plain' }),
      415,
      'unsupported_media_type',
    ),
  ),
  decided('4.2.method', 'decision F3', 'POST does not cancel: the method is PATCH', async (s) => {
    const qrCodeId = await s.newQrCode()
    wantRefused(await s.call('POST', cancelPath(qrCodeId), {}, await s.asMerchant()))
    await wantActive(s, qrCodeId)
  }),
  decided(
    '4.2.idempotency',
    'decision C13',
    'The same Idempotency-Key with another code is refused with 422',
    async (s) => {
      const [one, other] = await Promise.all([s.newQrCode(), s.newQrCode()])
      const key = { 'idempotency-key': crypto.randomUUID() }
      wantStatus(await s.cancel(one, key), 200)
      wantFailure(await s.cancel(other, key), 422, 'idempotency_key_reused')
    },
  ),
]

export const CANCEL_CHECKS: readonly Check[] = [
  ...envelope,
  ...fields,
  ...echo,
  ...dates,
  ...CANCEL_EFFECT_CHECKS,
  ...ids,
  ...requests,
  ...ACCESS_KEY_CHECKS,
]
