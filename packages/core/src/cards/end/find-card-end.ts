import { fail } from '@svc/contract/errors'
import { calendarDay, rfc3339 } from '@svc/kernel/time'
import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { type Card, cards, looksLikeCardId } from '../card/card.ts'
import { expiryOf } from './card-end.ts'
import { type CardReturn, CardReturnRecord, cardReturns, returnToWire } from './card-return.ts'

const RETURNS = statement<CardReturn>(
  'card_end_returns',
  `select ${cardReturns.columns} from card_returns u where u.partner_id = $1 and u.svc_card_id = $2
   order by u.created_at desc, u.return_id desc limit 100`,
)
const RETURN = statement<CardReturn>(
  'card_return_find',
  `select ${cardReturns.columns} from card_returns u where u.return_id = $1`,
)

const optional = (description: string) => Type.Optional(Type.String({ description }))

/** The end of a card: when it expires or died, what has replaced it, and where its money went. */
export const CardEndRecord = Type.Object(
  {
    svcCardId: Type.String(),
    lastDay: Type.String({ description: 'The last day on which it is valid, `YYYY-MM-DD`' }),
    endedOn: optional('RFC 3339: since when it is blocked or expired'),
    unclaimedOn: optional('RFC 3339: when what is left on it then begins to return to its card account'),
    replaces: optional('The card that it replaced'),
    replacedBy: optional('The card that has replaced it'),
    returns: Type.Array(CardReturnRecord, { description: 'Newest first, at most 100' }),
  },
  { title: 'CardEnd', additionalProperties: false },
)

const endToWire = (card: Card, returns: readonly CardReturn[], timeZone: string) => ({
  svcCardId: card.svcCardId,
  lastDay: calendarDay(new Date(expiryOf(card, timeZone).getTime() - 1), timeZone),
  endedOn: card.endedAt ? rfc3339(card.endedAt, timeZone) : undefined,
  unclaimedOn: card.unclaimedAt ? rfc3339(card.unclaimedAt, timeZone) : undefined,
  replaces: card.replaces ?? undefined,
  replacedBy: card.replacedBy ?? undefined,
  returns: returns.map((returned) => returnToWire(returned, timeZone)),
})

/** The end of a partner’s own card; fails for those of others and for ids that cannot be ours. */
export const cardEndLookup =
  (database: Database, timeZone: string) => async (partnerId: string, svcCardId: string) => {
    if (!looksLikeCardId(svcCardId)) fail('card_not_found')
    return database.read([partnerId], async (tx) => {
      const [[card], returns] = await Promise.all([
        tx.query(cards.find, cards.keys([{ partnerId, svcCardId }])),
        tx.query(RETURNS, [partnerId, svcCardId]),
      ])
      return endToWire(card ?? fail('card_not_found'), returns, timeZone)
    })
  }

/** For operators, who know no partner. */
export const findReturn = async (tx: Tx, returnId: string): Promise<CardReturn | undefined> =>
  (await tx.query(RETURN, [returnId]))[0]
