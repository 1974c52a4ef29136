import { idFloor } from '@svc/contract/id-kinds'
import { accountIdOf } from '@svc/core/ledger/accounts'
import { furthestAhead } from '@svc/core/ledger/transfers-since'
import { PAYOUT_STATUSES, type PayoutStatus } from '@svc/core/payments/payout'
import { rfc3339 } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  instant,
  maybe,
  maybeInstant,
  record,
  text,
} from './console-schema.ts'
import { COMPARISONS, earlierRange } from './figure-periods.ts'
import { SUMS } from './figure-sources.ts'
import { FIGURES_QUERY, ID_SLACK_MS, readFiguresQuery } from './figures.ts'
import { permits, type Role } from './permissions.ts'
import { permissionsOfItem, readWaiting, WAITING_ITEMS, WAITING_MAX } from './waiting.ts'

const TAG = 'Overview'
const paise = (description: string) => Type.Integer({ description: `${description}, in paise` })

const PAYOUT_DAYS = statement<{ day: string; status: PayoutStatus; count: bigint; amount: bigint }>(
  'console_payout_days',
  `select business_day::text as day, status, count(*) as count, sum(amount_paise)::bigint as amount
   from (select business_day, status, amount_paise from payouts where business_day >= $1::timestamptz::date - 7
     union all
     select business_day, status, amount_paise from payouts
     where status in ('PREPARED', 'APPROVED', 'SENT') and business_day < $1::timestamptz::date - 7) y
   group by 1, 2 order by 1 desc, 2`,
)

/** What waits, and what is paid out. */
export const showWaiting = query({
  ...consoleOperation,
  id: 'console.showWaiting',
  method: 'GET',
  path: `${CONSOLE_API}/waiting`,
  tag: TAG,
  summary: 'Show what waits for a person, and payouts by business day',
  description:
    'By deadline, then by age. What the role cannot act on is absent. Payouts are those of the last 7 business days, and earlier ones that are not paid.',
  permission: 'view',
  result: closed({
    items: Type.Array(
      record('WaitingItem', {
        item: Type.Enum([...WAITING_ITEMS]),
        count: Type.Integer({ description: `Counted up to ${WAITING_MAX}` }),
        amount: Type.Optional(paise('Sum')),
        since: text('When the oldest one arrived'),
        dueOn: maybeInstant,
        example: closed({
          id: text('Of the first one by deadline, then by age'),
          tenantId: maybe(),
          name: maybe('Of the merchant or partner'),
          amount: Type.Optional(paise('Its amount')),
          about: maybe('What people know it by: a reference, a kind, a name'),
        }),
      }),
    ),
    payouts: Type.Array(
      record('PayoutDay', {
        businessDay: text('`YYYY-MM-DD`'),
        status: Type.Enum([...PAYOUT_STATUSES]),
        count: Type.Integer(),
        amount: paise('Sum'),
      }),
      { description: 'Latest day first' },
    ),
  }),
  errors: [],
  mount({ clock, config, database }) {
    const timeZone = config.BUSINESS_TIME_ZONE
    return async ({ caller }) => {
      const role = caller.actor!.role as Role
      const items = WAITING_ITEMS.filter((item) =>
        permissionsOfItem(item).some((permission) => permits(role, permission)),
      )
      const now = new Date(clock.now())
      const { days, waiting } = await database.report(async (tx) => ({
        waiting: await readWaiting(tx, items, now, config),
        days: await tx.query(PAYOUT_DAYS, [now]),
      }))
      const body = {
        items: waiting.map(
          ({ about, amount, count, due, exampleAmount, id, item, name, since, tenantId }) => ({
            item,
            count,
            amount: amount === null ? undefined : Number(amount),
            since: rfc3339(since, timeZone),
            dueOn: due ? rfc3339(due, timeZone) : undefined,
            example: {
              id,
              tenantId: name === null ? undefined : (tenantId ?? undefined),
              name: name ?? undefined,
              amount: exampleAmount === null ? undefined : Number(exampleAmount),
              about: about ?? undefined,
            },
          }),
        ),
        payouts: days.map(({ amount, count, day, status }) => ({
          businessDay: day,
          status,
          count: Number(count),
          amount: Number(amount),
        })),
      }
      return { body: JSON.stringify(body) }
    }
  },
})

