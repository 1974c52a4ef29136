import { ID_SLACK_MS, idFloor } from '@svc/contract/id-kinds'
import { readBankDays } from '@svc/core/ledger/bank-holidays'
import { furthestAhead } from '@svc/core/ledger/transfers-since'
import { PAYOUT_STATUSES } from '@svc/core/payments/payouts/payout'
import { rfc3339 } from '@svc/kernel/time'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { permissionsOfItem, readWaiting, WAITING_ITEMS, WAITING_MAX } from '../alerts/waiting.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  instant,
  maybe,
  maybeInstant,
  record,
  text,
} from '../console-schema.ts'
import { permits, type Role } from '../identity/permissions.ts'
import { MOVERS, MOVERS_SHOWN, PAYOUT_DAYS, PLANNED_PAYOUTS, plannedDays } from './figure-lists.ts'
import { COMPARISONS, earlierRange } from './figure-periods.ts'
import { FIGURES_QUERY, readFiguresQuery } from './figures.ts'

const TAG = 'Overview'
const paise = (description: string) => Type.Integer({ description: `${description}, in paise` })

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
    planned: Type.Array(
      record('PlannedPayouts', {
        preparedOn: text('The bank day on which schedules have them prepared, `YYYY-MM-DD`'),
        count: Type.Integer(),
        amount: paise('What is payable to these merchants now'),
      }),
      { description: 'Next day first' },
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
      const { days, planned, waiting } = await database.report(async (tx) => {
        const bankDays = await readBankDays(tx)
        return {
          waiting: await readWaiting(tx, items, bankDays, now, config),
          days: await tx.query(PAYOUT_DAYS, [now]),
          planned: plannedDays(await tx.query(PLANNED_PAYOUTS, []), bankDays),
        }
      })
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
        planned,
      }
      return { body: JSON.stringify(body) }
    }
  },
})

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
    from: instant,
    to: text('Excluded'),
    until: text('Until when it is known: `to`, or the present'),
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
      const on = (at: Date) => rfc3339(at, config.BUSINESS_TIME_ZONE)
      const { from, to, until } = range
      return { body: JSON.stringify({ from: on(from), to: on(to), until: on(until), data }) }
    }
  },
})
