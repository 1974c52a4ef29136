import { type Reading, readText, unreadable } from './reading.ts'
import { calendarDay, EARLIEST, LATEST } from './time.ts'

/** How a sender writes times. What is unambiguous is read whatever the form says. */
export interface TimeForm {
  /** Of times without a zone, such as `+05:30`. Without it they are unreadable. */
  readonly utcOffset?: string | undefined
  /** For what would be ambiguous: `yyyy yy MM MMM dd HH hh mm ss SSS a`, such as `ddMMyyyyHHmmss`. */
  readonly pattern?: string | undefined
}

interface WallTime {
  readonly year: number
  readonly month: number
  readonly day: number
  /** Milliseconds of the day; absent where only the day is stated. */
  readonly timeMs?: number
  /** Minutes ahead of UTC; absent where no zone is stated. */
  readonly offset?: number
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const MINUTE_MS = 60_000

const MONTH = '(?<name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?'
const WEEKDAY = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\\s+)?'
const CLOCK =
  '(?<hour>\\d{1,2}):(?<minute>\\d{2})(?::(?<second>\\d{2})(?:[.,](?<fraction>\\d+))?)?(?:\\s*(?<half>[ap])\\.?m\\.?)?'
const ZONE = '(?<zone>z|utc|gmt|ist|(?:utc|gmt)?[-+\u2212]\\d{2}(?::?\\d{2})?)'
/** The name of the zone behind it, as in `+05:30[Asia/Kolkata]`, or of the day of the week. */
const NOTE = '(?:\\s*[[(](?<note>[^\\])]*)[\\])])?'
const TAIL = `(?:(?:t|,?\\s+)${CLOCK})?(?:\\s*${ZONE})?${NOTE}$`

/** A day is written year first or day first, never month first unless the month is named. */
const FORMS = [
  `^(?<year>\\d{4})(?<sep>[-/.])(?<month>\\d{1,2})\\k<sep>(?<day>\\d{1,2})${TAIL}`,
  `^(?<day>\\d{1,2})(?<sep>[-/.])(?<month>\\d{1,2})\\k<sep>(?<year>\\d{4}|\\d{2})${TAIL}`,
  `^${WEEKDAY}(?<day>\\d{1,2})(?<sep>[-/. ]?)${MONTH}[-/., ]*(?<year>\\d{4}|\\d{2})${TAIL}`,
  `^${WEEKDAY}${MONTH}\\s+(?<day>\\d{1,2}),?\\s+(?<year>\\d{4})${TAIL}`,
  // The text of a Java Date: Fri Nov 27 16:23:36 IST 2026.
  `^${WEEKDAY}${MONTH}\\s+(?<day>\\d{1,2})\\s+${CLOCK}(?:\\s+${ZONE})?\\s+(?<year>\\d{4})$`,
  `^(?<year>\\d{4})(?<month>\\d{2})(?<day>\\d{2})(?:t?(?<hour>\\d{2})(?<minute>\\d{2})(?<second>\\d{2})(?:[.,]?(?<fraction>\\d{3}))?(?:\\s*${ZONE})?)?$`,
].map((form) => new RegExp(form, 'iu'))

const DAY_FIRST = FORMS[1]

type Groups = Readonly<Record<string, string | undefined>>

/**
 * Reads an instant (decision Q11): RFC 3339 and its usual variants, seconds or milliseconds since 1970, `20261127162336`,
 * `27-Nov-2026 4:23 PM`. A time without a zone is read by the form's `utcOffset`; without one it is unreadable.
 */
export function readInstant(value: unknown, form: TimeForm = {}): Reading<Date> {
  const stated = textOf(value)
  if ('unreadable' in stated) return stated
  const epoch = form.pattern === undefined ? epochMs(stated.value) : undefined
  if (epoch !== undefined) return within(epoch)
  const wall = readWall(stated.value, form.pattern)
  if ('unreadable' in wall) return wall
  const { timeMs, offset = offsetOf(form.utcOffset) } = wall.value
  if (timeMs === undefined) return unreadable('has no time of day')
  if (offset === undefined) return unreadable('has no zone')
  return within(dayMs(wall.value) + timeMs - offset * MINUTE_MS)
}

/**
 * Reads a day of the calendar as `YYYY-MM-DD`, with or without a time behind it. An instant with a zone is the day that it
 * has in the business zone.
 */
export function readDay(value: unknown, zone: string, form: TimeForm = {}): Reading<string> {
  const stated = textOf(value)
  if ('unreadable' in stated) return stated
  const epoch = form.pattern === undefined ? epochMs(stated.value) : undefined
  if (epoch !== undefined) return dayOf(within(epoch), zone)
  const wall = readWall(stated.value, form.pattern)
  if ('unreadable' in wall) return wall
  const { timeMs, offset } = wall.value
  if (timeMs !== undefined && offset !== undefined)
    return dayOf(within(dayMs(wall.value) + timeMs - offset * MINUTE_MS), zone)
  return { value: new Date(dayMs(wall.value)).toISOString().slice(0, 10) }
}

const dayOf = (instant: Reading<Date>, zone: string): Reading<string> =>
  'unreadable' in instant ? instant : { value: calendarDay(instant.value, zone) }

/** A number may have a fraction of a second here. */
const textOf = (value: unknown): Reading<string> =>
  typeof value === 'number' ? { value: String(value) } : readText(value)

function within(ms: number): Reading<Date> {
  const instant = new Date(ms)
  return instant >= EARLIEST && instant <= LATEST
    ? { value: instant }
    : unreadable('is not an instant of 1900 to 9999')
}

