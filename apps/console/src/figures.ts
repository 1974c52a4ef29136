import { dayAfter, monthEnd } from '@svc/kernel/bank-days'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from './api.ts'
import { dayOf, instantOf, startOfDay } from './business-day.ts'

export type Figure = Schemas['Figure']
export type FiguresOf = Schemas['Figures']
type Metric = Figure['metric']

/** What figures are asked of: a range of business days, and what it is compared with. */
export interface Period {
  readonly from: string
  readonly to: string
  readonly bucket: FiguresOf['bucket']
  readonly comparison: 'week' | 'month' | 'quarter'
}

export const PERIODS = [
  { value: 'today', label: 'Today' },
  { value: 'week', label: '7 days' },
  { value: 'month', label: 'Month' },
  { value: 'quarter', label: 'Quarter' },
] as const
export type PeriodName = (typeof PERIODS)[number]['value']
export const isPeriod = (text: string | undefined): text is PeriodName =>
  PERIODS.some(({ value }) => value === text)

/** What a period is compared with, in words. */
export const COMPARED: Readonly<Record<PeriodName, string>> = {
  today: 'the same weekday last week, until the same time',
  week: 'the 7 days before, until the same time',
  month: 'the month before, until the same day',
  quarter: 'the quarter before, until the same day',
}

const DAY_MINUTES = 1_440
const MINUTE_MS = 60_000

/** Where a business day ends: the minute of the day, in the business zone. */
interface BusinessDays {
  readonly timeZone: string
  readonly dayEndsAt: number
}

/** The business day of now. */
export const businessToday = ({ dayEndsAt, timeZone }: BusinessDays): string =>
  dayOf(new Date(Date.now() + (DAY_MINUTES - dayEndsAt) * MINUTE_MS).toISOString(), timeZone)

/** The instant at which a business day begins. */
export const startOf = (day: string, { dayEndsAt, timeZone }: BusinessDays): string => {
  if (dayEndsAt === DAY_MINUTES) return startOfDay(day, timeZone)
  const time = new Date(dayEndsAt * MINUTE_MS).toISOString().slice(11, 16)
  return instantOf(`${day}T${time}`, timeZone, -1)
}

const QUARTER_MONTHS = 3
const firstOfQuarter = (day: string): string => {
  const month = Number(day.slice(5, 7))
  const first = month - ((month - 1) % QUARTER_MONTHS)
  return `${day.slice(0, 5)}${String(first).padStart(2, '0')}-01`
}
const monthsLater = (first: string, months: number): string =>
  months === 0 ? first : monthsLater(dayAfter(monthEnd(first)), months - 1)

export function periodOf(name: PeriodName, days: BusinessDays): Period {
  const today = businessToday(days)
  const between = (first: string, next: string) => ({ from: startOf(first, days), to: startOf(next, days) })
  const month = `${today.slice(0, 8)}01`
  const quarter = firstOfQuarter(today)
  return {
    today: { ...between(today, dayAfter(today)), bucket: 'hour', comparison: 'week' },
    week: { ...between(dayAfter(today, -6), dayAfter(today)), bucket: 'day', comparison: 'week' },
    month: { ...between(month, monthsLater(month, 1)), bucket: 'day', comparison: 'month' },
    quarter: {
      ...between(quarter, monthsLater(quarter, QUARTER_MONTHS)),
      bucket: 'day',
      comparison: 'quarter',
    },
  }[name] as Period
}

/** The last so many business days, with today. */
export function lastDays(many: number, days: BusinessDays): Omit<Period, 'comparison'> {
  const today = businessToday(days)
  return { from: startOf(dayAfter(today, 1 - many), days), to: startOf(dayAfter(today), days), bucket: 'day' }
}

/** What adds up many days costs the database seconds, and changes little within minutes. */
export const refreshMs = ({ bucket }: Pick<Period, 'bucket'>): number =>
  bucket === 'hour' ? 15_000 : 300_000

interface Asked extends Omit<Period, 'comparison'> {
  readonly comparison?: Period['comparison']
  readonly metrics: readonly Metric[]
  readonly tenantId?: string
}

export const figuresQuery = ({ metrics, ...asked }: Asked) =>
  queryOptions({
    queryKey: ['figures', metrics, asked],
    queryFn: () =>
      responseOf(api.GET('/figures', { params: { query: { ...asked, metrics: metrics.join(',') } } })),
    refetchInterval: refreshMs(asked),
    placeholderData: keepPreviousData,
  })

/** A figure by its metric; absent where the role may not see it. */
export const figureIn = (all: FiguresOf, metric: Metric): Figure | undefined =>
  all.figures.find((figure) => figure.metric === metric)

/** By how much a sum changed, such as 0.118; undefined where there was nothing before. */
export const changeOf = (now: number, before: number | undefined): number | undefined =>
  before === undefined || before === 0 ? undefined : (now - before) / before

const PERCENT = new Intl.NumberFormat('en-IN', {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
})
const FINE = new Intl.NumberFormat('en-IN', {
  style: 'percent',
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
})
/** A share, such as `1.55 %`; a dash where there is nothing to be a share of. */
export const shareText = (part: number, of: number): string =>
  of === 0 ? '–' : FINE.format(part / of).replace('%', ' %')
export const percentText = (share: number): string => PERCENT.format(share).replace('%', ' %')
