import type { Clock } from '../kernel/time.ts'
import type { Database, Tx } from '../platform/db/database.ts'
import { PointRead } from '../platform/db/point-read.ts'
import { statement } from '../platform/db/statement.ts'
import { CARD_COLUMNS, type CardRow, looksLikeCardId, toCard } from './card.ts'
import { type CardAccountRow, toCardAccount } from './card-account.ts'
import type { CardView } from './card-record.ts'

type ViewRow = CardRow &
  Pick<
    CardAccountRow,
    'company_name' | 'product' | 'account_type' | 'bin_type' | 'programme' | 'denomination_paise'
  > & {
    account_created_at: Date
    balance: bigint
    day_paise: bigint
    month_paise: bigint
    year_paise: bigint
    life_paise: bigint
  }

const spentSince = (unit: string) =>
  `coalesce(sum(amount) filter (where at >= date_trunc('${unit}', $3::timestamptz, $4)), 0)::bigint`

// The balance is a subquery, not a join: `||` is not leakproof, so row-level security keeps a join on it from using the
// index of the accounts, and all of a partner's were read for one card.
const VIEWS = statement<ViewRow>(
  'card_views',
  `select ${CARD_COLUMNS}, co.name as company_name, a.product, a.account_type, a.bin_type, a.programme,
     a.denomination_paise, a.created_at as account_created_at, used.*, (
       select l.balance from ledger_accounts l where l.account_id = 'card:' || c.svc_card_id and l.tenant_id = c.partner_id) as balance
   from cards c
   join card_accounts a on a.card_account_id = c.card_account_id and a.partner_id = c.partner_id
   join companies co on co.company_id = c.company_id and co.partner_id = c.partner_id
   cross join lateral (
     select ${spentSince('day')} as day_paise, ${spentSince('month')} as month_paise, ${spentSince('year')} as year_paise,
       coalesce(sum(amount), 0)::bigint as life_paise
     from (
       select case t.kind when 'card_refund' then -t.amount else t.amount end as amount, t.created_at as at
       from ledger_transfers t
       where t.object_id = c.svc_card_id and t.tenant_id = c.partner_id and t.kind in ('card_spend', 'card_refund')) moves
   ) used
   where (c.partner_id, c.svc_card_id) in (select * from unnest($1::text[], $2::text[]))`,
)

const toView = (row: ViewRow): CardView => ({
  card: toCard(row),
  account: toCardAccount({ ...row, created_at: row.account_created_at }),
  balancePaise: row.balance,
  usage: {
    dayPaise: row.day_paise,
    monthPaise: row.month_paise,
    yearPaise: row.year_paise,
    lifePaise: row.life_paise,
  },
})

interface CardKey {
  readonly tenantId: string
  readonly id: string
}

/** Cards with their surroundings, balances and what they spent; days, months and years are those of the zone. */
export async function readCardViews(
  tx: Tx,
  keys: readonly CardKey[],
  now: Date,
  timeZone: string,
): Promise<CardView[]> {
  const rows = await tx.query(VIEWS, [
    keys.map((key) => key.tenantId),
    keys.map((key) => key.id),
    now,
    timeZone,
  ])
  return rows.map(toView)
}

/** Look-up of a partner's own cards; `undefined` for those of others and for ids that cannot be ours. */
export function cardLookup(
  database: Database,
  clock: Clock,
  timeZone: string,
): (partnerId: string, svcCardId: string) => Promise<CardView | undefined> {
  const views = new PointRead<CardView>(
    (keys) =>
      database.read(
        keys.map((key) => key.tenantId),
        (tx) => readCardViews(tx, keys, new Date(clock.now()), timeZone),
      ),
    ({ card }) => ({ tenantId: card.partnerId, id: card.svcCardId }),
  )
  return async (partnerId, svcCardId) =>
    looksLikeCardId(svcCardId) ? views.get(partnerId, svcCardId) : undefined
}
