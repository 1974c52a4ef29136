import {
  nextPeriodEnd,
  type PayoutSchedule,
  periodEnd,
  readOn,
  type ScheduleTerms,
} from '@svc/core/payments/payouts/payout-schedule'
import { dayAfter, monthEnd, weekdayOf } from '@svc/kernel/bank-days'
import { paise } from '@svc/kernel/money'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const terms = (every: ScheduleTerms['every'], onDay: number | null = null): ScheduleTerms => ({
  every,
  onDay,
  afterDays: 1,
  minimumPaise: paise(0n),
})
const schedule = (validFrom: string, of: ScheduleTerms, createdAt = new Date(0)): PayoutSchedule => ({
  merchantId: 'mer_1',
  validFrom,
  createdAt,
  ...of,
  reason: 'agreed',
  setBy: 'operator asha',
})
const dayOf = fc.integer({ min: 0, max: 1_500 }).map((i) => dayAfter('2026-01-01', i))

test('a period ends on its day of the week or month, the first one from a day on', () => {
  fc.assert(
    fc.property(
      dayOf,
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 1, max: 31 }),
      (day, weekday, on) => {
        const days = Array.from({ length: 62 }, (_, i) => dayAfter(day, i))
        const isOn = (each: string) =>
          Number(each.slice(8)) === on || (each === monthEnd(each) && Number(each.slice(8)) < on)
        expect(periodEnd(terms('day'), day)).toBe(day)
        expect(periodEnd(terms('week', weekday), day)).toBe(
          days.find((each) => weekdayOf(each) === weekday % 7),
        )
        expect(periodEnd(terms('month', on), day)).toBe(days.find(isOn))
        expect(periodEnd(terms('never'), day)).toBeUndefined()
      },
    ),
  )
})

test('31 is the last day of a month, also of February', () => {
  const last = terms('month', 31)
  expect(['2027-02-01', '2027-03-01', '2028-02-29', '2027-04-30'].map((day) => periodEnd(last, day))).toEqual(
    ['2027-02-28', '2027-03-31', '2028-02-29', '2027-04-30'],
  )
})

test('the next period is under the schedule of its first day; one that was set later for that day is in force', () => {
  const week = schedule('2026-11-01', terms('week', 1))
  expect(nextPeriodEnd([week], '2026-11-30')).toBe('2026-12-07')
  const daily = schedule('2026-12-01', terms('day'), new Date(1))
  expect(nextPeriodEnd([week, daily], '2026-11-30')).toBe('2026-12-01')
  const never = schedule('2026-12-01', terms('never'), new Date(2))
  expect(nextPeriodEnd([week, daily, never], '2026-11-30')).toBeUndefined()
  const again = schedule('2026-12-10', terms('month', 31), new Date(3))
  expect(nextPeriodEnd([week, daily, never, again], '2026-11-30')).toBe('2026-12-31')
})

test.each([
  ['week', 'mon', 1],
  ['week', 'SUN', 7],
  ['week', '1', undefined],
  ['week', undefined, undefined],
  ['month', '31', 31],
  ['month', '0', undefined],
  ['month', '32', undefined],
  ['month', 'mon', undefined],
  ['day', undefined, null],
  ['day', 'mon', undefined],
  ['never', undefined, null],
] as const)('--every %s --on %s is day %s', (every, on, expected) => {
  expect(readOn(every, on)).toBe(expected)
})
