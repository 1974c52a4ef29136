import { fail } from '@svc/contract/errors'
import { CHANNELS } from '@svc/core/cards/card/card'
import { CARD_ACTIONS } from '@svc/core/cards/card/card-changes'
import { CardRecord, cardFormOf, toCardRecord } from '@svc/core/cards/card/card-record'
import { KYC_STATUS_LABELS, type KycStatus } from '@svc/core/cards/card/card-states'
import { changeCardStatus, type WantedStatus } from '@svc/core/cards/card/change-card-status'
import { cardPartnerLookup } from '@svc/core/cards/card/find-card-partner'
import { setCardFlags } from '@svc/core/cards/card/set-card-flags'
import { setCardKyc } from '@svc/core/cards/card/set-card-kyc'
import type { Database } from '@svc/platform/db/database'
import { Reason } from '@svc/server/http/fields'
import { operation } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { auditOf } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam } from '../console-schema.ts'
import { requireRecentProof } from '../identity/proof-age.ts'

const TAG = 'Cards'
const PATH = `${CONSOLE_API}/cards/:svcCardId`

const params = idParam('svcCardId')

/** Whose card it is. Throws `card_not_found`. */
const requireCardPartner = async (database: Database, svcCardId: string): Promise<string> =>
  (await cardPartnerLookup(database)(svcCardId)) ?? fail('card_not_found')

/** For changes by hand: kept in the history of the card, and not in the audit, since it may name a person (decision O7). */
const RemarksReason = Reason('Kept in the history, shown to the partner as `remarks`')

export const changeCardStatusInConsole = operation({
  ...consoleOperation,
  id: 'console.changeCardStatus',
  method: 'POST',
  path: `${PATH}/status`,
  tag: TAG,
  summary: 'Lock, unlock or block card',
  description: 'Blocking is final and needs a recent sign-in.',
  permission: 'support',
  params,
  body: closed({
    status: Type.Enum(['L', 'UL', 'BL']),
    reason: RemarksReason,
  }),
  result: CardRecord,
  errors: ['card_not_found', 'invalid_transition', 'step_up_required'],
  run: changeCardStatus,
  args: async ({ body: { status, reason }, caller, params: { svcCardId } }, { database }) => {
    if (status === 'BL') requireRecentProof(caller)
    return {
      partnerId: await requireCardPartner(database, svcCardId),
      svcCardId,
      status: status as WantedStatus,
      actor: 'operator' as const,
      reason,
    }
  },
  audit: ({ partnerId, svcCardId, status }, input) =>
    auditOf(partnerId, input, {
      action: CARD_ACTIONS.changeCardStatus,
      target: svcCardId,
      details: { status },
    }),
  reply: ({ view }, { config }) => ({
    status: 200,
    body: JSON.stringify(toCardRecord(view, cardFormOf(config))),
  }),
})

export const setCardKycInConsole = operation({
  ...consoleOperation,
  id: 'console.setCardKyc',
  method: 'POST',
  path: `${PATH}/kyc`,
  tag: TAG,
  summary: 'Move the KYC of a card to its next state',
  description: 'Along the table of decision C19; its partner reads it.',
  permission: 'operations',
  params,
  body: closed({ kycStatus: Type.Enum(Object.keys(KYC_STATUS_LABELS)), reason: RemarksReason }),
  result: CardRecord,
  errors: ['card_not_found', 'invalid_transition'],
  run: setCardKyc,
  args: async ({ body: { kycStatus, reason }, params: { svcCardId } }, { database }) => ({
    partnerId: await requireCardPartner(database, svcCardId),
    svcCardId,
    kycStatus: kycStatus as KycStatus,
    actor: 'operator' as const,
    reason,
  }),
  audit: ({ partnerId, svcCardId, kycStatus }, input) =>
    auditOf(partnerId, input, {
      action: CARD_ACTIONS.setCardKyc,
      target: svcCardId,
      details: { kycStatus },
    }),
  reply: ({ view }, { config }) => ({
    status: 200,
    body: JSON.stringify(toCardRecord(view, cardFormOf(config))),
  }),
})

const Flags = Object.fromEntries(
  CHANNELS.flatMap((channel) => [`${channel}Allowed`, `${channel}AllowedAdmin`]).map((flag) => [
    flag,
    Type.Optional(Type.Boolean()),
  ]),
)

export const setCardFlagsInConsole = operation({
  ...consoleOperation,
  id: 'console.setCardFlags',
  method: 'POST',
  path: `${PATH}/flags`,
  tag: TAG,
  summary: 'Open or close the channels of a card',
  description: 'An admin flag that is off closes its channel whatever the user’s flag says.',
  permission: 'support',
  params,
  body: closed({ flags: closed(Flags), reason: RemarksReason }),
  result: CardRecord,
  errors: ['card_not_found'],
  run: setCardFlags,
  args: async ({ body: { flags, reason }, params: { svcCardId } }, { database }) => ({
    partnerId: await requireCardPartner(database, svcCardId),
    svcCardId,
    flags,
    actor: 'operator' as const,
    reason,
  }),
  audit: ({ partnerId, svcCardId, flags }, input) =>
    auditOf(partnerId, input, {
      action: CARD_ACTIONS.setCardFlags,
      target: svcCardId,
      details: { ...(flags as Record<string, boolean>) },
    }),
  reply: ({ view }, { config }) => ({
    status: 200,
    body: JSON.stringify(toCardRecord(view, cardFormOf(config))),
  }),
})