/**
 * Ten digits are seconds, thirteen milliseconds, sixteen microseconds since 1970. Ten may be `MMddHHmmss` (ISO 8583 field 7)
 * or `yyMMddHHmm` too: only from 2011 to 2042 they are seconds and nothing else.
 */
function epochMs(text: string): number | undefined {
  if (/^(?:1[3-9]|2[0-2])\d{8}(?:\.\d+)?$/.test(text)) return Math.floor(Number(text) * 1_000)
  if (/^[1-9]\d{12}(?:\.\d+)?$/.test(text)) return Math.floor(Number(text))
  return /^[1-9]\d{15}$/.test(text) ? Math.floor(Number(text) / 1_000) : undefined
}

function readWall(text: string, pattern: string | undefined): Reading<WallTime> {
  // Of a sender that writes the month first, no digits are read day first.
  const others = /^MM(?!M)[^d]*dd/.test(pattern ?? '') ? FORMS.filter((form) => form !== DAY_FIRST) : FORMS
  const forms = pattern === undefined ? others : [patternForm(pattern), ...others]
  for (const form of forms) {
    const groups = form.exec(text)?.groups
    if (groups) return wallOf(groups)
  }
  return unreadable('is not a date')
}

function wallOf(groups: Groups): Reading<WallTime> {
  const { name, year = '', day, month } = groups
  const wall = {
    year: Number(year) + (year.length === 2 ? 2000 : 0),
    month: name === undefined ? Number(month) : MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1,
    day: Number(day),
  }
  // `Date` counts 30 February on into the next month.
  const read = new Date(dayMs(wall))
  if (read.getUTCMonth() + 1 !== wall.month || read.getUTCDate() !== wall.day || wall.year < 1900)
    return unreadable('is not a day of the calendar, year first or day first')
  const timeMs = timeOfDay(groups)
  if (Number.isNaN(timeMs)) return unreadable('is not a time of day')
  const offset = offsetOf(groups['zone'])
  if (Number.isNaN(offset)) return unreadable('is not in a zone')
  if (timeMs !== undefined && offset === undefined && groups['note'] !== undefined)
    return unreadable('has its zone in brackets alone')
  return {
    value: { ...wall, ...(timeMs !== undefined && { timeMs }), ...(offset !== undefined && { offset }) },
  }
}

const dayMs = ({ year, month, day }: Pick<WallTime, 'year' | 'month' | 'day'>): number =>
  Date.UTC(year, month - 1, day)

/** `NaN` where no clock shows it. */
function timeOfDay({ hour, minute, second = '0', fraction = '', half }: Groups): number | undefined {
  if (hour === undefined) return undefined
  const twelve = half !== undefined
  const h = twelve ? (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number(hour)
  const isClock = (twelve ? Number(hour) >= 1 && Number(hour) <= 12 : h <= 23) && Number(minute) <= 59
  if (!isClock || Number(second) > 59) return Number.NaN
  return (
    (h * 60 + Number(minute)) * MINUTE_MS +
    Number(second) * 1_000 +
    Number(fraction.slice(0, 3).padEnd(3, '0'))
  )
}

const OFFSET_MAX = 14 * 60

/** Minutes ahead of UTC; `NaN` where no place has such a time. In India `IST` is its own time. */
function offsetOf(zone: string | undefined): number | undefined {
  if (zone === undefined) return undefined
  if (/^ist$/i.test(zone)) return 330
  const [, sign, hours, minutes = '0'] = /([-+\u2212])(\d{2}):?(\d{2})?$/u.exec(zone) ?? []
  if (hours === undefined) return 0
  const ahead = Number(hours) * 60 + Number(minutes)
  if (Number(minutes) > 59 || ahead > OFFSET_MAX) return Number.NaN
  return sign === '+' ? ahead : -ahead
}

const TOKENS: Readonly<Record<string, string>> = {
  yyyy: '(?<year>\\d{4})',
  yy: '(?<year>\\d{2})',
  MMM: MONTH,
  MM: '(?<month>\\d{1,2})',
  dd: '(?<day>\\d{1,2})',
  HH: '(?<hour>\\d{1,2})',
  hh: '(?<hour>\\d{1,2})',
  mm: '(?<minute>\\d{2})',
  ss: '(?<second>\\d{2})',
  SSS: '(?<fraction>\\d{1,9})',
  a: '(?<half>[ap])\\.?m\\.?',
}
/** Digits that follow each other without a separator have their full width. */
const COMPACT: Readonly<Record<string, string>> = {
  MM: '(?<month>\\d{2})',
  dd: '(?<day>\\d{2})',
  HH: '(?<hour>\\d{2})',
}

const patterns = new Map<string, RegExp>()

function patternForm(pattern: string): RegExp {
  let form = patterns.get(pattern)
  if (!form) {
    const tokens = /^[a-zA-Z]+$/.test(pattern) ? { ...TOKENS, ...COMPACT } : TOKENS
    const source = pattern.replace(/yyyy|yy|MMM|MM|dd|HH|hh|mm|ss|SSS|a|./gu, (token) =>
      Object.hasOwn(tokens, token) ? tokens[token]! : token === '.' ? '[.]' : token,
    )
    form = new RegExp(`^${source}(?:\\s*${ZONE})?$`, 'iu')
    patterns.set(pattern, form)
  }
  return form
}

/** Whether a text is a pattern of times that names a day. */
export const isTimePattern = (pattern: string): boolean =>
  pattern.replace(/yyyy|yy|MMM|MM|dd|HH|hh|mm|ss|SSS|a|[-/.,: T]/g, '') === '' &&
  [/yy/, /MM/, /dd/].every((token) => token.test(pattern))
