import { type Check, must, ours, refuses } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import {
  at,
  fail,
  sameJson,
  wantFailure,
  wantJson,
  wantKind,
  wantNoOtherKeys,
  wantRefused,
  wantSameRefusal,
  wantStatus,
  wantValue,
} from '../expect.ts'
import { interpretationOf, wantUnknownField } from '../interpretation.ts'
import { cancelPath, PATHS, type Subject } from '../subject.ts'
import { ACCESS_KEY_CHECKS } from './access-keys.ts'
import { QR_CODE_FIELDS, QR_CODE_NAMES, wantInstant, wantQrCodeField } from './qr-code-fields.ts'

interface Cancelled {
  readonly qrCodeId: string
  readonly asked: Readonly<Record<string, unknown>>
  readonly response: HttpResponse
}

/** A code with every field that can be asked for, cancelled once. */
function cancelled(subject: Subject): Promise<Cancelled> {
  return subject.observe('a cancelled code', async () => {
    const asked = {
      qrName: 'Conformance',
      multipleUse: true,
      fixedAmount: true,
      amount: 249.5,
      description: 'Made to be cancelled',
      expiry: new Date(Date.now() + 86_400_000).toISOString(),
      customParams: { table: '12', waiter: 'Asha' },
      customerName: 'Asha Rao',
      customerEmail: 'asha.rao@example.com',
      customerMobile: '9876543210',
      customerId: 'cust-1',
      referenceNumber: `conf-${crypto.randomUUID()}`,
    }
    const qrCodeId = await subject.newQrCode(asked)
    return { qrCodeId, asked, response: await subject.cancel(qrCodeId) }
  })
}

const responded = (
  id: string,
  source: string,
  title: string,
  look: (response: HttpResponse, cancel: Cancelled) => void,
): Check =>
  must(`4.2.${id}`, source, title, async (subject) => {
    const cancel = await cancelled(subject)
    look(cancel.response, cancel)
  })

const statusOf = async (subject: Subject, qrCodeId: string): Promise<HttpResponse> =>
  subject.call('GET', `${PATHS.qrCode}/${qrCodeId}`, undefined, await subject.asMerchant())

/** Spec §4.2: the payload is optional. */
const codeOf = (response: HttpResponse): Record<string, unknown> | undefined =>
  at(response, 'payload') === undefined
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
  ours(
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
      if (at(response, 'response_code') !== undefined) wantKind(response, 'response_code', 'integer')
    },
  ),
  ours('4.2.response_code.zero', 'decision F2', 'response_code is there, and is 0', async (s) =>
    wantValue((await cancelled(s)).response, 'response_code', 0),
  ),
  responded(
    'response_message',
    '§4.2, success response',
    'response_message is text',
    (response) =>
      void (
        at(response, 'response_message') === undefined || wantKind(response, 'response_message', 'string')
      ),
  ),
  responded(
    'payload',
    '§4.2, success response',
    'payload is an object, if it is there',
    (response) => void codeOf(response),
  ),
  ours(
    '4.2.payload.present',
    'decision Q1',
    'The payload is the code',
    async (s) => void wantKind((await cancelled(s)).response, 'payload', 'object'),
  ),
  responded('cancelled', '§4.2, rule; §3.1', 'payload.status of the response is CANCELLED', (response) => {
    if (codeOf(response)) wantValue(response, 'payload.status', 'CANCELLED')
  }),
  ours('4.2.fields', 'decision R6', 'The payload has no field but the seventeen of a QR code', async (s) =>
    wantNoOtherKeys((await cancelled(s)).response, 'payload', QR_CODE_NAMES),
  ),
  ours('4.2.response_message.success', 'decision F2', 'response_message is Success', async (s) =>
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
  ours(`4.2.echo.${name}`, 'decision Q1', `${name} is returned as it was sent`, async (s) => {
    await s.needCreation()
    const { response: reply, asked } = await cancelled(s)
    if (!sameJson(at(reply, `payload.${name}`), asked[name]))
      wantValue(reply, `payload.${name}`, asked[name] as string)
  }),
)

const dates: readonly Check[] = ['expiry', 'createdOn', 'modifiedOn'].map((name) =>
  ours(
    `4.2.dates.${name}`,
    'decision Q7',
    `${name} is RFC 3339 with milliseconds and zone offset`,
    async (s) => {
      await s.needCreation()
      const { response: reply, asked } = await cancelled(s)
      const text = wantInstant(reply, `payload.${name}`)
      if (name === 'expiry' && Date.parse(text) !== Date.parse(String(asked['expiry'])))
        fail(reply, 'payload.expiry: the instant that was asked for', text)
    },
  ),
)

const conflicts = async (subject: Subject): Promise<boolean> =>
  (await interpretationOf(subject, 'SECOND_CANCEL')) === 'conflict'

