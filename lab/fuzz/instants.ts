import * as fc from 'fast-check'

/**
 * What the date-time grammars of ajv-formats, of `Date` and of PostgreSQL read besides RFC 3339, part by part, and what
 * is on the edge of each: prefix, year, month, day, separator, hour, minute, second, fraction, zone, suffix.
 */
const ODD: readonly (readonly string[])[] = [
  [' ', '+', '-', '+00', '-00', '"', '\t', '\ufeff'],
  [
    '0000',
    '0001',
    '0099',
    '1899',
    '1900',
    '1970',
    '2100',
    '9998',
    '9999',
    '10000',
    '999',
    '26',
    '+2026',
    '٢٠٢٦',
  ],
  ['00', '13', '1', '02', 'W20', 'Nov'],
  ['00', '29', '30', '31', '32', '1'],
  [' ', 't', 'T', '_', '', '  ', 'T ', '\t', '\n', '%20', '+'],
  ['00', '23', '24', '25', '1', '-1'],
  ['00', '59', '60', '61', '1'],
  ['00', '59', '60', '61', '1', ''],
  ['', '.', '.0', '.5', '.9', '.999', '.9999', '.999999999999999', '.000001', ',5', '.-1', '. 5', '.5e3'],
  [
    'Z',
    'z',
    '',
    '+00:00',
    '-00:00',
    '+05:30',
    '-05:30',
    '+0530',
    '+05',
    '+5:30',
    '+05:3',
    '+14:00',
    '-12:00',
    '+23:59',
    '-23:59',
    '+24:00',
    '-24:00',
    '+05:60',
    '+05:30:00',
    '\u221205:30',
    ' +05:30',
    ' Z',
    'ZZ',
    'Z+00:00',
    'UTC',
    ' GMT',
    '[Asia/Kolkata]',
    'Z[UTC]',
  ],
  [' ', '\n', '\0', '.', '0', 'Z', ';', '\ufeff'],
]

const ZONES = ['Z', 'Z', 'z', '+05:30', '-00:00', '+23:59', '-23:59', '+00:01', '-12:00', '+14:00']
const two = (n: number): string => String(n).padStart(2, '0')

/** The parts that RFC 3339 writes for this instant in this zone. */
function partsOf(atMs: number, zone: string, fraction: string): string[] {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone) ?? []
  const aheadMs = sign === undefined ? 0 : (Number(hours) * 60 + Number(minutes)) * 60_000
  const wall = new Date(atMs + (sign === '-' ? -aheadMs : aheadMs))
  return [
    '',
    String(wall.getUTCFullYear()).padStart(4, '0'),
    two(wall.getUTCMonth() + 1),
    two(wall.getUTCDate()),
    'T',
    two(wall.getUTCHours()),
    two(wall.getUTCMinutes()),
    two(wall.getUTCSeconds()),
    fraction,
    zone,
    '',
  ]
}

const DAY_MS = 86_400_000
/** The range of decision Q7. */
const EARLIEST_MS = Date.UTC(1900, 0, 1)
const LATEST_MS = Date.UTC(9999, 11, 30, 23, 59, 59, 999)

/** Milliseconds to add to the time that a field is about, or an instant by itself. */
export type Moment = { readonly aheadMs: number } | { readonly atMs: number }

const moment: fc.Arbitrary<Moment> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ aheadMs: fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }) }) },
  { weight: 2, arbitrary: fc.record({ aheadMs: fc.integer({ min: -60 * DAY_MS, max: 2_000 * DAY_MS }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      atMs: fc.integer({ min: Date.UTC(1899, 11, 30), max: Date.UTC(9999, 11, 31, 23, 59, 59) }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      atMs: fc
        .tuple(
          fc.constantFrom(EARLIEST_MS, LATEST_MS, Date.UTC(2028, 1, 29), Date.UTC(2100, 1, 28)),
          fc.integer({ min: -DAY_MS, max: DAY_MS }),
        )
        .map(([at, more]) => at + more),
    }),
  },
)

export interface DatePlan {
  readonly moment: Moment
  readonly zone: string
  readonly fraction: string
  /** Parts that are spelled in an odd way. */
  readonly odd: readonly (readonly [part: number, n: number])[]
}

export const datePlan: fc.Arbitrary<DatePlan> = fc.record({
  moment,
  zone: fc.constantFrom(...ZONES),
  fraction: fc.oneof(fc.constantFrom('', '', '.1', '.12', '.123'), fc.stringMatching(/^\.[0-9]{1,20}$/)),
  odd: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    {
      weight: 5,
      arbitrary: fc.array(fc.tuple(fc.nat(ODD.length - 1), fc.nat(1_000)), { minLength: 1, maxLength: 2 }),
    },
  ),
})

export function textOf({ moment: at, zone, fraction, odd }: DatePlan, nowMs: number): string {
  const parts = partsOf('atMs' in at ? at.atMs : nowMs + at.aheadMs, zone, fraction)
  for (const [part, n] of odd) {
    const ways = ODD[part]!
    parts[part] = ways[n % ways.length]!
  }
  const [prefix, year, month, day, separator, hour, minute, second, rest, offset, suffix] = parts
  return `${prefix}${year}-${month}-${day}${separator}${hour}:${minute}:${second}${rest}${offset}${suffix}`
}

/** Days from 1 January 1970, by the rule of leap years alone (no `Date`). */
function daysOf(year: number, month: number, day: number): number {
  const leaps = (y: number) => Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400)
  const lengths = monthLengths(year)
  let days = (year - 1970) * 365 + leaps(year - 1) - leaps(1969) + day - 1
  for (let m = 1; m < month; m++) days += lengths[m - 1]!
  return days
}

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
const monthLengths = (year: number): readonly number[] => [
  31,
  isLeap(year) ? 29 : 28,
  31,
  30,
  31,
  30,
  31,
  31,
  30,
  31,
  30,
  31,
]

/**
 * The instant that decision Q7 reads from a text, in milliseconds since 1970; undefined where it refuses the text. Reads
 * by RFC 3339 section 5.6 with arithmetic of its own, so that it shares no mistake with the service.
 */
export function instantOf(text: string): number | undefined {
  const found =
    /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$/.exec(
      text,
    )
  if (!found || found[0].length !== text.length) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map(Number)
  const zone = found[8]!
  const [hours = 0, minutes = 0] = zone.length === 1 ? [] : [Number(zone.slice(1, 3)), Number(zone.slice(4))]
  if (month < 1 || month > 12 || day < 1 || day > monthLengths(year)[month - 1]!) return undefined
  if (hour > 23 || minute > 59 || second > 59 || hours > 23 || minutes > 59) return undefined
  const ms = Number((found[7] ?? '.0').slice(1, 4).padEnd(3, '0'))
  const aheadMinutes = (hours * 60 + minutes) * (zone.startsWith('-') ? -1 : 1)
  const atMinutes = daysOf(year, month, day) * 1_440 + hour * 60 + minute - aheadMinutes
  const atMs = (atMinutes * 60 + second) * 1_000 + ms
  return atMs >= EARLIEST_MS && atMs <= LATEST_MS ? atMs : undefined
}
