import { calendarDay, inEachTime, type Timeline } from '@svc/kernel/time'
import { databaseTime } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'
import { readBankDays } from '../../ledger/bank-holidays.ts'
import { SCHEDULE_OF_PERIOD } from './payout-schedule.ts'
import { businessDayOf } from './payout-statement.ts'
import { preparePayout } from './prepare-payout.ts'

const EVERY_MS = 60_000
const PERIODS_A_QUERY = 500
/** What was decided on a day is committed so long after its end. */
const SETTLES_MS = 60_000

interface Waiting {
  readonly merchantId: string
  readonly endsOn: string
  readonly afterDays: number
}

// In the order of their ends: a merchant whose payouts were missed has them one after the other. One that is away waits,
// one that is closed has none.
const WAITING = statement<Waiting>(
  'payout_periods_waiting',
  `select q.merchant_id as "merchantId", q.ends_on::text as "endsOn", s.after_days as "afterDays"
   from payout_periods q cross join lateral (${SCHEDULE_OF_PERIOD}) s
   where q.outcome is null and q.ends_on < $1::date and (q.ends_on, q.merchant_id) > ($2::date, $3::text)
     and ($4::text[] is null or q.merchant_id = any ($4))
     and exists (select from tenants t where t.tenant_id = q.merchant_id and t.closed_at is null)
     and not exists (select from tenant_moves m where m.tenant_id = q.merchant_id and m.state <> 'copying')
   order by q.ends_on, q.merchant_id limit ${PERIODS_A_QUERY}`,
)

/**
 * Prepares the payouts of periods that are over once their bank days have come, by the merchants' clocks (decision R30).
 * People approve them. Returns how many periods it decided.
 */
export const prepareScheduledPayouts = (services: CoreServices): Promise<number> =>
  services.database.hasOperators
    ? inEachTime(services.clock, (timeline) => prepareIn(services, timeline))
    : Promise.resolve(0)

async function prepareIn(services: CoreServices, { clock, tenantIds }: Timeline): Promise<number> {
  const { BUSINESS_DAY_CUTOFF: cutOff, BUSINESS_TIME_ZONE: zone } = services.config
  const { database } = services
  const now = await databaseTime(database, clock)
  const running = businessDayOf(new Date(now.getTime() - SETTLES_MS), cutOff, zone)
  const today = calendarDay(now, zone)
  const bankDays = await database.operate(readBankDays)
  const { run } = services.commands.open(preparePayout)
  const failures: unknown[] = []
  let decided = 0
  let last: Pick<Waiting, 'endsOn' | 'merchantId'> = { endsOn: '-infinity', merchantId: '' }
  for (let hasMore = true; hasMore; ) {
    const after = last
    const waiting = await database.operate((tx) =>
      tx.query(WAITING, [running, after.endsOn, after.merchantId, tenantIds]),
    )
    for (const { afterDays, endsOn, merchantId } of waiting) {
      if (bankDays.after(endsOn, afterDays) > today) continue
      try {
        // The schedule says in whose name.
        const wanted = { merchantId, businessDay: endsOn, preparedBy: 'service', isScheduled: true }
        const audit = {
          actor: 'service',
          action: 'payout.prepared',
          target: merchantId,
          tenantId: merchantId,
        }
        const { period } = await run(wanted, audit)
        if (period) decided++
      } catch (error) {
        // Others do not wait for it.
        failures.push(error)
      }
    }
    last = waiting.at(-1) ?? last
    hasMore = waiting.length === PERIODS_A_QUERY
  }
  if (failures.length > 0 && decided === 0) throw failures[0]
  return decided
}

export const prepareScheduledPayoutsLoop = (services: CoreServices): Loop =>
  new Loop(
    {
      name: 'prepare_scheduled_payouts',
      everyMs: EVERY_MS,
      // A period that was missed is followed by the next one.
      work: async () => (await prepareScheduledPayouts(services)) > 0,
      atStart: true,
    },
    services,
  )
