/** The range of instants that requests may name (decision Q7). */
export const EARLIEST = '1900-01-01T00:00:00.000Z'
export const LATEST = '9999-12-30T23:59:59.999Z'

const two = (n: number) => String(n).padStart(2, '0')

/** The instant with the clock of this offset from UTC, in minutes; without its fraction of a second. */
function wall(instant: Date, minutes: number): { readonly text: string; readonly offset: string } {
  const text = new Date(instant.getTime() + minutes * 60_000).toISOString().slice(0, 19)
  const size = Math.abs(minutes)
  return { text, offset: `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}` }
}

/** Ways in which RFC 3339 writes this instant. */
export function spellings(instant: Date): string[] {
  const ms = instant.toISOString().slice(20, 23)
  const short = ms.replace(/0{1,2}$/, '')
  const offsets = [0, 330, -720, 840, 1_439, -1_439, 1, -1].map((minutes) => wall(instant, minutes))
  const utc = wall(instant, 0).text
  // What is finer than a millisecond is cut off, never rounded up.
  const fractions = [short, ms, `${ms}0`, `${ms}999`, `${ms}999999`, ms + '9'.repeat(12)]
  return [
    ...offsets.map(({ text, offset }) => `${text}.${short}${offset}`),
    ...fractions.map((fraction) => `${utc}.${fraction}Z`),
    `${utc}.${short}-00:00`,
    `${utc}.${short}z`,
    `${utc.replace('T', 't')}.${short}Z`,
    `${utc.replace('T', 't')}.${short}z`,
    ...(ms === '000' ? [`${utc}Z`, `${utc}+00:00`] : []),
  ].filter((text) => /^\d{4}-/.test(text))
}

/** Texts that are not RFC 3339, are on no calendar, or are out of the range; most are near this instant. */
export function misspellings(instant: Date): string[] {
  const utc = wall(instant, 0).text
  const india = wall(instant, 330).text
  const [date, time] = utc.split('T') as [string, string]
  const year = date.slice(0, 4)
  return [
    `${india.replace('T', ' ')}+05:30`,
    `${utc.replace('T', ' ')}Z`,
    `${utc.replace('T', '_')}Z`,
    `${utc.replace('T', '')}Z`,
    `${india}+0530`,
    `${india}+05`,
    `${india}+5:30`,
    `${india}+05:3`,
    `${india}+05:30:00`,
    `${india}\u221205:30`,
    `${utc}+24:00`,
    `${utc}+05:60`,
    `${utc}Z+00:00`,
    `${utc}ZZ`,
    utc,
    date,
    time,
    `${utc.slice(0, 16)}Z`,
    `${utc.slice(0, 13)}Z`,
    `${utc.slice(0, 17)}60Z`,
    `${date}T23:59:60Z`,
    `${date}T24:00:00Z`,
    `${date}T25:00:00Z`,
    `${date}T10:60:00Z`,
    `${date}T10:00:61Z`,
    `${year}-13-01T00:00:00Z`,
    `${year}-00-01T00:00:00Z`,
    `${year}-01-00T00:00:00Z`,
    `${year}-01-32T00:00:00Z`,
    `${year}-02-30T00:00:00Z`,
    `${year}-04-31T00:00:00Z`,
    '2027-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    `${year.slice(2)}${utc.slice(4)}Z`,
    `0${utc}Z`,
    `+00${utc}Z`,
    `-00${utc}Z`,
    `-${utc}Z`,
    `${year}-W20-1T00:00:00Z`,
    `${year}-120T00:00:00Z`,
    `${utc.replaceAll('-', '')}Z`,
    `${utc.replaceAll(':', '')}Z`,
    `${utc}.Z`,
    `${utc},5Z`,
    `${utc}.5`,
    ` ${utc}Z`,
    `${utc}Z `,
    utc.replace(/\d/g, (digit) => String.fromCharCode(0x0660 + Number(digit))) + 'Z',
    instant.toUTCString(),
    String(instant),
    String(instant.getTime()),
    '',
    'now',
    'infinity',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '1899-12-31T23:59:59.999Z',
    '1900-01-01T00:00:00+00:01',
    '9999-12-31T00:00:00Z',
    '9999-12-31T23:59:59-12:00',
    '9999-12-30T23:59:59.999-00:01',
  ]
}
