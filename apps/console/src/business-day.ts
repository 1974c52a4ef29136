const DAY_MS = 86_400_000

/** Minutes that the zone is ahead of UTC at an instant. */
function offsetMinutes(at: Date, timeZone: string): number {
  const name = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value
  const match = /GMT([+-])(\d{2}):(\d{2})/.exec(name ?? '')
  if (!match) return 0
  return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3]))
}

/** The instant of a minute or second (`2026-11-21T10:30`) in the zone, so many days later, as RFC 3339. */
export function instantOf(minute: string, timeZone: string, daysLater = 0): string {
  const utcMs = Date.parse(`${minute}Z`) + daysLater * DAY_MS
  const guess = new Date(utcMs - offsetMinutes(new Date(utcMs), timeZone) * 60_000)
  return new Date(utcMs - offsetMinutes(guess, timeZone) * 60_000).toISOString()
}

/** The instant at which a day (`2026-11-21`) begins in the zone, so many days later, as RFC 3339. */
export const startOfDay = (day: string, timeZone: string, daysLater = 0): string =>
  instantOf(`${day}T00:00`, timeZone, daysLater)

/** The second in the zone in which an instant lies, as fields of a form take it; empty for no instant. */
export const secondOf = (at: Date, timeZone: string): string =>
  Number.isNaN(at.getTime())
    ? ''
    : new Date(at.getTime() + offsetMinutes(at, timeZone) * 60_000).toISOString().slice(0, 19)

/** The minute in the zone in which an instant lies, as fields of a form take it. */
export const minuteOf = (at: Date, timeZone: string): string =>
  new Date(at.getTime() + offsetMinutes(at, timeZone) * 60_000).toISOString().slice(0, 16)

/** The day in the zone on which an instant lies, so many days later. */
export function dayOf(instant: string, timeZone: string, daysLater = 0): string {
  const at = new Date(instant)
  if (Number.isNaN(at.getTime())) return ''
  const localMs = at.getTime() + offsetMinutes(at, timeZone) * 60_000
  return new Date(localMs + daysLater * DAY_MS).toISOString().slice(0, 10)
}
