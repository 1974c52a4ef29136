/** Time as rules know it: each tenant has its own. */
export interface TenantClocks {
  /** The tenant's own time: that of its test clock, otherwise the process's. */
  of(tenantId: string): Clock
}

/** The time as the process sees it, in milliseconds since 1970. Tests and the simulation move it. */
export interface Clock extends TenantClocks {
  /** For ids, the audit and retention; for what concerns a tenant: `of(tenantId).now()`. */
  now(): number
  /** Milliseconds to add to the database's time, so that a moved clock moves the whole service. */
  offsetMs(): number
  /** Every time that tenants live in. What has become due is looked for in each of them, in this order. */
  timelines(): readonly Timeline[]
}

/** A time, and the tenants that live in it. */
export interface Timeline {
  /** `null`: all. */
  readonly tenantIds: readonly string[] | null
  /** What is due goes by the database's time and this offset, never by what a process's clock shows (decision X35). */
  readonly clock: Pick<Clock, 'offsetMs'>
}

/** An instant by a clock. */
export interface Moment {
  readonly clock: Clock
  readonly now: Date
}

/** What the tenant's own clock shows at that moment. */
export const timeOf = (tenantId: string, { clock, now }: Moment): Date =>
  new Date(now.getTime() + clock.of(tenantId).offsetMs() - clock.offsetMs())

/** Does the work in each time that tenants live in; returns the sum of what it returns. */
export async function inEachTime(
  clock: Clock,
  work: (timeline: Timeline) => Promise<number>,
): Promise<number> {
  let sum = 0
  for (const timeline of clock.timelines()) sum += await work(timeline)
  return sum
}

/** A clock by which all tenants live. */
abstract class CommonClock implements Clock {
  readonly #timelines: readonly Timeline[] = [{ tenantIds: null, clock: this }]

  abstract now(): number
  abstract offsetMs(): number

  of(): Clock {
    return this
  }

  timelines(): readonly Timeline[] {
    return this.#timelines
  }
}

/** A clock that shows this time, as the database does. */
class ClockOf extends CommonClock {
  readonly now: () => number

  constructor(now: () => number) {
    super()
    this.now = now
  }

  offsetMs(): number {
    return 0
  }
}

export const clockOf = (now: () => number): Clock => new ClockOf(now)

export const systemClock = clockOf(() => Date.now())

/** A clock that is ahead of another one by so many milliseconds. */
export class ClockAhead extends CommonClock {
  readonly aheadMs: number
  readonly #base: Clock

  constructor(base: Clock, aheadMs: number) {
    super()
    this.#base = base
    this.aheadMs = aheadMs
  }

  now(): number {
    return this.#base.now() + this.aheadMs
  }

  offsetMs(): number {
    return this.#base.offsetMs() + this.aheadMs
  }
}

/** A clock that people may move: tests, the simulation. */
export class MovableClock extends CommonClock {
  #offsetMs = 0

  now(): number {
    return Date.now() + this.#offsetMs
  }

  offsetMs(): number {
    return this.#offsetMs
  }

  advance(ms: number): void {
    this.#offsetMs += ms
  }
}

const formats = new Map<string, Intl.DateTimeFormat>()

function format(zone: string): Intl.DateTimeFormat {
  let found = formats.get(zone)
  if (!found) {
    found = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
    formats.set(zone, found)
  }
  return found
}

/** How far a zone's clocks are ahead of UTC, and as RFC 3339 writes it. */
interface Offset {
  readonly ms: number
  readonly text: string
}

/** Offsets change at most at quarter hours, so one offset serves all instants of that quarter hour. */
const offsets = new Map<string, Offset>()

function offsetOf(instant: Date, zone: string): Offset {
  const quarter = `${zone}:${Math.floor(instant.getTime() / 900_000)}`
  let offset = offsets.get(quarter)
  if (!offset) {
    if (offsets.size > 10_000) offsets.clear()
    offset = readOffset(instant, zone)
    offsets.set(quarter, offset)
  }
  return offset
}

