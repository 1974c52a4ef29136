import { FUNDING_MAX_PAISE } from '@svc/core/cards/account/card-account'
import { CardLoadRecord, loadToWire } from '@svc/core/cards/card/card-load'
import { type LoadCard, type Loading, loadCard, unloadCard } from '@svc/core/cards/card/load-card'
import { carriedOut, type WaitingApproval } from '@svc/core/ledger/money-command'
import { paiseToWire } from '@svc/kernel/money'
import { Type } from 'typebox'
import { Reason, Rupees, readRupees } from '../http/fields.ts'
import { commandContract, operation, type ReplyContext } from '../http/operation.ts'
import { CardParams, ofCards } from './get-card.ts'

export const LOAD_FIELDS = {
  amount: Rupees({
    minimum: 0.01,
    maximum: paiseToWire(FUNDING_MAX_PAISE),
    description: 'Rupees',
  }),
  referenceNumber: Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[!-~]+$',
    'x-rule': 'must have 1 to 64 visible ASCII characters',
    description: 'Your own reference: names one load or unload',
  }),
}

/** Of one load or unload. */
export const LOAD_BODY = Type.Object(
  {
    ...LOAD_FIELDS,
    reason: Type.Optional(Reason('For your own use; name no person')),
  },
  { additionalProperties: false },
)

interface Request {
  readonly caller: { readonly tenantId: string }
  readonly params: { readonly svcCardId: string }
  readonly body: { readonly amount: number; readonly referenceNumber: string; readonly reason?: string }
}

const argsOf = ({ caller, params, body: { amount, referenceNumber, reason } }: Request): LoadCard => ({
  partnerId: caller.tenantId,
  svcCardId: params.svcCardId,
  amountPaise: readRupees('amount', amount),
  referenceNumber,
  reason,
})

const reply = (outcome: Loading | WaitingApproval, { ok, timeZone }: ReplyContext) =>
  ok(loadToWire(carriedOut(outcome).load, timeZone))

const shared = {
  ...ofCards('cards:write'),
  method: 'POST',
  params: CardParams,
  body: LOAD_BODY,
  result: CardLoadRecord,
  args: argsOf,
  reply,
} as const

const REPEATS =
  'Under one `referenceNumber` a repeat of the same request returns the first response; another request is 409.'

/** Not in the specification (decision C26). */
export const loadCardContract = commandContract({
  ...shared,
  id: 'loadCard',
  path: '/api/v0/partner/svcCard/:svcCardId/loads',
  summary: 'Load card again',
  description: `Moves money from the card account to the card, within the limits of CARD_LOAD_LIMITS for its account type. A gift card is loaded once. ${REPEATS}`,
  errors: loadCard.approval.failures,
  run: loadCard,
})
export const loadCardOperation = operation(loadCardContract)

/** Not in the specification (decision C26). */
export const unloadCardContract = commandContract({
  ...shared,
  id: 'unloadCard',
  path: '/api/v0/partner/svcCard/:svcCardId/unloads',
  summary: 'Unload card',
  description: `Takes money that is neither spent nor held back to the card account, where that has \`unallocateFundAllowed\`. What is left on a blocked or expired card returns by another way. ${REPEATS}`,
  errors: unloadCard.approval.failures,
  run: unloadCard,
})
export const unloadCardOperation = operation(unloadCardContract)
