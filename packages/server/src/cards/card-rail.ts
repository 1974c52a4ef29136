import { createHash } from 'node:crypto'
import { payloadStringOf } from '@svc/contract/payload-string'
import { QuarantinedMessage } from '@svc/core/cards/rail/card-exception'
import {
  ADVICES,
  CardMessageRecord,
  type MessageType,
  NETWORK_CHANNELS,
} from '@svc/core/cards/rail/card-message'
import type { RecordMessageArgs } from '@svc/core/cards/rail/card-rail-state'
import { maskCardNumbers, type ReadMessage, readCardMessage } from '@svc/core/cards/rail/read-card-message'
import { recordCardMessage } from '@svc/core/cards/rail/record-card-message'
import { decryptJwe } from '@svc/jwe/jwe'
import { DecryptionFailed } from '@svc/jwe/jwe-error'
import { type TProperties, Type } from 'typebox'
import { operation, type Services, succeed } from '../http/operation.ts'
import { SIGNATURE } from '../rails/authenticate-rail.ts'

export const CARD_RAIL_TAG = 'Card rail'

const text = (description: string) => Type.Optional(Type.String({ description }))
const rupees = Type.Unsafe<string | number>({ type: ['string', 'number'], description: 'Rupees' })
const reference = {
  originalStan: text('STAN of the earlier message of the same acquirer'),
  originalTransmissionTime: text('Its transmission time'),
}
const authorization = { authorizationId: text('The authorisation, by our id'), ...reference }

/** Fields of every message. */
const COMMON = {
  token: text('The card, by the `token` of its record'),
  cardNumber: text('Or by its number: only in an encrypted message'),
  acquirerId: Type.String({ description: 'ISO 8583 field 32: letters and digits' }),
  stan: Type.Unsafe<string | number>({
    type: ['string', 'number'],
    description: 'ISO 8583 field 11: systems trace audit number',
  }),
  transmissionTime: Type.String({ description: 'ISO 8583 field 7, as RFC 3339' }),
  currency: text('ISO 8583 field 49: `INR` or `356`; any other is declined, or goes to quarantine'),
  status: text(
    'What became of it, in the network’s word: one that says that it did not happen is not recorded',
  ),
  responseCode: text('ISO 8583 field 39 of what is reported: one that is no approval is not recorded'),
  localTime: text('ISO 8583 fields 12 and 13, as the terminal has them'),
  rrn: text('ISO 8583 field 37; kept for people, identifies nothing'),
  mcc: text('ISO 8583 field 18'),
  merchantName: text('ISO 8583 field 43'),
  merchantPlace: text('ISO 8583 field 43'),
  merchantCountry: text('ISO 8583 field 43, positions 39 and 40: two letters, such as `IN`'),
}
const channel = Type.Enum([...NETWORK_CHANNELS])

interface Plan {
  readonly id: string
  readonly type: MessageType
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly fields: TProperties
}

const EVERY =
  'Sent by the card network, signed. A message is identified by its type, acquirer, STAN and transmission time: a repeat gets the first response. A signed message is never rejected for its form: what cannot be read is kept for an operator, and gets 202, or a decision where a terminal waits for one. The message may be encrypted: a compact JWE to a key published at `/.well-known/jwks.json`.'

/** Decision R1: one command for all messages of the card network. */
const railOperation = ({ id, type, path, summary, description, fields }: Plan) =>
  operation({
    id,
    method: 'POST',
    path: `/rails/cards/${path}`,
    tag: CARD_RAIL_TAG,
    summary,
    description: `${description} ${EVERY}`,
    auth: 'cardRail',
    envelope: 'response_code',
    headers: SIGNATURE,
    body: Type.Object({ ...COMMON, ...fields }, { description: 'Other fields are ignored' }),
    acceptsAnyBody: true,
    result: CardMessageRecord,
    accepted: QuarantinedMessage,
    errors: [],
    run: recordCardMessage,
    args: async ({ rawBody, caller: { mayBeElsewhere, tenantId } }, services) => ({
      type,
      mayBeElsewhere,
      ...(await readBody(type, rawBody, tenantId, services)),
      body: Buffer.from(maskCardNumbers(rawBody.toString('utf8'))),
    }),
    reply: ({ status, response }) => ({ status, body: succeed(JSON.parse(response)) }),
  })