const transition: readonly Check[] = [
  ours(
    '4.2.repeat',
    'decision Q2',
    'Cancelling again returns what the first cancel returned, or 409 where SECOND_CANCEL is conflict',
    async (s) => {
      const { qrCodeId, response: reply } = await cancelled(s)
      const again = await s.cancel(qrCodeId)
      if (await conflicts(s)) return wantFailure(again, 409, 'qr_code_already_cancelled')
      wantStatus(again, reply.status)
      if (again.text !== reply.text) fail(again, `the first response: ${reply.text}`, again.text)
    },
  ),
  ours('4.2.together', 'decision Q2', 'Five cancels at once all return the same response', async (s) => {
    const qrCodeId = await s.newQrCode()
    const responses = await Promise.all(Array.from({ length: 5 }, () => s.cancel(qrCodeId)))
    if (await conflicts(s)) {
      const first =
        responses.find(({ status }) => status === 200) ??
        fail(responses[0]!, 'one cancel of five to succeed', 'none')
      for (const response of responses)
        if (response !== first) wantFailure(response, 409, 'qr_code_already_cancelled')
      return
    }
    for (const response of responses) {
      wantStatus(response, 200)
      if (response.text !== responses[0]!.text)
        fail(response, `the same as the others: ${responses[0]!.text}`, response.text)
    }
  }),
  ours('4.2.reads-back', 'decision Q1', 'A cancelled code reads back as CANCELLED', async (s) => {
    await s.needCreation()
    const { qrCodeId } = await cancelled(s)
    wantValue(await statusOf(s, qrCodeId), 'payload.status', 'CANCELLED')
  }),
  ours('4.2.modified', 'decision Q2', 'modifiedOn is no earlier than createdOn', async (s) => {
    await s.needCreation()
    const { response: reply } = await cancelled(s)
    const [made, changed] = ['createdOn', 'modifiedOn'].map((name) => wantInstant(reply, `payload.${name}`))
    if (Date.parse(changed!) < Date.parse(made!)) fail(reply, `modifiedOn: ${made} or later`, changed!)
  }),
  ours(
    '4.2.no-image',
    'decision Q1',
    'A cancelled code comes without its image: it is not to be shown any more',
    async (s) => {
      const { response: reply } = await cancelled(s)
      if (at(reply, 'payload.qrCodeBase64') !== undefined) fail(reply, 'no qrCodeBase64', 'an image')
    },
  ),
  must(
    '4.2.pays-no-more',
    '§3.1, ACTIVE',
    'No payment is accepted through a code after it was cancelled',
    async (s) => {
      await s.needSimulator()
      const qrCodeId = await s.newQrCode({ multipleUse: true })
      wantStatus(await s.cancel(qrCodeId), 200)
      const paid = await s.call('POST', PATHS.pay, { qrCodeId, amount: 10 })
      const status = at(paid, 'payload.payment.status')
      if (status === 'ACCEPTED') fail(paid, 'a payment that is not accepted', 'ACCEPTED')
    },
  ),
  ours(
    '4.2.pays-before',
    'decision Q3',
    'A payment is accepted through a code that was not cancelled',
    async (s) => {
      await s.needSimulator()
      const qrCodeId = await s.newQrCode({ multipleUse: true })
      const paid = await s.call('POST', PATHS.pay, { qrCodeId, amount: 10 })
      wantValue(paid, 'payload.payment.status', 'ACCEPTED')
    },
  ),
  ours(
    '4.2.refunds',
    'decision Q3',
    'A credit after the cancel is recorded with its reason, and returned',
    async (s) => {
      await s.needSimulator()
      const qrCodeId = await s.newQrCode({ multipleUse: true })
      await s.cancel(qrCodeId)
      const paid = await s.call('POST', PATHS.pay, { qrCodeId, amount: 10 })
      wantValue(paid, 'payload.payment.reason', 'qr_code_cancelled')
      const list = await s.call(
        'GET',
        `${PATHS.qrCode}/${qrCodeId}/payments`,
        undefined,
        await s.asMerchant(),
      )
      wantValue(list, 'payload.recordsCount', 1)
      wantValue(list, 'payload.data.0.reason', 'qr_code_cancelled')
    },
  ),
]

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
  ours(
    '4.2.missing.status',
    'decision F3',
    'A code that does not exist returns 404 qr_code_not_found',
    async (s) => wantFailure(await missing(s), 404, 'qr_code_not_found'),
  ),
  ours(
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
  ours(
    '4.2.foreign.untouched',
    'decision A10',
    'A merchant cannot cancel another merchant’s code',
    async (s) => {
      const headers = await s.asMerchant('otherMerchant')
      const qrCodeId = await s.newQrCode()
      wantRefused(await s.cancel(qrCodeId, headers))
      if (await s.creates()) wantValue(await statusOf(s, qrCodeId), 'payload.status', 'ACTIVE')
    },
  ),
  ...ODD_IDS.map(([name, id]) =>
    ours(
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
  ours('4.2.no-body', 'decision C14', 'No body at all is as good as the empty object', async (s) =>
    wantStatus(await s.cancelWith(await s.newQrCode(), undefined), 200),
  ),
  ours(
    '4.2.unknown-field',
    'decision C14',
    'A body with a field is refused by name, and the code stays active',
    async (s) => {
      const qrCodeId = await s.newQrCode()
      const response = await s.cancelWith(qrCodeId, { force: true })
      if (await wantUnknownField(s, response, 'force')) return
      if (await s.creates()) wantValue(await statusOf(s, qrCodeId), 'payload.status', 'ACTIVE')
    },
  ),
  ours('4.2.media-type', 'decision F3', 'A body of another media type is refused with 415', async (s) =>
    wantFailure(
      await s.cancel('qr_00000000000000000000000000', { 'content-type': 'text/plain' }),
      415,
      'unsupported_media_type',
    ),
  ),
  ours('4.2.method', 'decision F3', 'POST does not cancel: the method is PATCH', async (s) =>
    wantRefused(await s.call('POST', cancelPath(await s.newQrCode()), {}, await s.asMerchant())),
  ),
  ours(
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
  ...transition,
  ...ids,
  ...requests,
  ...ACCESS_KEY_CHECKS,
]
