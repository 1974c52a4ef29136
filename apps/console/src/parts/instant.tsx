import { Text, Tooltip } from '@mantine/core'
import { useSession } from '../session.ts'

const UNITS = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

function relative(at: Date, now = Date.now()): string {
  const seconds = (at.getTime() - now) / 1_000
  for (const [unit, length] of UNITS)
    if (Math.abs(seconds) >= length) return RELATIVE.format(Math.trunc(seconds / length), unit)
  return Math.abs(seconds) < 10 ? 'just now' : RELATIVE.format(Math.trunc(seconds), 'second')
}

const DAYS = new Intl.NumberFormat('en', { style: 'unit', unit: 'day', unitDisplay: 'long' })
const HOURS = new Intl.NumberFormat('en', { style: 'unit', unit: 'hour', unitDisplay: 'long' })

/** How many whole days an instant lies back, such as `3 days`; below one day hours, such as `5 hours`. */
export function ageOf(at: string, now = Date.now()): string {
  const hours = Math.max(0, Math.floor((now - Date.parse(at)) / 3_600_000))
  if (hours === 0) return 'under an hour'
  if (hours >= 24) return DAYS.format(Math.floor(hours / 24))
  return HOURS.format(hours)
}

/** How long ago an instant was, in words. */
export const relativeTo = (at: string): string => relative(new Date(at))

const formats = new Map<string, Intl.DateTimeFormat>()

/** An instant in a zone to the second, such as `21 Nov 2026, 3:04:05 pm`. */
function formatInstant(at: Date, timeZone: string): string {
  let format = formats.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-IN', { dateStyle: 'medium', timeStyle: 'medium', timeZone })
    formats.set(timeZone, format)
  }
  return format.format(at)
}

interface InstantProps {
  /** RFC 3339. */
  readonly at: string | null | undefined
  /** Shows how long ago it was beside it, not on hover alone. */
  readonly long?: boolean
}

/** The time in the business zone; in UTC, and how long ago it was, on hover. */
export function Instant({ at, long = false }: InstantProps) {
  const { timeZone } = useSession()
  if (!at)
    return (
      <Text span inherit c="dimmed">
        –
      </Text>
    )
  const date = new Date(at)
  // Some records of the specification say dates in words, in the business zone already.
  if (Number.isNaN(date.getTime()) || !at.includes('T')) return <span>{at}</span>
  const text = formatInstant(date, timeZone)
  const hint = relative(date)
  const time = (
    <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
      {text}
    </time>
  )
  const exact = (
    <Tooltip label={`${hint}: ${formatInstant(date, 'UTC')} UTC`} openDelay={200}>
      {time}
    </Tooltip>
  )
  if (long)
    return (
      <span>
        {exact}{' '}
        <Text span inherit c="dimmed" style={{ whiteSpace: 'nowrap' }}>
          ({hint})
        </Text>
      </span>
    )
  return exact
}

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/** A business day (`2026-11-27`) as `27 Nov 2026`. */
export const dayText = (day: string): string => {
  const at = new Date(`${day}T00:00:00Z`)
  return Number.isNaN(at.getTime()) ? day : DAY.format(at)
}

/** A business day, which no line break divides. */
export const Day = ({ day }: { readonly day: string }) => (
  <Text span inherit style={{ whiteSpace: 'nowrap' }}>
    {dayText(day)}
  </Text>
)