/** A message as it came, plain or as a compact JWE: bare, as a JSON string, or wrapped (decision C2). */
async function readBody(
  type: MessageType,
  body: Buffer,
  tenantId: string,
  { jwes }: Services,
): Promise<Pick<RecordMessageArgs, 'read' | 'plainDigest'>> {
  const jwe = jweIn(body.toString('utf8').trim())
  const message = (content: Uint8Array, read: ReadMessage) => ({
    read,
    plainDigest: createHash('sha256').update(content).digest(),
  })
  if (jwe === undefined) return message(body, readCardMessage(type, body, false))
  try {
    const { plaintext } = await decryptJwe(jwe, (kid) => jwes.openingKey(tenantId, kid))
    return message(plaintext, readCardMessage(type, plaintext, true))
  } catch (error) {
    if (error instanceof DecryptionFailed)
      return message(body, {
        unreadable: 'not_decrypted',
        detail: 'the encrypted message cannot be decrypted',
      })
    throw error
  }
}

const COMPACT = /^[\w-]+(?:\.[\w-]*){4}$/

function jweIn(body: string): string | undefined {
  if (COMPACT.test(body)) return body
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return undefined
  }
  return payloadStringOf(value)
}

export const authorizeCard = railOperation({
  id: 'authorizeCard',
  type: 'authorization',
  path: 'authorizations',
  summary: 'Authorise an amount',
  description:
    'Decides at once: `approved` with an authorisation code, which holds the amount, or `declined` with an ISO 8583 response code; both are 200. An amount of zero verifies the card: `85`. An authorisation that names an open one raises its hold by the amount. With `partialApproval`, what the card has is approved where that is less.',
  fields: {
    amount: rupees,
    channel,
    partialApproval: Type.Optional(
      Type.Boolean({ description: 'Whether a part may be approved: `approvedAmount`, and `10`' }),
    ),
    ...authorization,
  },
})

export const captureCard = railOperation({
  id: 'captureCard',
  type: 'capture',
  path: 'captures',
  summary: 'Report a capture',
  description:
    'Settles a hold, in one or several parts. An authorisation that arrives after its captures holds what they have left, after a final one nothing. What exceeds the authorisation with its tolerance, or the balance less other holds, goes to the exceptions account.',
  fields: {
    amount: rupees,
    ...authorization,
    final: Type.Optional(
      Type.Boolean({
        description: 'Whether what is left of the hold is released; an amount of zero releases it too',
      }),
    ),
  },
})

export const voidCard = railOperation({
  id: 'voidCard',
  type: 'void',
  path: 'voids',
  summary: 'Report a void',
  description:
    'Releases a hold, by default all of it, or what is above `replacementAmount`. A later capture of what was voided is an exception, also when the hold had expired. A void that arrives before its authorisation is remembered: that authorisation is declined.',
  fields: {
    amount: Type.Optional(rupees),
    replacementAmount: Type.Optional({
      ...rupees,
      description:
        'ISO 8583 field 95: rupees that the authorisation amounts to after it. Beside it `amount` is that of the authorisation',
    }),
    ...authorization,
  },
})

export const refundCardMessage = railOperation({
  id: 'refundCard',
  type: 'refund',
  path: 'refunds',
  summary: 'Report a refund',
  description:
    'Gives back at most what its capture took from the card. The rest, and a refund without a capture, goes to the exceptions account.',
  fields: {
    amount: rupees,
    captureId: text('The capture, by the `messageId` of its response'),
    ...authorization,
  },
})

export const adviseCard = railOperation({
  id: 'adviseCard',
  type: 'advice',
  path: 'advices',
  summary: 'Report a stand-in or forced post',
  description:
    '`stand_in`: the network approved an authorisation; the hold is placed whatever the card has left. `forced_post`: an amount was captured; it debits at most the balance less other holds.',
  fields: {
    advice: Type.Enum([...ADVICES]),
    amount: rupees,
    channel: Type.Optional(channel),
    ...authorization,
  },
})

export const inquireBalance = railOperation({
  id: 'inquireCardBalance',
  type: 'balance_inquiry',
  path: 'balance-inquiries',
  summary: 'Ask for the balance',
  description: 'Returns `otbBalance`, the balance less open holds, and `accountBalance`.',
  fields: { channel: Type.Optional(channel) },
})
