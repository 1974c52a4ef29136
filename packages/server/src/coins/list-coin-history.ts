import { fail } from '@svc/contract/errors'
import { coinEntries, type WalletEntry } from '@svc/core/coins/wallet'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { findRow, idFilter, listOf, type Resource } from '../http/resource.ts'
import { type ListedUser, user } from '../tenants/users.ts'
import { ofCoins } from './coin-configs.ts'
import { UserParams } from './get-coin-balance.ts'

const text = Type.Optional(Type.String())

const HistoryEntry = Type.Object(
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
export type ListedEntry = WalletEntry & {
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

/** What made the balances of users, as every reader sees and finds it. */
export const coinHistoryEntry = {
  titles: { tenant: 'CoinHistoryEntry', operator: 'CoinHistoryEntry' },
  record: { schema: HistoryEntry, toWire },
  from: {
    columns: `${coinEntries.columns}, coalesce(l.request_id, r.request_id, v.request_id) as "requestId", l.event,
      l.coin_config_id as "coinConfigId", l.revision, l.expires_at as "expiresAt", l.activates_at as "activatesAt",
      v.lot_id as "voidedLotId", v.reason, v.shortfall,
      case when v.void_id is not null then (
        select json_agg(json_build_object('allocationId', k.lot_id, 'amount', k.amount) order by o.entry)
        from coin_void_takes k join coin_lots o using (partner_id, lot_id)
        where k.partner_id = v.partner_id and k.void_id = v.void_id)
      else (select json_agg(json_build_object('allocationId', u.lot_id, 'amount', u.amount) order by o.entry)
        from coin_lot_uses u join coin_lots o using (partner_id, lot_id)
        where u.partner_id = r.partner_id and u.redemption_id = r.redemption_id) end as uses`,
    table: 'coin_entries e',
    alias: 'e',
    joins: `left join coin_lots l on l.lot_id = e.object_id and l.partner_id = e.partner_id
      left join coin_voids v on v.void_id = e.object_id and v.partner_id = e.partner_id
      left join coin_redemptions r on r.redemption_id = e.object_id and r.partner_id = e.partner_id`,
  },
  tenant: 'e.partner_id',
  keys: [{ sql: 'e.entry', type: 'bigint' }],
  fields: {},
  filters: { userId: { schema: idFilter('Of this user'), sql: 'e.user_id = ?' } },
} satisfies Resource<ListedEntry>

/** Ours (decision K3): what made a user's balance, newest first. */
export const listCoinHistory = listOf<ListedEntry>(coinHistoryEntry, {
  ...ofCoins('coins:read'),
  id: 'listCoinHistory',
  path: '/api/v0/svc-coins/users/:userId/history',
  summary: 'List coin history of a user',
  description:
    'Every entry carries the balance after it. Coins past their time are no longer active from that instant on; their `EXPIRED` entry is written when they are next touched, or by the sweep within a minute.',
  params: UserParams,
  errors: ['user_not_found'],
  async within(tx, scope, { userId = '' }) {
    if (!(await findRow<ListedUser>(tx, user, scope, userId))) fail('user_not_found')
  },
})
