import { businessDay, businessDayOf } from '@svc/core/payments/payouts/payout-statement'
import { dayAfter } from '@svc/kernel/bank-days'
import { formatRupees } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import type { Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { record, rupeesText, text } from '../console-schema.ts'
import { type Range, slotsOf } from '../faces/figure-periods.ts'
import { type FiguresAsked, readFigures } from '../faces/figures.ts'

/** How many business days a chart has, the last one still running. */
const DAYS = 30

export const DaySum = record('DaySum', {
  day: text('Business day, `YYYY-MM-DD`'),
  count: Type.Integer(),
  amount: rupeesText,
})

export type HomeTools = Pick<Services, 'clock' | 'config'>

/** The running business day of a tenant, by its clock. */
export interface Now {
  readonly at: Date
  readonly today: string
}

export function nowOf(tenantId: string, { clock, config }: HomeTools): Now {
  const at = new Date(clock.of(tenantId).now())
  return { at, today: businessDayOf(at, config.BUSINESS_DAY_CUTOFF, config.BUSINESS_TIME_ZONE) }
}

export const rangeSince = ({ at, today }: Now, firstDay: string, { config }: HomeTools): Range => {
  const of = (day: string) => businessDay(day, config.BUSINESS_DAY_CUTOFF, config.BUSINESS_TIME_ZONE)
  return { from: of(firstDay).from, to: of(today).to, until: at }
}

export const firstDayOf = ({ today }: Now): string => dayAfter(today, 1 - DAYS)

type Asked = Pick<FiguresAsked, 'comparison' | 'metrics'> & {
  readonly tenantId: string
  readonly range: Range
}

/** Sums of a tenant by business day, by metric. */
export async function figuresOf(tx: Tx, asked: Asked, { clock, config }: HomeTools) {
  const slots = slotsOf(asked.range, 'day', config, DAYS + 1) ?? []
  const aheadMs = Math.max(0, clock.of(asked.tenantId).offsetMs())
  const { figures } = await readFigures(tx, { ...asked, bucket: 'day', slots }, { config, clock, aheadMs })
  return (metric: FiguresAsked['metrics'][number]): Figure => {
    const found = figures.find((each) => each.metric === metric)
    return { amount: 0, count: 0, tax: 0, buckets: [], ...found }
  }
}

interface Sum {
  readonly amount: number
  readonly count: number
  readonly tax?: number
}

interface Figure extends Sum {
  readonly buckets: readonly (Sum & { readonly name: string })[]
  readonly compared?: Sum
}

/** Whole paise as the service writes rupees. */
export const rupeesOf = (paise: number): string => formatRupees(BigInt(paise))

export const counted = ({ amount, count }: Sum) => ({ count, amount: rupeesOf(amount) })

export const daysOf = ({ buckets }: Figure) =>
  buckets.map(({ name, ...sum }) => ({ day: name, ...counted(sum) }))