function readOffset(instant: Date, zone: string): Offset {
  const p: Record<string, string> = {}
  for (const { type, value } of format(zone).formatToParts(instant)) p[type] = value
  const wall = Date.UTC(+p['year']!, +p['month']! - 1, +p['day']!, +p['hour']!, +p['minute']!, +p['second']!)
  const minutes = Math.round((wall - Math.floor(instant.getTime() / 1000) * 1000) / 60_000)
  const size = Math.abs(minutes)
  const two = (n: number) => String(n).padStart(2, '0')
  return {
    ms: minutes * 60_000,
    text: `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`,
  }
}

/** A date whose UTC fields are what the zone's clocks show at the instant. */
const wallClock = (instant: Date, zone: string): Date =>
  new Date(instant.getTime() + offsetOf(instant, zone).ms)

/** `YYYY-MM-DD HH:MM:SS` in the zone: the spec's form of `errorResponse.timestamp` (section 2.2). */
export const plainTimestamp = (instant: Date, zone: string): string =>
  wallClock(instant, zone).toISOString().slice(0, 19).replace('T', ' ')

/** `YYYY-MM-DD` in the zone. */
export const calendarDay = (instant: Date, zone: string): string =>
  wallClock(instant, zone).toISOString().slice(0, 10)

const MINUTE_MS = 60_000

/** The instant at which the zone's clocks show so many minutes of this day, `YYYY-MM-DD`; 1,440 is the next midnight. */
export function instantOfDay(day: string, minutes: number, zone: string): Date {
  const wallMs = new Date(`${day}T00:00:00.000Z`).getTime() + minutes * MINUTE_MS
  // The zone may be at another offset then than it is at the same time of UTC.
  const guessed = wallMs - offsetOf(new Date(wallMs), zone).ms
  return new Date(wallMs - offsetOf(new Date(guessed), zone).ms)
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Mon D, YYYY h:mm:ss AM/PM` in the zone: the spec's form of a card's dates (section 2.4). */
export function textTimestamp(instant: Date, zone: string): string {
  const wall = wallClock(instant, zone)
  const hour = wall.getUTCHours()
  const clock = `${hour % 12 || 12}${wall.toISOString().slice(13, 19)} ${hour < 12 ? 'AM' : 'PM'}`
  return `${MONTHS[wall.getUTCMonth()]} ${wall.getUTCDate()}, ${wall.getUTCFullYear()} ${clock}`
}

/** RFC 3339 with milliseconds and the zone's offset, `2026-04-01T15:04:05.123+05:30` (decision Q7). */
export const rfc3339 = (instant: Date, zone: string): string =>
  wallClock(instant, zone).toISOString().replace('Z', offsetOf(instant, zone).text)

/**
 * The instants that requests may name (decision Q7): in every zone a response writes them with a year of four digits.
 */
export const EARLIEST = new Date('1900-01-01T00:00:00.000Z')
export const LATEST = new Date('9999-12-30T23:59:59.999Z')

const RFC3339 = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i

/**
 * Reads RFC 3339 with a zone; what is finer than a millisecond is cut off. `undefined` for anything else: days that no
 * calendar has, leap seconds, which `Date` does not know, and instants out of the range.
 */
export function parseRfc3339(text: string): Date | undefined {
  const match = RFC3339.exec(text)
  if (!match) return undefined
  const [, dateTime = '', fraction = '', sign, hours, minutes] = match
  const wall = `${dateTime.toUpperCase()}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
  const wallMs = Date.parse(wall)
  // `Date` counts 30 February and hour 24 on into the next month or day.
  if (Number.isNaN(wallMs) || new Date(wallMs).toISOString() !== wall) return undefined
  const aheadMs = sign === undefined ? 0 : (Number(hours) * 60 + Number(minutes)) * 60_000
  const instant = new Date(sign === '-' ? wallMs + aheadMs : wallMs - aheadMs)
  return instant >= EARLIEST && instant <= LATEST ? instant : undefined
}

/** Whether the text is a day of the calendar, `YYYY-MM-DD`. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && parseRfc3339(`${text}T00:00:00Z`) !== undefined
