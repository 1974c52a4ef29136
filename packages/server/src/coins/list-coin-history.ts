import { fail } from '@svc/contract/errors'
import { coinEntries, type WalletEntry } from '@svc/core/coins/wallet'
import { findUsers } from '@svc/core/tenants/user'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { query, succeed } from '../http/operation.ts'
import { PageOf, PageQuery, page, readLimit, readNumberedCursor } from '../http/page.ts'
import { UserParams } from './user-params.ts'

const text = Type.Optional(Type.String())

export const HistoryEntry = Type.Object(
  {
    entry: Type.Integer({ description: 'Counts the user’s entries from 1, without gaps' }),
    kind: Type.Enum(
      ['ALLOCATED', 'PENDING', 'ACTIVATED', 'REDEEMED', 'EXPIRED', 'VOIDED', 'PENDING_VOIDED'],
      { description: '`PENDING` and `PENDING_VOIDED` leave the active coins as they are' },
    ),
    amount: Type.Integer({ description: 'Coins' }),
    balance: Type.Integer({ description: 'Active coins right after it' }),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    requestId: Type.Optional(Type.String({ description: 'Of the allocation, the redemption or the void' })),
    allocationId: Type.Optional(
      Type.String({
        description: 'The allocation; of `EXPIRED`, whose coins expired; of a void, which was voided',
      }),
    ),
    event: text,
    coinConfigId: text,
    revision: Type.Optional(Type.Integer()),
    activatesOn: Type.Optional(
      Type.String({ description: 'Of `PENDING`: when it becomes active by itself' }),
    ),
    expiresOn: text,
    redemptionId: text,
    voidId: text,
    reason: Type.Optional(Type.String({ description: 'Of a void', 'x-personal': 'text' })),
    shortfall: Type.Optional(
      Type.Integer({ description: 'Of a void: spent coins of the allocation that nothing replaced' }),
    ),
    allocations: Type.Optional(
      Type.Array(
        Type.Object({ allocationId: Type.String(), amount: Type.Integer() }, { additionalProperties: false }),
        { description: 'Of `REDEEMED` and `VOIDED`: whose coins were taken' },
      ),
    ),
  },
  { title: 'CoinHistoryEntry', additionalProperties: false },
)

/** An entry with the allocation or the redemption that it is of. */
type ListedEntry = WalletEntry & {
  readonly requestId: string
  readonly event: string | null
  readonly coinConfigId: string | null
  readonly revision: number | null
  readonly expiresAt: Date | null
  readonly activatesAt: Date | null
  readonly voidedLotId: string | null
  readonly reason: string | null
  readonly shortfall: bigint | null
  readonly uses: readonly { readonly allocationId: string; readonly amount: number }[] | null
}

const LIST = statement<ListedEntry>(
  'coin_history_list',
  `select ${coinEntries.columns}, coalesce(l.request_id, r.request_id, v.request_id) as "requestId", l.event,
     l.coin_config_id as "coinConfigId", l.revision, l.expires_at as "expiresAt", l.activates_at as "activatesAt",
     v.lot_id as "voidedLotId", v.reason, v.shortfall,
     case when v.void_id is not null then (
       select json_agg(json_build_object('allocationId', k.lot_id, 'amount', k.amount) order by o.entry)
       from coin_void_takes k join coin_lots o using (partner_id, lot_id)
       where k.partner_id = v.partner_id and k.void_id = v.void_id)
     else (select json_agg(json_build_object('allocationId', u.lot_id, 'amount', u.amount) order by o.entry)
      from coin_lot_uses u join coin_lots o using (partner_id, lot_id)
      where u.partner_id = r.partner_id and u.redemption_id = r.redemption_id) end as uses
   from coin_entries e
     left join coin_lots l on l.lot_id = e.object_id and l.partner_id = e.partner_id
     left join coin_voids v on v.void_id = e.object_id and v.partner_id = e.partner_id
     left join coin_redemptions r on r.redemption_id = e.object_id and r.partner_id = e.partner_id
   where e.partner_id = $1 and e.user_id = $2 and ($3::bigint is null or e.entry < $3)
   order by e.entry desc limit $4`,
)

const common = (entry: ListedEntry, timeZone: string) => ({
  entry: Number(entry.entry),
  kind: entry.kind,
  amount: Number(entry.amount),
  balance: Number(entry.balanceAfter),
  createdOn: rfc3339(entry.createdAt, timeZone),
  requestId: entry.requestId,
})

function toWire(entry: ListedEntry, timeZone: string) {
  const all = common(entry, timeZone)
  const date = (at: Date | null) => (at ? rfc3339(at, timeZone) : undefined)
  switch (entry.kind) {
    case 'REDEEMED':
      return { ...all, redemptionId: entry.objectId, allocations: entry.uses ?? [] }
    case 'VOIDED':
    case 'PENDING_VOIDED':
      return {
        ...all,
        voidId: entry.objectId,
        allocationId: entry.voidedLotId ?? undefined,
        reason: entry.reason ?? undefined,
        shortfall: Number(entry.shortfall),
        allocations: entry.uses ?? [],
      }
    default:
      return {
        ...all,
        allocationId: entry.objectId,
        event: entry.event ?? undefined,
        coinConfigId: entry.coinConfigId ?? undefined,
        revision: entry.revision ?? undefined,
        activatesOn: entry.kind === 'PENDING' ? date(entry.activatesAt) : undefined,
        expiresOn: date(entry.expiresAt),
      }
  }
}

interface Wanted {
  readonly partnerId: string
  readonly userId: string
  readonly limit: number
  /** Only entries before this one. */
  readonly before: number | undefined
}

/** One page of a user's history, newest first. */
export async function readCoinHistory(
  tx: Tx,
  { partnerId, userId, limit, before }: Wanted,
  timeZone: string,
) {
  const rows = await tx.query(LIST, [partnerId, userId, before, limit + 1])
  const positionOf = (entry: ListedEntry) => ({ at: entry.createdAt, id: String(entry.entry) })
  return page(rows, limit, positionOf, (entry) => toWire(entry, timeZone))
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
  scope: 'coins:read',
  envelope: 'response_code',
  params: UserParams,
  query: PageQuery,
  result: PageOf(HistoryEntry),
  errors: ['user_not_found'],

  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId }, params: { userId }, query }) => {
      const limit = readLimit(query.limit)
      const before = readNumberedCursor(query.after)
      const { users, history } = await database.read([tenantId], async (tx) => {
        const [users, history] = await Promise.all([
          findUsers(tx, [{ tenantId, userId }]),
          readCoinHistory(tx, { partnerId: tenantId, userId, limit, before }, timeZone),
        ])
        return { users, history }
      })
      if (!users.of(tenantId).has(userId)) fail('user_not_found')
      return { body: succeed(history) }
    }
  },
})
