import { activateCard } from '@svc/core/cards/card/activate-card'
import type { CardChangeArgs, Changed } from '@svc/core/cards/card/card-changes'
import { CardRecord, cardFormOf, toCardRecord } from '@svc/core/cards/card/card-record'
import { changeCardStatus, type WantedStatus } from '@svc/core/cards/card/change-card-status'
import { setCardFlags } from '@svc/core/cards/card/set-card-flags'
import type { HttpResponse } from '@svc/platform/db/idempotency-store'
import { Type } from 'typebox'
import { Reason } from '../http/fields.ts'
import { NoFields, okWithCode, operation, type ReplyContext } from '../http/operation.ts'
import { CardParams, ofCards } from './get-card.ts'

const byPartner = (partnerId: string, svcCardId: string, reason = ''): CardChangeArgs => ({
  partnerId,
  svcCardId,
  actor: 'partner',
  reason,
})

const changedCard = ({ view }: Changed, { config }: ReplyContext): HttpResponse =>
  okWithCode(toCardRecord(view, cardFormOf(config)))

/** Not in the specification (decision C10). */
export const activateCardOperation = operation({
  ...ofCards('cards:write'),
  id: 'activateCard',
  method: 'POST',
  path: '/api/v0/partner/svcCard/:svcCardId/activate',
  summary: 'Activate physical card',
  description:
    'From `AP` to `UL`. Activating an active card returns it unchanged. Send `{}` or no body at all.',
  encrypted: 'response',
  params: CardParams,
  body: NoFields,
  result: CardRecord,
  errors: ['card_not_found', 'invalid_transition'],
  run: activateCard,
  args: ({ caller, params }) => byPartner(caller.tenantId, params.svcCardId),
  reply: changedCard,
})

/** Not in the specification (decision C10). */
export const changeCardStatusOperation = operation({
  ...ofCards('cards:write'),
  id: 'changeCardStatus',
  method: 'PATCH',
  path: '/api/v0/partner/svcCard/:svcCardId/status',
  summary: 'Lock, unlock or block card',
  description:
    'Locked (`L`) and unlocked (`UL`) go both ways; blocked (`BL`) is final and needs a reason. A card that already has the status is returned unchanged. A physical card that is not activated (`AP`) can only be activated or blocked.',
  encrypted: 'response',
  params: CardParams,
  body: Type.Object(
    {
      status: Type.Enum(['L', 'UL', 'BL']),
      reason: Type.Optional(Reason('Kept in the history and shown as `remarks`; required for `BL`')),
    },
    { additionalProperties: false },
  ),
  result: CardRecord,
  errors: ['card_not_found', 'invalid_transition'],
  run: changeCardStatus,
  args: ({ caller, params, body: { status, reason } }) => ({
    ...byPartner(caller.tenantId, params.svcCardId, reason),
    status: status as WantedStatus,
  }),
  reply: changedCard,
})

const flag = (channel: string) =>
  Type.Optional(
    Type.Boolean({ description: `${channel} use; stays without effect while the admin’s flag is off` }),
  )

/** Not in the specification: the user’s flags. The admin’s flags are the operator's, by `svc admin cards flags set`. */
export const setCardFlagsOperation = operation({
  ...ofCards('cards:write'),
  id: 'setCardFlags',
  method: 'PATCH',
  path: '/api/v0/partner/svcCard/:svcCardId/flags',
  summary: 'Set card flags',
  description:
    'Opens or closes a channel for the user. The admin’s flag of a channel takes precedence, and is not set here.',
  encrypted: 'response',
  params: CardParams,
  body: Type.Object(
    { posAllowed: flag('Point-of-sale'), atmAllowed: flag('ATM'), onlineAllowed: flag('Online') },
    { additionalProperties: false },
  ),
  result: CardRecord,
  errors: ['card_not_found'],
  run: setCardFlags,
  args: ({ caller, params, body: flags }) => ({ ...byPartner(caller.tenantId, params.svcCardId), flags }),
  reply: changedCard,
})
