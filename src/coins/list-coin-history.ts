import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { rfc3339 } from '../kernel/time.ts'
import { statement } from '../platform/db/statement.ts'
import { query, succeed } from '../platform/http/operation.ts'
import { PageOf, page } from '../platform/http/page.ts'
import { findUsers, UserParams } from './coin-user.ts'
import { PageQuery, readLimit, readNumberedCursor } from './page-query.ts'
import type { EntryKind } from './wallet.ts'

const text = Type.Optional(Type.String())

export const HistoryEntry = Type.Object(
  {
    entry: Type.Integer({ description: 'Counts the user’s entries from 1, without gaps' }),
    kind: Type.Enum(['ALLOCATED', 'REDEEMED', 'EXPIRED']),
    amount: Type.Integer({ description: 'Coins' }),
    balance: Type.Integer({ description: 'Active coins right after it' }),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    requestId: Type.Optional(Type.String({ description: 'Of the allocation or the redemption' })),
    allocationId: Type.Optional(
      Type.String({ description: 'The allocation; of `EXPIRED`, whose coins expired' }),
    ),
    event: text,
    coinConfigId: text,
    revision: Type.Optional(Type.Integer()),
    expiresOn: text,
    redemptionId: text,
    allocations: Type.Optional(
      Type.Array(
        Type.Object({ allocationId: Type.String(), amount: Type.Integer() }, { additionalProperties: false }),
        { description: 'Of `REDEEMED`: whose coins were spent' },
      ),
    ),
  },
  { title: 'CoinHistoryEntry', additionalProperties: false },
)

interface EntryRow {
  entry: bigint
  kind: EntryKind
  amount: bigint
  balance_after: bigint
  object_id: string
  created_at: Date
  request_id: string
  event: string | null
  coin_config_id: string | null
  revision: number | null
  expires_at: Date | null
  uses: { allocationId: string; amount: number }[] | null
}

const LIST = statement<EntryRow>(
  'coin_history_list',
  `select e.entry, e.kind, e.amount, e.balance_after, e.object_id, e.created_at,
     coalesce(l.request_id, r.request_id) as request_id, l.event, l.coin_config_id, l.revision, l.expires_at,
     (select json_agg(json_build_object('allocationId', u.lot_id, 'amount', u.amount) order by o.entry)
      from coin_lot_uses u join coin_lots o using (lot_id) where u.redemption_id = r.redemption_id) as uses
   from coin_entries e
     left join coin_lots l on l.lot_id = e.object_id and l.partner_id = e.partner_id
     left join coin_redemptions r on r.redemption_id = e.object_id and r.partner_id = e.partner_id
   where e.partner_id = $1 and e.user_id = $2 and ($3::bigint is null or e.entry < $3)
   order by e.entry desc limit $4`,
)

const common = (row: EntryRow, timeZone: string) => ({
  entry: Number(row.entry),
  kind: row.kind,
  amount: Number(row.amount),
  balance: Number(row.balance_after),
  createdOn: rfc3339(row.created_at, timeZone),
  requestId: row.request_id,
})

const toWire = (row: EntryRow, timeZone: string) =>
  row.kind === 'REDEEMED'
    ? { ...common(row, timeZone), redemptionId: row.object_id, allocations: row.uses ?? [] }
    : {
        ...common(row, timeZone),
        allocationId: row.object_id,
        event: row.event ?? undefined,
        coinConfigId: row.coin_config_id ?? undefined,
        revision: row.revision ?? undefined,
        expiresOn: row.expires_at ? rfc3339(row.expires_at, timeZone) : undefined,
      }

/** Ours (decision K3): what made a user's balance, newest first. */
export const listCoinHistory = query({
  id: 'listCoinHistory',
  method: 'GET',
  path: '/api/v0/svc-coins/users/:userId/history',
  tag: 'Coins',
  summary: 'List coin history of a user',
  description:
    'Every entry carries the balance after it. Coins past their time are no longer active from that instant on; their `EXPIRED` entry is written when they are next touched, or by the sweep within a minute.',
  auth: 'partner',
  family: 'response_code',
  params: UserParams,
  query: PageQuery,
  result: PageOf(HistoryEntry),
  errors: ['user_not_found'],

  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId }, params: { userId }, query }) => {
      const limit = readLimit(query.limit)
      const after = readNumberedCursor(query.after)
      const { users, rows } = await database.read([tenantId], async (tx) => {
        const [users, rows] = await Promise.all([
          findUsers(tx, [{ tenantId, userId }]),
          tx.query(LIST, [tenantId, userId, after, limit + 1]),
        ])
        return { users, rows }
      })
      if (users.size === 0) fail('user_not_found')
      const positionOf = (row: EntryRow) => ({ at: row.created_at, id: String(row.entry) })
      return { body: succeed(page(rows, limit, positionOf, (row) => toWire(row, timeZone))) }
    }
  },
})
