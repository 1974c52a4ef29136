import { Type } from 'typebox'
import type { Tx } from '../platform/db/database.ts'
import { columns, statement } from '../platform/db/statement.ts'

const USERS = statement<{ partner_id: string; user_id: string; company_id: string }>(
  'coins_users',
  `select partner_id, user_id, company_id from users
   where (partner_id, user_id) in (select * from unnest($1::text[], $2::text[]))`,
)

export const userKey = (partnerId: string, userId: string): string => `${partnerId} ${userId}`

/** The company of each user that exists, by `userKey`; nobody finds another partner's. */
export async function findUsers(
  tx: Tx,
  wanted: readonly { readonly tenantId: string; readonly userId: string }[],
): Promise<Map<string, string>> {
  const keys = columns(
    wanted,
    (w) => w.tenantId,
    (w) => w.userId,
  )
  const rows = await tx.query(USERS, keys)
  return new Map(rows.map((row) => [userKey(row.partner_id, row.user_id), row.company_id]))
}

/** Ids are opaque (decision A12): whatever is sent is looked up, and what cannot be an id is not found. */
export const UserId = Type.String({ maxLength: 64, description: 'A user of a company of the partner' })
export const UserParams = Type.Object({
  userId: Type.String({ description: 'A user of a company of the partner' }),
})

/** Exactly once is by this id. */
export const RequestId = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,63}$',
  'x-rule': 'must be 1 to 64 letters, digits and _ . : / -, the first of them a letter or a digit',
  description: 'The partner’s id of this one intent: however often it is sent, it happens once',
})