interface Mover {
  readonly merchantId: string
  readonly name: string
  readonly amount: bigint
  readonly count: bigint
  readonly before: bigint
  readonly refunded: bigint
  readonly owed: bigint
}

const MOVERS_SHOWN = 6
const paid = (from: string, to: string, ids: string) =>
  `payments p where ${SUMS.payments.source.where} and p.created_at >= ${from} and p.created_at < ${to} and ${ids}`
const MOVERS = statement<Mover>(
  'console_movers',
  `with moved as (
     select merchant_id, sum(amount)::bigint as amount, sum(count)::bigint as count, sum(before)::bigint as before from (
       select p.merchant_id, sum(p.amount_paise) as amount, count(*) as count, 0 as before
       from ${paid('$1', '$2', 'p.payment_id >= $5 and p.payment_id < $6')} group by 1
       union all
       select p.merchant_id, 0, 0, sum(p.amount_paise)
       from ${paid('$3', '$4', 'p.payment_id >= $7 and p.payment_id < $8')} group by 1) each
     group by 1 order by abs(sum(amount) - sum(before)) desc, merchant_id limit ${MOVERS_SHOWN})
   select m.merchant_id as "merchantId", m.name, v.amount, v.count, v.before,
     coalesce((select sum(r.amount_paise) from merchant_refunds r
       where r.merchant_id = v.merchant_id and ${SUMS.refunds.source.where} and r.created_at >= $1 and r.created_at < $2), 0)::bigint
       as refunded,
     coalesce(a.balance, 0)::bigint as owed
   from moved v join merchants m using (merchant_id) cross join lateral ${accountIdOf('payable', 'v.merchant_id')}
     left join ledger_accounts a on a.tenant_id = v.merchant_id and a.account_id = key.account_id
   order by abs(v.amount - v.before) desc, m.merchant_id`,
)

export const showMovers = query({
  ...consoleOperation,
  id: 'console.showMovers',
  method: 'GET',
  path: `${CONSOLE_API}/movers`,
  tag: TAG,
  summary: 'Show the merchants whose volume changed most',
  description: 'Against the same range so much earlier, until the same time; the largest change first.',
  permission: 'view',
  query: closed({
    from: FIGURES_QUERY.from,
    to: FIGURES_QUERY.to,
    comparison: Type.Enum([...COMPARISONS], { description: 'So much earlier' }),
  }),
  result: closed({
    data: Type.Array(
      record('Mover', {
        merchantId: text(),
        name: text(),
        amount: paise('Payments accepted'),
        count: Type.Integer({ description: 'Payments accepted' }),
        before: paise('Payments accepted in the earlier range'),
        refunded: paise('Refunds requested'),
        owed: paise('Owed to the merchant now'),
      }),
      { description: `At most ${MOVERS_SHOWN}` },
    ),
  }),
  errors: [],
  mount({ clock, config, database }) {
    return async ({ query: wanted }) => {
      const asked = readFiguresQuery(
        { ...wanted, metrics: 'payments', bucket: 'month' },
        { config, now: new Date(clock.now()), may: () => true },
      )
      const { comparison, range } = asked
      const before = earlierRange(range, comparison!, config)
      const rows = await database.report(async (tx) => {
        const slackMs = (await furthestAhead(tx)) + ID_SLACK_MS
        const ids = (from: Date, until: Date) => [
          idFloor('pay', new Date(from.getTime() - slackMs)),
          idFloor('pay', new Date(until.getTime() + ID_SLACK_MS)),
        ]
        return tx.query(MOVERS, [
          range.from,
          range.until,
          before.from,
          before.until,
          ...ids(range.from, range.until),
          ...ids(before.from, before.until),
        ])
      })
      const data = rows.map(({ merchantId, name, ...sums }) => ({
        merchantId,
        name,
        amount: Number(sums.amount),
        count: Number(sums.count),
        before: Number(sums.before),
        refunded: Number(sums.refunded),
        owed: Number(sums.owed),
      }))
      return { body: JSON.stringify({ data }) }
    }
  },
})
