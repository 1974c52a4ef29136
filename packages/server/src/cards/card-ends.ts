import type { CardChangeArgs } from '@svc/core/cards/card/card-changes'
import { CardRecord, cardFormOf, toCardRecord } from '@svc/core/cards/card/card-record'
import { replaceCard } from '@svc/core/cards/card/replace-card'
import { CardReturnRecord, returnToWire } from '@svc/core/cards/end/card-return'
import { CardEndRecord, cardEndLookup } from '@svc/core/cards/end/find-card-end'
import { CONSENT_REFERENCE_CHARS_MAX, returnCard } from '@svc/core/cards/end/return-card'
import { Type } from 'typebox'
import { Reason } from '../http/fields.ts'
import { commandContract, operation, query, succeedWithCode } from '../http/operation.ts'
import { CardParams, ofCards } from './get-card.ts'

/** Not in the specification (decision C21). */
export const replaceCardContract = commandContract({
  ...ofCards('cards:write'),
  id: 'replaceCard',
  method: 'POST',
  path: '/api/v0/partner/svcCard/:svcCardId/replace',
  summary: 'Replace card',
  description:
    'Creates a new card with a new number and moves the balance to it; the old card is blocked for good. Lost, stolen and expired cards are replaced. What the card network holds stays on the old card until it is captured or released, then the rest follows. A replaced card returns its replacement again. The response is the new card.',
  params: CardParams,
  body: Type.Object(
    {
      reason: Reason('Kept in the history of the old card and shown as its `remarks`'),
    },
    { additionalProperties: false },
  ),
  result: CardRecord,
  errors: ['card_not_found', 'user_erased', 'nothing_left', 'return_waiting'],
  run: replaceCard,
  args: ({ caller, params, body: { reason } }): CardChangeArgs => ({
    partnerId: caller.tenantId,
    svcCardId: params.svcCardId,
    actor: 'partner',
    reason,
  }),
  reply: ({ replacement }, { config, ok }) => ok(toCardRecord(replacement, cardFormOf(config))),
})
export const replaceCardOperation = operation({ ...replaceCardContract, encrypted: 'response' })

/** Not in the specification (decision C21). */
export const returnCardContract = commandContract({
  ...ofCards('cards:write'),
  id: 'returnCard',
  method: 'POST',
  path: '/api/v0/partner/svcCard/:svcCardId/return',
  summary: 'Return balance to card account',
  description:
    'Sends what is left on a blocked or expired card back to the card account that funded it. Requires the holder’s consent, which you record: `consentReference` names the record, and a repeat with it returns the first return. The money waits for CARD_RETURN_WAIT_DAYS before it arrives.',
  params: CardParams,
  body: Type.Object(
    {
      consentReference: Type.String({
        minLength: 1,
        maxLength: CONSENT_REFERENCE_CHARS_MAX,
        pattern: '^[!-~]+$',
        'x-rule': `must have 1 to ${CONSENT_REFERENCE_CHARS_MAX} visible ASCII characters`,
        description: 'Your reference of the record of the holder’s consent',
      }),
    },
    { additionalProperties: false },
  ),
  result: CardReturnRecord,
  errors: ['card_not_found', 'card_not_ended', 'nothing_left', 'return_waiting'],
  run: returnCard,
  args: ({ caller, params, body: { consentReference } }) => ({
    partnerId: caller.tenantId,
    svcCardId: params.svcCardId,
    consentReference,
  }),
  reply: ({ returned }, { ok, timeZone }) => ok(returnToWire(returned, timeZone)),
})
export const returnCardOperation = operation(returnCardContract)

/** Not in the specification (decision C21). */
export const getCardEnd = query({
  ...ofCards('cards:read'),
  id: 'getCardEnd',
  method: 'GET',
  path: '/api/v0/partner/svcCard/:svcCardId/end',
  summary: 'Get end of card',
  description:
    'The last day of a card, since when it is blocked or expired, the card that it replaced or that has replaced it, and what was returned to its card account.',
  params: CardParams,
  result: CardEndRecord,
  errors: ['card_not_found'],

  mount({ config, database }) {
    const find = cardEndLookup(database, config.BUSINESS_TIME_ZONE)
    return async ({ caller, params }) => ({
      body: succeedWithCode(await find(caller.tenantId, params.svcCardId)),
    })
  },
})
