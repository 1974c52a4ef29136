import { readCoinLiability } from '@svc/core/coins/coin-liability'
import { findPartner } from '@svc/core/tenants/partner'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { instant, record, rupeesText, text } from '../console-schema.ts'
import {
  counted,
  DaySum,
  daysOf,
  figuresOf,
  firstDayOf,
  type HomeTools,
  nowOf,
  rangeSince,
} from './home-days.ts'
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
  fundings: Type.Array(Funding, {
    description: 'Reported by the bank, and to be approved by a second person',
  }),
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

export async function homeOfPartner(tx: Tx, partnerId: string, tools: HomeTools) {
  const { clock, config } = tools
  const zone = config.BUSINESS_TIME_ZONE
  const now = nowOf(partnerId, tools)
  const balances = await tx.query(BALANCES, [partnerId])
  const balanceOf = (kind: 'card_funding' | 'card') =>
    formatRupees(balances.find((each) => each.kind === kind)?.paise ?? 0n)
  const [cards] = await tx.query(CARDS, [partnerId])
  const figure = await figuresOf(
    tx,
    {
      tenantId: partnerId,
      metrics: ['card_loads', 'card_spend', 'card_declines'],
      range: rangeSince(now, firstDayOf(now), tools),
    },
    tools,
  )
  const [coins] = await readCoinLiability(tx, clock, partnerId)
  const fundings = await tx.query(FUNDINGS, [partnerId])
  return {
    products: (await findPartner(tx, partnerId))?.products ?? [],
    accounts: cards!.accounts,
    balance: balanceOf('card_funding'),
    cards: { all: cards!.all, usable: cards!.usable },
    onCards: balanceOf('card'),
    loaded: counted(figure('card_loads')),
    spent: counted(figure('card_spend')),
    declined: counted(figure('card_declines')),
    coins: {
      active: Number(coins?.coins ?? 0n),
      pending: Number(coins?.pending ?? 0n),
      users: Number(coins?.users ?? 0n),
    },
    days: daysOf(figure('card_spend')),
    fundings: fundings.map(({ paise, since: at, ...funding }) => ({
      ...funding,
      amount: formatRupees(paise),
      since: rfc3339(at, zone),
    })),
    waits: await waitingOfPrograms(tx, partnerId, zone),
    setUp: stepsOf({ ...(await tx.query(SET_UP, [partnerId]))[0] }),
  }
}
