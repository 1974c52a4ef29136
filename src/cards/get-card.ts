import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { query, succeedWithCode } from '../platform/http/operation.ts'
import { CardRecord, toCardRecord } from './card-record.ts'
import { cardLookup } from './card-view.ts'

export const CardParams = Type.Object({
  svcCardId: Type.String({ description: 'The id that the create operation answered' }),
})

/** Ours: one card, the full record as its creation answered it, with today's state and balance. */
export const getCard = query({
  id: 'getCard',
  method: 'GET',
  path: '/api/v0/partner/svcCard/:svcCardId',
  tag: 'Cards',
  summary: 'Get card',
  auth: 'partnerWithId',
  family: 'code',
  sealed: 'answer',
  headers: { partnerId: 'The partner’s id, shared at sign-up (required)' },
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
