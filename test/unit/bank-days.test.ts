import { BankDays, dayAfter, monthEnd, weekdayOf } from '@svc/kernel/bank-days'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const FIRST = '2026-01-01'
const DAYS = 800
/** Every day of some years, with the facts that the calendar of a wall has. */
const WALL = Array.from({ length: DAYS }, (_, i) => {
  const date = new Date(Date.UTC(2026, 0, 1 + i))
  return { day: date.toISOString().slice(0, 10), weekday: date.getUTCDay(), of: date.getUTCDate() }
})

/** The days that are left when everything closed is crossed out, one after the other. */
function openDays(holidays: readonly string[]): string[] {
  const saturdays = new Map<string, number>()
  return WALL.filter(({ day, weekday }) => {
    const month = day.slice(0, 7)
    if (weekday === 6) saturdays.set(month, (saturdays.get(month) ?? 0) + 1)
    const isSecondOrFourth = weekday === 6 && [2, 4].includes(saturdays.get(month)!)
    return weekday !== 0 && !isSecondOrFourth && !holidays.includes(day)
  }).map(({ day }) => day)
}

const dayOf = fc.integer({ min: 60, max: DAYS - 120 }).map((i) => WALL[i]!.day)
const holidaysOf = fc.array(
  fc.integer({ min: 0, max: DAYS - 1 }).map((i) => WALL[i]!.day),
  { maxLength: 60 },
)

test('bank days are those of a calendar in which Sundays, second and fourth Saturdays and holidays are crossed out', () => {
  fc.assert(
    fc.property(holidaysOf, dayOf, fc.integer({ min: 1, max: 20 }), (holidays, day, n) => {
      const bankDays = new BankDays(holidays)
      const open = openDays(holidays)
      expect(WALL.filter((each) => bankDays.isOpen(each.day)).map((each) => each.day)).toEqual(open)
      expect(bankDays.after(day, n)).toBe(open.filter((each) => each > day)[n - 1])
      expect(bankDays.after(day, 0)).toBe(open.find((each) => each >= day))
      expect(bankDays.before(day, n)).toBe(open.filter((each) => each < day).at(-n))
    }),
    { numRuns: 60 },
  )
})

test('what is of a day is late exactly when its T+n is over', () => {
  fc.assert(
    fc.property(holidaysOf, dayOf, fc.integer({ min: 0, max: 10 }), (holidays, today, n) => {
      const bankDays = new BankDays(holidays)
      const first = bankDays.firstInTime(today, n)
      for (let back = -5; back < 40; back++) {
        const day = dayAfter(today, -back)
        expect([day, day < first]).toEqual([day, bankDays.after(day, n) < today])
      }
    }),
    { numRuns: 60 },
  )
})

test('days, weekdays and ends of months are those of the calendar, across leap years', () => {
  for (const [i, { day, weekday }] of WALL.entries()) {
    expect(dayAfter(FIRST, i)).toBe(day)
    expect(weekdayOf(day)).toBe(weekday)
    const next = WALL[i + 1]
    if (next?.of === 1) expect(monthEnd(`${day.slice(0, 8)}05`)).toBe(day)
  }
  expect(monthEnd('2028-02-01')).toBe('2028-02-29')
  expect(dayAfter('2028-02-28')).toBe('2028-02-29')
})
