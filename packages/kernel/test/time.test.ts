import { EARLIEST, LATEST, MovableClock, parseRfc3339, plainTimestamp, rfc3339 } from '@svc/kernel/time'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { misspellings, spellings } from './instants.ts'

test.each([
  ['Asia/Kolkata', '2026-04-01T09:34:05.123Z', '2026-04-01T15:04:05.123+05:30'],
  ['Asia/Kathmandu', '2026-04-01T20:00:00.000Z', '2026-04-02T01:45:00.000+05:45'],
  ['America/St_Johns', '2026-01-01T00:00:00.000Z', '2025-12-31T20:30:00.000-03:30'],
  ['America/New_York', '2026-03-08T06:59:59.999Z', '2026-03-08T01:59:59.999-05:00'],
  ['America/New_York', '2026-03-08T07:00:00.000Z', '2026-03-08T03:00:00.000-04:00'],
  ['Europe/Berlin', '2026-10-25T00:59:59.000Z', '2026-10-25T02:59:59.000+02:00'],
  ['Europe/Berlin', '2026-10-25T01:00:00.000Z', '2026-10-25T02:00:00.000+01:00'],
  ['Australia/Lord_Howe', '2026-07-01T00:00:00.000Z', '2026-07-01T10:30:00.000+10:30'],
  ['UTC', '2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999+00:00'],
])('in %s the instant %s is written %s', (zone, instant, text) => {
  expect(rfc3339(new Date(instant), zone)).toBe(text)
  expect(plainTimestamp(new Date(instant), zone)).toBe(text.slice(0, 19).replace('T', ' '))
})

test('an instant in the range is written with a four-digit year in every zone, and parses back to the same', () => {
  const instants = fc.oneof(
    fc.constantFrom(EARLIEST, LATEST),
    fc.date({ min: EARLIEST, max: LATEST, noInvalidDate: true }),
  )
  // 1 January 1906 and 7 January 1972: the last days of India's and Liberia's offsets with seconds in them.
  const examples = ['1905-12-31T18:38:49.999Z', '1972-01-07T00:44:29.999Z'].map((text) => new Date(text))
  for (const zone of Intl.supportedValuesOf('timeZone'))
    for (const instant of [EARLIEST, LATEST, ...examples])
      expect([zone, parseRfc3339(rfc3339(instant, zone))]).toEqual([zone, instant])
  fc.assert(
    fc.property(instants, fc.constantFrom(...Intl.supportedValuesOf('timeZone')), (instant, zone) => {
      const text = rfc3339(instant, zone)
      expect(text).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}[+-]\d{2}:\d{2}$/)
      expect(new Date(text)).toEqual(instant)
      expect(parseRfc3339(text)).toEqual(instant)
    }),
    { numRuns: 5_000 },
  )
})

test('every spelling of RFC 3339 parses to its instant, and nothing else parses', () => {
  const instants = fc.date({ min: EARLIEST, max: LATEST, noInvalidDate: true })
  fc.assert(
    fc.property(instants, (instant) => {
      for (const text of spellings(instant)) expect([text, parseRfc3339(text)]).toEqual([text, instant])
      for (const text of misspellings(instant)) expect([text, parseRfc3339(text)]).toEqual([text, undefined])
    }),
    { numRuns: 200 },
  )
})

test('the parser is total: any text gives an instant in the range, or undefined', () => {
  const part = fc.constantFrom(
    ...'0123456789',
    '-',
    ':',
    '.',
    'T',
    't',
    'Z',
    'z',
    '+',
    ' ',
    '00',
    '2027',
    '59',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(part, { maxLength: 30 }).map((parts) => parts.join('')),
      ),
      (text) => {
        const instant = parseRfc3339(text)
        if (instant) expect(instant >= EARLIEST && instant <= LATEST).toBe(true)
      },
    ),
    { numRuns: 20_000 },
  )
})

test.each([
  ['2027-01-31T18:30:00Z', '2027-01-31T18:30:00.000Z'],
  ['2027-01-31t18:30:00z', '2027-01-31T18:30:00.000Z'],
  ['2024-02-29T00:00:00+05:30', '2024-02-28T18:30:00.000Z'],
  ['2027-01-31T18:30:00.123456789-23:59', '2027-02-01T18:29:00.123Z'],
  ['1969-12-31T23:59:59.9999Z', '1969-12-31T23:59:59.999Z'],
  ['2027-01-31T18:30:00-00:00', '2027-01-31T18:30:00.000Z'],
])('RFC 3339 %s is the instant %s', (text, instant) =>
  expect(parseRfc3339(text)?.toISOString()).toBe(instant),
)

test.each([
  '2027-01-31T18:30:00Z\n',
  '2027-01-31T24:00:00Z',
  '2027-01-31T23:59:60Z',
  '1990-12-31T23:59:60Z',
  '2027-02-29T00:00:00Z',
  '2100-02-29T00:00:00Z',
  '2027-01-31T00:00:00',
  '2027-01-31T00:00:00+24:00',
  '2027-01-31 00:00:00Z',
  '2027-01-31',
  '+002027-01-31T00:00:00Z',
  'Sun, 31 Jan 2027 00:00:00 GMT',
  '0000-02-29T00:00:00Z',
  '0099-01-01T00:00:00Z',
  '1900-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-12:00',
])('what is not RFC 3339, on no calendar or out of range is rejected: %s', (text) =>
  expect(parseRfc3339(text)).toBeUndefined(),
)

test('an advanced clock reports by how much, so that the database’s time can follow', () => {
  const clock = new MovableClock()
  clock.advance(90_000)
  clock.advance(-30_000)
  expect(clock.offsetMs()).toBe(60_000)
})
