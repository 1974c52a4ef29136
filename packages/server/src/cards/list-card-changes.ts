import { fail } from '@svc/contract/errors'
import { cardChanges } from '@svc/core/cards/card/card-changes'
import { cardLookup } from '@svc/core/cards/card/card-view'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { RowOf } from '@svc/platform/db/table'
import { Type } from 'typebox'
import { PARTNER_ID, query, succeedWithCode } from '../http/operation.ts'
import { LIMIT_MAX, PageOf, PageQuery, type Position, page, readPage } from '../http/page.ts'
import { CardParams } from './get-card.ts'

type CardChange = RowOf<typeof cardChanges>

const LIST = statement<CardChange>(
  'card_changes_of_card',
  `select ${cardChanges.columns} from card_changes h
   where h.partner_id = $1 and h.svc_card_id = $2
     and ($3::timestamptz is null or (h.created_at, h.change_id) < ($3, $4::text))
   order by h.created_at desc, h.change_id desc limit $5`,
)

export const CardChangeRecord = Type.Object(
  {
    changeId: Type.String(),
    field: Type.String({
      description: '`cardStatus`, `kycStatus`, `cardActivated` or a flag such as `posAllowed`',
    }),
    from: Type.String(),
    to: Type.String(),
    actor: Type.Enum(['partner', 'operator']),
    reason: Type.String({ 'x-personal': 'text' }),
    createdOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'CardChange', additionalProperties: false },
)

const toWire = (change: CardChange, timeZone: string) => ({
  changeId: change.changeId,
  field: change.field,
  from: change.fromValue ?? '',
  to: change.toValue,
  actor: change.actor,
  reason: change.reason,
  createdOn: rfc3339(change.createdAt, timeZone),
})

/** What happened to a card, newest first; `limit` and one more, which shows whether there is another page. */
const readChanges = (
  tx: Tx,
  partnerId: string,
  svcCardId: string,
  { after, limit }: { after?: Position | undefined; limit: number },
) => tx.query(LIST, [partnerId, svcCardId, after?.at, after?.id, limit + 1])

/** The newest changes of a card as the API shows them, for the command line. */
export async function newestChanges(tx: Tx, partnerId: string, svcCardId: string, timeZone: string) {
  const rows = await readChanges(tx, partnerId, svcCardId, { limit: LIMIT_MAX })
  return rows.slice(0, LIMIT_MAX).map((row) => toWire(row, timeZone))
}

/** Ours (decision C10): every change of a card with time, actor and reason, newest first. */
export const listCardChanges = query({
  id: 'listCardChanges',
  method: 'GET',
  path: '/api/v0/partner/svcCard/:svcCardId/history',
  tag: 'Cards',
  summary: 'List changes of card',
  auth: 'partnerWithId',
  scope: 'cards:read',
  envelope: 'code',
  headers: { partnerId: PARTNER_ID },
  params: CardParams,
  query: PageQuery,
  result: PageOf(CardChangeRecord),
  errors: ['card_not_found'],

  mount({ clock, config, database }) {
    const timeZone = config.BUSINESS_TIME_ZONE
    const find = cardLookup(database, clock, timeZone)
    return async ({ caller: { tenantId }, params: { svcCardId }, query }) => {
      const { limit, after } = readPage(query)
      if (!(await find(tenantId, svcCardId))) fail('card_not_found')
      const rows = await database.read([tenantId], (tx) =>
        readChanges(tx, tenantId, svcCardId, { after, limit }),
      )
      const positionOf = ({ createdAt: at, changeId: id }: CardChange) => ({ at, id })
      return { body: succeedWithCode(page(rows, limit, positionOf, (row) => toWire(row, timeZone))) }
    }
  },
})
