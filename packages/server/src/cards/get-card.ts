import { fail } from '@svc/contract/errors'
import { readCardAsOf } from '@svc/core/cards/card/card-as-of'
import { CardRecord, type CardView, cardFormOf, toCardRecord } from '@svc/core/cards/card/card-record'
import { type CardAt, cardLookup } from '@svc/core/cards/card/card-view'
import { openToBuy } from '@svc/core/cards/rail/open-to-buy'
import { paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Database } from '@svc/platform/db/database'
import { Type } from 'typebox'
import { AsOfQuery, readAsOf } from '../http/as-of.ts'
import { PARTNER_ID, query, succeedWithCode, tenantOperations } from '../http/operation.ts'

export const ofCards = tenantOperations({
  tag: 'Cards',
  auth: 'partnerWithId',
  envelope: 'code',
  headers: { partnerId: PARTNER_ID },
})

export const CardParams = Type.Object({
  svcCardId: Type.String({ description: 'The id that the create operation returned' }),
})

const findAsOf = (database: Database, card: CardAt, timeZone: string): Promise<CardView | undefined> =>
  database.read([card.partnerId], (tx) => readCardAsOf(tx, card, timeZone))

/** Ours: one card, the full record as its creation returned it, with today's state and balance. */
export const getCard = query({
  ...ofCards('cards:read'),
  id: 'getCard',
  method: 'GET',
  path: '/api/v0/partner/svcCard/:svcCardId',
  summary: 'Get card',
  encrypted: 'response',
  params: CardParams,
  query: AsOfQuery,
  result: CardRecord,
  errors: ['card_not_found'],

  mount({ clock, config, database }) {
    const find = cardLookup(database, clock, config.BUSINESS_TIME_ZONE)
    return async ({ caller: { tenantId }, params: { svcCardId }, query }) => {
      const at = readAsOf(query, clock, tenantId)
      const view = await (at
        ? findAsOf(database, { partnerId: tenantId, svcCardId, at }, config.BUSINESS_TIME_ZONE)
        : find(tenantId, svcCardId))
      if (!view) fail('card_not_found')
      return { body: succeedWithCode(toCardRecord(view, cardFormOf(config))) }
    }
  },
})

const rupees = (description: string) => Type.Number({ description: `Rupees: ${description}` })

const CardBalance = Type.Object(
  {
    svcCardId: Type.String(),
    balance: rupees('the balance'),
    held: rupees('what the card network holds of it'),
    openToBuy: rupees('the balance less what is held'),
    asOf: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'CardBalance', additionalProperties: false },
)

/** Ours: the record rounds to whole rupees (decision C8). */
export const getCardBalance = query({
  ...ofCards('cards:read'),
  id: 'getCardBalance',
  method: 'GET',
  path: '/api/v0/partner/svcCard/:svcCardId/balance',
  summary: 'Get exact balance',
  description: 'To the paisa: the card record has whole rupees.',
  params: CardParams,
  query: AsOfQuery,
  result: CardBalance,
  errors: ['card_not_found'],

  mount({ clock, config, database }) {
    const find = cardLookup(database, clock, config.BUSINESS_TIME_ZONE)
    return async ({ caller: { tenantId }, params: { svcCardId }, query }) => {
      const at = readAsOf(query, clock, tenantId)
      const view = await (at
        ? findAsOf(database, { partnerId: tenantId, svcCardId, at }, config.BUSINESS_TIME_ZONE)
        : find(tenantId, svcCardId))
      if (!view) fail('card_not_found')
      const balance = {
        svcCardId,
        balance: paiseToWire(view.balancePaise),
        held: paiseToWire(view.heldPaise),
        openToBuy: paiseToWire(openToBuy(view)),
        asOf: rfc3339(at ?? new Date(clock.of(tenantId).now()), config.BUSINESS_TIME_ZONE),
      }
      return { headers: { 'cache-control': 'no-store' }, body: succeedWithCode(balance) }
    }
  },
})
