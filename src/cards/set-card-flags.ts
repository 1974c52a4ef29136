import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { command } from '../platform/http/operation.ts'
import { type Card, CHANNELS, type Channel, type ChannelFlags } from './card.ts'
import { type CardChangeOrder, cardChange, cardOrders } from './card-changes.ts'
import { CardRecord } from './card-record.ts'
import { CardParams } from './get-card.ts'

/** The flags that shall change, by channel; what is absent stays. */
export type WantedFlags = Readonly<Partial<Record<Channel, Partial<ChannelFlags>>>>

export interface SetCardFlags extends CardChangeOrder {
  readonly flags: WantedFlags
}

export const setCardFlagsSpec = cardChange<SetCardFlags>('setCardFlags', (card, { flags }): Card => {
  const channels = Object.fromEntries(
    CHANNELS.map((channel) => [channel, { ...card.channels[channel], ...flags[channel] }]),
  )
  return { ...card, channels: channels as Card['channels'] }
})

const flag = (channel: string) =>
  Type.Optional(
    Type.Boolean({ description: `${channel} use; stays without effect while the admin’s flag is off` }),
  )

/** Ours: the user's flags. The admin's flags are the operator's, by `svc card flags set`. */
export const setCardFlags = command({
  ...setCardFlagsSpec,
  id: 'setCardFlags',
  method: 'PATCH',
  path: '/api/v0/partner/svcCard/:svcCardId/flags',
  tag: 'Cards',
  summary: 'Set card flags',
  description:
    'Opens or closes a channel for the user. The admin’s flag of a channel takes precedence, and is not set here.',
  auth: 'partnerWithId',
  family: 'code',
  sealed: 'answer',
  headers: { partnerId: 'The partner’s id, shared at sign-up (required)' },
  params: CardParams,
  body: Type.Object(
    { posAllowed: flag('Point-of-sale'), atmAllowed: flag('ATM'), onlineAllowed: flag('Online') },
    { additionalProperties: false },
  ),
  result: CardRecord,
  errors: ['card_not_found'],

  prepare(services) {
    const orderOf = cardOrders(services)
    return ({ caller, params, body }): SetCardFlags => {
      const flags = Object.fromEntries(
        CHANNELS.flatMap((channel) => {
          const allowed = body[`${channel}Allowed`]
          return allowed === undefined ? [] : [[channel, { allowed }]]
        }),
      )
      if (Object.keys(flags).length === 0)
        fail('validation_failed', {
          description: 'posAllowed, atmAllowed, onlineAllowed: at least one of them is required',
        })
      return { ...orderOf(caller.tenantId, params.svcCardId), flags, actor: 'partner', reason: '' }
    }
  },
})
