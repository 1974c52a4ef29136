import { fail } from '@svc/contract/errors'
import { cardTokenLookup } from '@svc/core/cards/card/find-card-partner'
import { QuarantinedMessage } from '@svc/core/cards/rail/card-exception'
import {
  ADVICES,
  CardMessageRecord,
  MESSAGE_TYPES,
  NETWORK_CHANNELS,
} from '@svc/core/cards/rail/card-message'
import { required } from '@svc/kernel/invariant'
import { type Static, Type } from 'typebox'
import { CardParams } from '../cards/get-card.ts'
import { Rupees } from '../http/fields.ts'
import { SIGNATURE_HEADER, signNotice } from '../http/notice-signature.ts'
import { query, type Services, succeed } from '../http/operation.ts'
import { railKeys } from '../rails/authenticate-rail.ts'

/** Where the card rail receives messages of each type. */
const PATHS = {
  authorization: 'authorizations',
  capture: 'captures',
  void: 'voids',
  refund: 'refunds',
  advice: 'advices',
  balance_inquiry: 'balance-inquiries',
} as const
type MessageName = keyof typeof PATHS

const BEHAVIOURS = ['normal', 'duplicate', 'timeout', 'reordered'] as const

const text = (description: string) => Type.Optional(Type.String({ maxLength: 64, description }))

export const NetworkMessageRequest = Type.Object(
  {
    type: Type.Enum([...MESSAGE_TYPES]),
    amount: Type.Optional(
      Rupees({ minimum: 0.01, maximum: 1e7, description: 'Rupees, at most two decimals' }),
    ),
    channel: Type.Optional(Type.Enum([...NETWORK_CHANNELS], { description: 'By default `pos`' })),
    advice: Type.Optional(Type.Enum([...ADVICES], { description: 'Of advices' })),
    authorizationId: text(
      'Of captures, voids, refunds and advices: the authorisation; of an authorisation: the one that it raises',
    ),
    captureId: text('Of refunds: the `messageId` of the capture'),
    partialApproval: Type.Optional(
      Type.Boolean({ description: 'Of authorisations: a part of the amount may be approved' }),
    ),
    replacementAmount: Type.Optional(
      Rupees({
        minimum: 0,
        maximum: 1e7,
        description: 'Of voids: rupees that the authorisation amounts to after it',
      }),
    ),
    mcc: Type.Optional(
      Type.String({
        pattern: '^[0-9]{4}$',
        'x-rule': 'must be four digits',
        description: 'Merchant category code',
      }),
    ),
    merchantCountry: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{2}$',
        'x-rule': 'must be two capital letters',
        description: 'Country of the merchant',
      }),
    ),
    final: Type.Optional(Type.Boolean({ description: 'Of captures: what is left of the hold is released' })),
    merchantName: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    behaviour: Type.Optional(
      Type.Enum([...BEHAVIOURS], {
        description:
          '`duplicate`: the network sends the message twice. `timeout`: the terminal gets no response to its authorisation and voids it. `reordered`: that void arrives before the authorisation.',
      }),
    ),
  },
  { additionalProperties: false },
)
type NetworkMessageRequest = Static<typeof NetworkMessageRequest>

const NetworkMessages = Type.Object(
  {
    messages: Type.Array(
      Type.Object(
        {
          type: Type.Enum([...MESSAGE_TYPES]),
          status: Type.Integer({ description: 'HTTP status of the card rail: 202 for quarantine' }),
          response: Type.Union([CardMessageRecord, QuarantinedMessage]),
        },
        { additionalProperties: false },
      ),
      { description: 'In the order in which they were sent' },
    ),
  },
  { title: 'SandboxCardMessages', additionalProperties: false },
)

interface Sent {
  readonly type: MessageName
  readonly fields: object
}

/** The messages that the network sends, in their order. Pure; `identity` is of the message itself. */
export function messagesOf(
  { behaviour = 'normal', type: named, ...fields }: NetworkMessageRequest,
  identity: { readonly stan: string; readonly transmissionTime: string },
  reversal: { readonly stan: string; readonly transmissionTime: string },
): Sent[] {
  const type = named as MessageName
  const channel = type === 'authorization' ? { channel: 'pos' } : {}
  const message = { type, fields: { ...channel, ...fields, ...identity } }
  if (behaviour === 'duplicate') return [message, message]
  if (behaviour === 'normal') return [message]
  const { stan, transmissionTime } = identity
  const original = { originalStan: stan, originalTransmissionTime: transmissionTime }
  const undo: Sent = { type: 'void', fields: { ...reversal, ...original } }
  return behaviour === 'timeout' ? [message, undo] : [undo, message]
}

/** Sends one message to our own card rail, signed, as the network does. */
async function send(services: Services, token: string, { type, fields }: Sent) {
  const body = Buffer.from(JSON.stringify({ token, acquirerId: '400123', ...fields }))
  const key = required(railKeys(services, 'cards')[0], 'the sandbox has a key of the card rail')
  const { status, body: response } = await services.selfCall({
    method: 'POST',
    path: `/rails/cards/${PATHS[type]}`,
    headers: {
      'content-type': 'application/json',
      [SIGNATURE_HEADER]: signNotice(body, key, services.clock.now()),
    },
    body,
  })
  if (status !== 200 && status !== 202) return fail('temporarily_unavailable', { retryAfterSeconds: 1 })
  return { type, status, response: (JSON.parse(response) as { payload: unknown }).payload }
}

/** The card network, simulated: its messages go through the card rail, signed, with what goes wrong on the way. */
export const sendNetworkMessage = query({
  id: 'sandboxCardMessage',
  method: 'POST',
  path: '/sandbox/cards/:svcCardId/messages',
  tag: 'Sandbox',
  summary: 'Send message of the card network',
  description:
    'Plays the card network: sends an authorisation, capture, void, refund, advice or balance inquiry for a card to the card rail, signed, each time as a new message. `behaviour` plays what goes wrong: repeats, timeouts and messages out of order.',
  auth: 'none',
  envelope: 'response_code',
  sandboxOnly: true,
  params: CardParams,
  body: NetworkMessageRequest,
  result: NetworkMessages,
  errors: ['card_not_found'],

  mount(services) {
    const tokenOf = cardTokenLookup(services.database)
    // With the time of the message it is unique.
    let sent = 0
    const newStan = (): string => String(++sent % 1_000_000).padStart(6, '0')
    return async ({ params: { svcCardId }, body }) => {
      const token = (await tokenOf(svcCardId)) ?? fail('card_not_found')
      const transmissionTime = new Date(services.clock.now()).toISOString()
      const newIdentity = () => ({ stan: newStan(), transmissionTime })
      const [identity, reversal] = [newIdentity(), newIdentity()]
      const messages = []
      for (const message of messagesOf(body, identity, reversal))
        messages.push(await send(services, token, message))
      return { body: succeed({ messages }) }
    }
  },
})
