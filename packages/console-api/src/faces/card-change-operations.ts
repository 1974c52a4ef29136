import { failField } from '@svc/contract/fail-fields'
import { activateCard } from '@svc/core/cards/card/activate-card'
import { CHANNELS } from '@svc/core/cards/card/card'
import { CARD_ACTIONS, type CardChangeArgs, type Changed } from '@svc/core/cards/card/card-changes'
import { CardRecord, cardFormOf, toCardRecord } from '@svc/core/cards/card/card-record'
import { KYC_STATUS_LABELS, type KycStatus } from '@svc/core/cards/card/card-states'
import { changeCardStatus, type WantedStatus } from '@svc/core/cards/card/change-card-status'
import { setCardFlags } from '@svc/core/cards/card/set-card-flags'
import { setCardKyc } from '@svc/core/cards/card/set-card-kyc'
import type { AnyCommand } from '@svc/platform/command'
import { Reason } from '@svc/server/http/fields'
import { type Caller, type Operation, operation } from '@svc/server/http/operation'
import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { auditOf } from '../as-operator.ts'
import { closed, consoleOperation, idParam } from '../console-schema.ts'
import type { Permission } from '../identity/permissions.ts'
import { requireRecentProof } from '../identity/proof-age.ts'
import { CARDS, requireCardPartner } from './card-operations.ts'

/** For changes by hand: kept in the history of the card, and not in the audit, since it may name a person (decision O7). */
const RemarksReason = Reason('Kept in the history, shown to the partner as `remarks`')

interface Change<F extends TProperties, Args> extends Pick<Operation, 'id' | 'summary' | 'errors'> {
  /** After the card's own path. */
  readonly path: string
  readonly description?: string
  readonly permission: Permission
  /** What changes, besides the reason. */
  readonly fields: F
  readonly run: AnyCommand<Args, Changed>
  readonly action: (typeof CARD_ACTIONS)[keyof typeof CARD_ACTIONS]
  readonly args: (by: CardChangeArgs, wanted: Static<TObject<F>>, caller: Caller) => Args
}

/** A change of a card by an operator. */
const change = <F extends TProperties, Args extends CardChangeArgs>({
  path,
  fields,
  action,
  args,
  ...contract
}: Change<F, Args>) =>
  operation({
    ...consoleOperation,
    ...contract,
    method: 'POST',
    path: `${CARDS}/:svcCardId/${path}`,
    tag: 'Cards',
    params: idParam('svcCardId'),
    body: closed({ ...fields, reason: RemarksReason }) as TObject<{ reason: typeof RemarksReason }>,
    result: CardRecord,
    args: async ({ body: { reason, ...wanted }, caller, params: { svcCardId } }, { database }) => {
      const partnerId = await requireCardPartner(database, svcCardId)
      return args({ partnerId, svcCardId, actor: 'operator', reason }, wanted as Static<TObject<F>>, caller)
    },
    audit: ({ partnerId, svcCardId }, { body: { reason: _reason, ...wanted }, ...input }) =>
      auditOf(partnerId, input, { action, target: svcCardId, details: { ...wanted } }),
    reply: ({ view }, { config, ok }) => ok(toCardRecord(view, cardFormOf(config))),
  })

export const changeCardStatusInConsole = change({
  id: 'console.changeCardStatus',
  path: 'status',
  summary: 'Lock, unlock or block card',
  description: 'Blocking is final and needs a recent sign-in.',
  permission: 'support',
  fields: { status: Type.Enum(['L', 'UL', 'BL']) },
  errors: ['card_not_found', 'invalid_transition', 'step_up_required'],
  run: changeCardStatus,
  action: CARD_ACTIONS.changeCardStatus,
  args: (by, { status }, caller) => {
    if (status === 'BL') requireRecentProof(caller)
    return { ...by, status: status as WantedStatus }
  },
})

export const activateCardInConsole = change({
  id: 'console.activateCard',
  path: 'activate',
  summary: 'Activate physical card that has arrived',
  permission: 'support',
  fields: {},
  errors: ['card_not_found', 'invalid_transition'],
  run: activateCard,
  action: CARD_ACTIONS.activateCard,
  args: (by) => by,
})

export const setCardKycInConsole = change({
  id: 'console.setCardKyc',
  path: 'kyc',
  summary: 'Move the KYC of a card to its next state',
  description: 'Along the table of decision C19; its partner reads it.',
  permission: 'operations',
  fields: { kycStatus: Type.Enum(Object.keys(KYC_STATUS_LABELS)) },
  errors: ['card_not_found', 'invalid_transition'],
  run: setCardKyc,
  action: CARD_ACTIONS.setCardKyc,
  args: (by, { kycStatus }) => ({ ...by, kycStatus: kycStatus as KycStatus }),
})

const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const Flags = Object.fromEntries(
  CHANNELS.flatMap((channel) => [
    [`${channel}Allowed`, flag(`${channel} use, by the holder’s flag`)],
    [`${channel}AllowedAdmin`, flag(`${channel} use, by the admin’s flag: off closes the channel`)],
  ]),
)

export const setCardFlagsInConsole = change({
  id: 'console.setCardFlags',
  path: 'flags',
  summary: 'Open or close the channels of a card',
  description: 'An admin flag that is off closes its channel whatever the user’s flag says.',
  permission: 'support',
  fields: Flags,
  errors: ['card_not_found'],
  run: setCardFlags,
  action: CARD_ACTIONS.setCardFlags,
  args: (by, flags) =>
    Object.keys(flags).length === 0
      ? failField('reason', 'at_least_one', 'is not enough: one flag must be sent with it')
      : { ...by, flags },
})
