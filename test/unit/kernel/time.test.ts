import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MovableClock, parseRfc3339, plainTimestamp, rfc3339 } from '../../../src/kernel/time.ts'

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

test('an instant written in any zone reads back as the same instant', () => {
  const zones = [
    'Asia/Kolkata',
    'America/New_York',
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'Pacific/Chatham',
    'America/St_Johns',
  ]
  const instants = fc.date({
    min: new Date('1980-01-01T00:00:00Z'),
    max: new Date('2100-01-01T00:00:00Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(instants, fc.constantFrom(...zones), (instant, zone) => {
      expect(parseRfc3339(rfc3339(instant, zone))).toEqual(instant)
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  '2027-01-31T18:30:00Z',
  '2027-01-31t18:30:00z',
  '2024-02-29T00:00:00+05:30',
  '0000-02-29T00:00:00Z',
  '2027-01-31T18:30:00.123456789-23:59',
])('an RFC 3339 date-time is read: %s', (text) => expect(parseRfc3339(text)?.getTime()).not.toBeNaN())

test.each([
  '2027-02-29T00:00:00Z',
  '2100-02-29T00:00:00Z',
  '2027-02-30T00:00:00Z',
  '2027-04-31T00:00:00Z',
  '2027-13-01T00:00:00Z',
  '2027-00-01T00:00:00Z',
  '2027-01-00T00:00:00Z',
  '2027-01-32T00:00:00Z',
  '2027-01-31T24:00:00Z',
  '2027-01-31T25:00:00Z',
  '2027-01-31T00:60:00Z',
  '2027-01-31T00:00:60Z',
  '2027-01-31T00:00:00',
  '2027-01-31T00:00:00+24:00',
  '2027-01-31T00:00:00+05:60',
  '2027-01-31T00:00:00+0530',
  '2027-01-31 00:00:00Z',
  '2027-01-31',
  '27-01-31T00:00:00Z',
  '+002027-01-31T00:00:00Z',
  '2027-01-31T00:00:00.Z',
  '2027-01-31T00:00:00,5Z',
  'Sun, 31 Jan 2027 00:00:00 GMT',
])('what no calendar or RFC 3339 knows is refused: %s', (text) => expect(parseRfc3339(text)).toBeUndefined())

test('a moved clock tells by how much, so that the database’s time can follow', () => {
  const clock = new MovableClock()
  clock.advance(90_000)
  clock.advance(-30_000)
  expect(clock.offsetMs()).toBe(60_000)
})
