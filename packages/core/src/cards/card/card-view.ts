import type { Clock } from '@svc/kernel/time'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { accountIdOf } from '../../ledger/accounts.ts'
import { partnerSettingsColumn } from '../account/record-settings.ts'
import { type Card, type CardKey, cards, looksLikeCardId } from './card.ts'
import type { CardView } from './card-record.ts'
import type { Loads, Usage } from './card-usage.ts'

type ViewRow = Card &
  CardView['account'] &
  Pick<CardView, 'isUserErased'> &
  Usage &
  Loads & { readonly balancePaise: bigint; readonly heldPaise: bigint }

const spentSince = (unit: string) =>
  `coalesce(sum(amount) filter (where moves.at >= date_trunc('${unit}', w.at, $4)), 0)::bigint`

const BALANCE = `(
  select l.balance from ${accountIdOf('card', 'c.svc_card_id')} join ledger_accounts l on l.account_id = key.account_id
  where l.tenant_id = c.partner_id)`

/** What open holds of the card `c` add up to. */
const HELD = `(
  select coalesce(sum(h.held_paise), 0)::bigint from card_authorizations h
  where h.partner_id = c.partner_id and h.svc_card_id = c.svc_card_id and h.status = 'OPEN')`

/** Cards, each with the instant up to which its usage counts: one that is given, */
const AT = 'unnest($1::text[], $2::text[], $3::timestamptz[]) as w (partner_id, svc_card_id, at)'
/** or the tenant's time when the statement runs. */
const NOW = `(
     select partner_id, svc_card_id, clock_timestamp() + ahead_ms * interval '1 millisecond' as at
     from unnest($1::text[], $2::text[], $3::float8[]) as g (partner_id, svc_card_id, ahead_ms)) as w`

/** Of returns `r`: on the way back to the card account. */
const WAITS = `r.status = 'WAITING'`

const viewsOf = (
  wanted: string,
  balance: string,
  held: string,
  moved: string,
  loaded = 'true',
  waits = WAITS,
) =>
  `select ${cards.columns}, co.name as "companyName", a.account_type as "accountType", a.bin_type as "binType", a.programme,
     a.unallocate_fund_allowed as "unallocateFundAllowed", a.record_settings as "recordSettings", ${partnerSettingsColumn('c.partner_id')}, u.erased_at is not null as "isUserErased", used.*, loads.*, w.at as "usedUntil", ${balance} as "balancePaise",
     ${held} as "heldPaise"
   from ${wanted}
   join cards c on c.partner_id = w.partner_id and c.svc_card_id = w.svc_card_id
   join card_accounts a on a.card_account_id = c.card_account_id and a.partner_id = c.partner_id
   join users u on u.partner_id = c.partner_id and u.user_id = c.user_id
   join companies co on co.company_id = c.company_id and co.partner_id = c.partner_id
   cross join lateral (
     select ${spentSince('day')} as "dayPaise", ${spentSince('month')} as "monthPaise", ${spentSince('year')} as "yearPaise",
       coalesce(sum(amount), 0)::bigint as "lifePaise"
     from (
       select case t.kind when 'card_refund' then -t.amount else t.amount end as amount, t.created_at as at
       from ledger_transfers t
       where t.object_id = c.svc_card_id and t.tenant_id = c.partner_id and t.kind in ('card_spend', 'card_refund')
         and ${moved}) moves
   ) used
   cross join lateral (
     select coalesce(sum(l.amount_paise) filter (where l.kind = 'load'), 0)::bigint as "reloadedPaise",
       coalesce(sum(l.amount_paise) filter (where l.kind = 'unload'), 0)::bigint as "unloadedPaise",
       (array_agg(l.amount_paise order by l.created_at desc, l.load_id desc) filter (where l.kind = 'load'))[1] as "lastLoadPaise",
       (select coalesce(sum(r.amount_paise), 0)::bigint from card_returns r
        where r.partner_id = c.partner_id and r.svc_card_id = c.svc_card_id and ${waits}) as "returningPaise"
     from card_loads l where l.partner_id = c.partner_id and l.svc_card_id = c.svc_card_id and ${loaded}
   ) loads`
const VIEWS = statement<ViewRow>('card_views', viewsOf(AT, BALANCE, HELD, 'true'))
const VIEWS_NOW = statement<ViewRow>('card_views_now', viewsOf(NOW, BALANCE, HELD, 'true'))

const movedSince = (side: 'credit' | 'debit') =>
  `coalesce((
     select sum(t.amount) from ${accountIdOf('card', 'c.svc_card_id')}
       join ledger_transfers t on t.${side}_account_id = key.account_id
     where t.tenant_id = c.partner_id and t.created_at > w.at), 0)`

