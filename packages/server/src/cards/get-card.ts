import { fail } from '@svc/contract/errors'
import { CardRecord, toCardRecord } from '@svc/core/cards/card-record'
import { cardLookup } from '@svc/core/cards/card-view'
import { Type } from 'typebox'
import { PARTNER_ID, query, succeedWithCode } from '../http/operation.ts'

export const CardParams = Type.Object({
  svcCardId: Type.String({ description: 'The id that the create operation returned' }),
})

/** Ours: one card, the full record as its creation returned it, with today's state and balance. */
export const getCard = query({
  id: 'getCard',
  method: 'GET',
  path: '/api/v0/partner/svcCard/:svcCardId',
  tag: 'Cards',
  summary: 'Get card',
  auth: 'partnerWithId',
  scope: 'cards:read',
  envelope: 'code',
  encrypted: 'response',
  headers: { partnerId: PARTNER_ID },
  params: CardParams,
  result: CardRecord,
  errors: ['card_not_found'],

  mount({ clock, config, database }) {
    const find = cardLookup(database, clock, config.BUSINESS_TIME_ZONE)
    return async ({ caller, params }) => {
      const view = (await find(caller.tenantId, params.svcCardId)) ?? fail('card_not_found')
      return { body: succeedWithCode(toCardRecord(view, config.BUSINESS_TIME_ZONE)) }
    }
  },
})
