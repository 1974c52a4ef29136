import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { rfc3339 } from '../kernel/time.ts'
import type { Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import { query, succeedWithCode } from '../platform/http/operation.ts'
import {
  Cursor,
  LIMIT_DEFAULT,
  LIMIT_MAX,
  PageOf,
  type Position,
  page,
  readCursor,
} from '../platform/http/page.ts'
import { cardLookup } from './card-view.ts'
import { CardParams } from './get-card.ts'

interface ChangeRow {
  change_id: string
  field: string
  from_value: string | null
  to_value: string
  actor: string
  reason: string
  created_at: Date
}

const LIST = statement<ChangeRow>(
  'card_changes_of_card',
  `select change_id, field, from_value, to_value, actor, reason, created_at from card_changes
   where partner_id = $1 and svc_card_id = $2
     and ($3::timestamptz is null or (created_at, change_id) < ($3, $4::text))
   order by created_at desc, change_id desc limit $5`,
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
    reason: Type.String(),
    createdOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'CardChange', additionalProperties: false },
)

const toWire = (row: ChangeRow, timeZone: string) => ({
  changeId: row.change_id,
  field: row.field,
  from: row.from_value ?? '',
  to: row.to_value,
  actor: row.actor,
  reason: row.reason,
  createdOn: rfc3339(row.created_at, timeZone),
})

/** What happened to a card, newest first; `limit` and one more, which tells whether there is another page. */
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
  family: 'code',
  headers: { partnerId: 'The partner’s id, shared at sign-up (required)' },
  params: CardParams,
  query: Type.Object(
    {
      limit: Type.Optional(
        Type.String({
          pattern: '^[0-9]{1,3}$',
          'x-rule': `must be a whole number from 1 to ${LIMIT_MAX}`,
          description: `Records a page, ${LIMIT_DEFAULT} by default, ${LIMIT_MAX} at most`,
        }),
      ),
      after: Type.Optional(Cursor),
    },
    { additionalProperties: false },
  ),
  result: PageOf(CardChangeRecord),
  errors: ['card_not_found'],

  mount({ clock, config, database }) {
    const timeZone = config.BUSINESS_TIME_ZONE
    const find = cardLookup(database, clock, timeZone)
    return async ({ caller: { tenantId }, params: { svcCardId }, query }) => {
      const limit = query.limit === undefined ? LIMIT_DEFAULT : Number(query.limit)
      if (limit < 1 || limit > LIMIT_MAX)
        fail('validation_failed', { description: `limit: must be a whole number from 1 to ${LIMIT_MAX}` })
      const after = readCursor(query.after)
      if (!(await find(tenantId, svcCardId))) fail('card_not_found')
      const rows = await database.read([tenantId], (tx) =>
        readChanges(tx, tenantId, svcCardId, { after, limit }),
      )
      const positionOf = (row: ChangeRow) => ({ at: row.created_at, id: row.change_id })
      return { body: succeedWithCode(page(rows, limit, positionOf, (row) => toWire(row, timeZone))) }
    }
  },
})