/** What holds that were open at `w.at` added up to: captures, forced posts and voids of a part have made them smaller. */
const HELD_AS_OF = `(
  select coalesce(sum(h.amount_paise - (
    select coalesce(sum(m.amount_paise), 0) from card_messages m
    where m.partner_id = h.partner_id and m.svc_card_id = h.svc_card_id and m.authorization_id = h.authorization_id
      and m.event_type in ('card.captured', 'card.voided') and m.created_at <= w.at)), 0)::bigint
  from card_authorizations h
  where h.partner_id = c.partner_id and h.svc_card_id = c.svc_card_id and h.created_at <= w.at
    and (h.closed_at is null or h.closed_at > w.at))`
const VIEWS_AS_OF = statement<ViewRow>(
  'card_views_as_of',
  viewsOf(
    AT,
    `(${BALANCE} - ${movedSince('credit')} + ${movedSince('debit')})::bigint`,
    HELD_AS_OF,
    't.created_at <= w.at',
    'l.created_at <= w.at',
    '(r.created_at <= w.at and (r.closed_at is null or r.closed_at > w.at))',
  ),
)

function toView(row: ViewRow): CardView {
  const { companyName, accountType, binType, programme, ...more } = row
  const { unallocateFundAllowed, recordSettings, partnerSettings, isUserErased, ...rest } = more
  const { balancePaise, heldPaise, reloadedPaise, unloadedPaise, lastLoadPaise, returningPaise, ...used } =
    rest
  const { dayPaise, monthPaise, yearPaise, lifePaise, usedUntil, ...card } = used
  return {
    card,
    account: {
      companyName,
      accountType,
      binType,
      programme,
      unallocateFundAllowed,
      recordSettings,
      partnerSettings,
    },
    isUserErased,
    balancePaise,
    heldPaise,
    usage: { dayPaise, monthPaise, yearPaise, lifePaise, ...(usedUntil && { usedUntil }) },
    loads: { reloadedPaise, unloadedPaise, lastLoadPaise, returningPaise },
  }
}

/** A card, and the time up to which its usage counts. */
export interface CardAt extends CardKey {
  readonly at: Date
}

/** Cards with their surroundings, balances and what they spent; days, months and years are those of the zone. */
export async function readCardViews(
  tx: Tx,
  wanted: readonly CardAt[],
  timeZone: string,
): Promise<CardView[]> {
  const rows = await tx.query(VIEWS, [...cards.keys(wanted), wanted.map(({ at }) => at), timeZone])
  return rows.map(toView)
}

/** A card, and by how many milliseconds its tenant's clock is ahead of the database's. */
export interface CardByClock extends CardKey {
  readonly clockOffsetMs: number
}

/** The same with what was spent up to the time of the database: behind a lock, that of the decision. */
export async function readCardViewsNow(
  tx: Tx,
  wanted: readonly CardByClock[],
  timeZone: string,
): Promise<CardView[]> {
  const rows = await tx.query(VIEWS_NOW, [
    ...cards.keys(wanted),
    wanted.map(({ clockOffsetMs }) => clockOffsetMs),
    timeZone,
  ])
  return rows.map(toView)
}

/** As `readCardViews`, with balances, holds and usage as they were at the end of `at`; the cards’ own state is the present one. */
export async function readCardViewsAsOf(
  tx: Tx,
  wanted: readonly CardAt[],
  timeZone: string,
): Promise<CardView[]> {
  const rows = await tx.query(VIEWS_AS_OF, [...cards.keys(wanted), wanted.map(({ at }) => at), timeZone])
  return rows.map(toView)
}

/** Lookup of a partner's own cards; `undefined` for those of others and for ids that cannot be ours. */
export function cardLookup(
  database: Database,
  clock: Clock,
  timeZone: string,
): (partnerId: string, svcCardId: string) => Promise<CardView | undefined> {
  const views = new BatchedLookup<CardView>(
    (keys) =>
      database.read(
        keys.map((key) => key.tenantId),
        (tx) => {
          const found = keys.map(({ tenantId: partnerId, id: svcCardId }) => ({
            partnerId,
            svcCardId,
            at: new Date(clock.of(partnerId).now()),
          }))
          return readCardViews(tx, found, timeZone)
        },
      ),
    ({ card }) => ({ tenantId: card.partnerId, id: card.svcCardId }),
  )
  return async (partnerId, svcCardId) =>
    looksLikeCardId(svcCardId) ? views.get(partnerId, svcCardId) : undefined
}
