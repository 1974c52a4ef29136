import { APPROVED, PARTLY_APPROVED, VERIFIED } from '@svc/core/cards/response-codes'
import { readCoinLiability } from '@svc/core/coins/coin-liability'
import { businessDay, businessDayOf } from '@svc/core/payments/payout-statement'
import { findPartner } from '@svc/core/tenants/partner'
import { dayAfter } from '@svc/kernel/bank-days'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { instant, record, rupeesText, text } from '../console-schema.ts'
import { DAYS, type DayRow, DaySum, daySql, daysUpTo } from './home-days.ts'
import { StepRecord, stepsOf, WaitingRecord, waitingOfPrograms } from './home-waits.ts'

const Counted = record('CardFigure', { count: Type.Integer(), amount: rupeesText })

const Funding = record('FundingUnderWay', {
  accountId: text('Of the card account'),
  name: text('Company and programme of the card account'),
  reference: text('The bank’s reference'),
  amount: rupeesText,
  since: instant,
})

export const PartnerHome = record('PartnerOverview', {
  products: Type.Array(text()),
  accounts: Type.Integer({ description: 'Card accounts' }),
  balance: text('Rupees on all card accounts that are on no card yet'),
  cards: record('CardCounts', { all: Type.Integer(), usable: Type.Integer({ description: 'Unlocked' }) }),
  onCards: text('Rupees on all cards'),
  loaded: Counted,
  spent: Counted,
  declined: Counted,
  coins: record('CoinFigures', {
    active: Type.Integer({ description: 'Coins that users can redeem' }),
    pending: Type.Integer(),
    users: Type.Integer(),
  }),
  days: Type.Array(DaySum, { description: 'Spent with cards, by business day; the last one is running' }),
  fundings: Type.Array(Funding, { description: 'Reported by the bank, and to be approved by a second person' }),
  waits: Type.Array(WaitingRecord),
  setUp: Type.Array(StepRecord),
})

const BALANCES = statement<{ kind: 'card_funding' | 'card'; accounts: number; paise: bigint }>(
  'portal_card_balances',
  `select a.kind, count(*)::integer as accounts, sum(a.balance)::bigint as paise from ledger_accounts a
   where a.tenant_id = $1 and a.kind in ('card_funding', 'card') group by 1`,
)
const CARDS = statement<{ accounts: number; all: number; usable: number }>(
  'portal_card_counts',
  `select (select count(*)::integer from card_accounts where partner_id = $1) as accounts, count(*)::integer as all,
     count(*) filter (where status = 'UL')::integer as usable
   from cards where partner_id = $1`,
)
const USE = statement<Record<'loads' | 'captures' | 'declines', number> & Record<`${'loaded' | 'spent' | 'declined'}`, bigint>>(
  'portal_card_use',
  `select count(*) filter (where kind = 'load' and moved_paise > 0)::integer as loads,
     coalesce(sum(moved_paise) filter (where kind = 'load'), 0)::bigint as loaded,
     count(*) filter (where kind = 'capture')::integer as captures,
     coalesce(-sum(moved_paise) filter (where kind in ('capture', 'refund')), 0)::bigint as spent,
     count(*) filter (where is_declined)::integer as declines,
     coalesce(sum(amount_paise) filter (where is_declined), 0)::bigint as declined
   from (select t.*, t.kind = 'authorization' and t.response_code not in ('${APPROVED}', '${PARTLY_APPROVED}', '${VERIFIED}') as is_declined
     from card_transactions t where t.partner_id = $1 and t.created_at >= $2) t`,
)
const BY_DAY = statement<DayRow>(
  'portal_spend_by_day',
  `select ${daySql('t.created_at')}::text as day, count(*) filter (where t.kind = 'capture')::integer as count,
     -sum(t.moved_paise)::bigint as paise
   from card_transactions t
   where t.partner_id = $1 and t.kind in ('capture', 'refund') and t.moved_paise is not null and t.created_at >= $4
   group by 1`,
)
const FUNDINGS = statement<{
  accountId: string
  name: string
  reference: string
  paise: bigint
  since: Date
}>(
  'portal_fundings_under_way',
  `select c.card_account_id as "accountId", o.name || ' / ' || c.programme as name, a.reference,
     a.amount_paise as paise, a.requested_at as since
   from approvals a
     join card_accounts c on c.partner_id = a.tenant_id and c.card_account_id = a.request ->> 'cardAccountId'
     join companies o on o.partner_id = c.partner_id and o.company_id = c.company_id
   where a.tenant_id = $1 and a.kind = 'card_funding' and a.outcome is null
     and a.expires_at > clock_timestamp()
   order by a.requested_at limit 10`,
)
const SET_UP = statement<
  Record<'credential' | 'encryption_key' | 'company' | 'card_account' | 'card' | 'webhook', boolean>
>(
  'portal_partner_set_up',
  `select exists (select from oauth_clients where tenant_id = $1) as credential,
     exists (select from partner_encryption_keys where partner_id = $1 and retired_at is null) as encryption_key,
     exists (select from companies where partner_id = $1) as company,
     exists (select from card_accounts where partner_id = $1) as card_account,
     exists (select from cards where partner_id = $1) as card,
     exists (select from webhook_endpoints where tenant_id = $1) as webhook`,
)

const counted = (count: number, paise: bigint) => ({ count, amount: formatRupees(paise) })

type Tools = Pick<Services, 'clock' | 'config'>

export async function homeOfPartner(tx: Tx, partnerId: string, { clock, config }: Tools) {
  const { BUSINESS_DAY_CUTOFF: cutOff, BUSINESS_TIME_ZONE: zone } = config
  const today = businessDayOf(new Date(clock.of(partnerId).now()), cutOff, zone)
  const since = businessDay(dayAfter(today, 1 - DAYS), cutOff, zone).from
  const balances = await tx.query(BALANCES, [partnerId])
  const balanceOf = (kind: 'card_funding' | 'card') =>
    formatRupees(balances.find((each) => each.kind === kind)?.paise ?? 0n)
  const [cards] = await tx.query(CARDS, [partnerId])
  const [use] = await tx.query(USE, [partnerId, since])
  const rows = await tx.query(BY_DAY, [partnerId, 1_440 - cutOff, zone, since])
  const [coins] = await readCoinLiability(tx, clock, partnerId)
  const fundings = await tx.query(FUNDINGS, [partnerId])
  return {
    products: (await findPartner(tx, partnerId))?.products ?? [],
    accounts: cards!.accounts,
    balance: balanceOf('card_funding'),
    cards: { all: cards!.all, usable: cards!.usable },
    onCards: balanceOf('card'),
    loaded: counted(use!.loads, use!.loaded),
    spent: counted(use!.captures, use!.spent),
    declined: counted(use!.declines, use!.declined),
    coins: {
      active: Number(coins?.coins ?? 0n),
      pending: Number(coins?.pending ?? 0n),
      users: Number(coins?.users ?? 0n),
    },
    days: daysUpTo(today, rows),
    fundings: fundings.map(({ paise, since: at, ...funding }) => ({
      ...funding,
      amount: formatRupees(paise),
      since: rfc3339(at, zone),
    })),
    waits: await waitingOfPrograms(tx, partnerId, zone),
    setUp: stepsOf({ ...(await tx.query(SET_UP, [partnerId]))[0] }),
  }
}
