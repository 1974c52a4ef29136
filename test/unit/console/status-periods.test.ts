import { errorTrends, figuresOf, periodsUntil } from '@svc/console-api/faces/status-periods'
import { expect, test } from 'vitest'

const shown = (now: string, timeZone: string) =>
  periodsUntil(new Date(now), timeZone).map(({ name, from, to }) => [
    name,
    from.toISOString(),
    to.toISOString(),
  ])

test('periods begin with the business day and end at the same whole minute of the day', () => {
  expect(shown('2026-11-23T20:04:59.999Z', 'Asia/Kolkata')).toEqual([
    ['today', '2026-11-23T18:30:00.000Z', '2026-11-23T20:04:00.000Z'],
    ['yesterday', '2026-11-22T18:30:00.000Z', '2026-11-22T20:04:00.000Z'],
    ['lastWeek', '2026-11-16T18:30:00.000Z', '2026-11-16T20:04:00.000Z'],
  ])
  // The first minute of a day has nothing to compare yet.
  expect(shown('2026-11-23T18:30:10Z', 'Asia/Kolkata')[0]).toEqual([
    'today',
    '2026-11-23T18:30:00.000Z',
    '2026-11-23T18:30:00.000Z',
  ])
})

const sum = (what: string, count: number, amount = 0) => ({
  what,
  count: BigInt(count),
  amount: BigInt(amount),
})

test('failures are classified by the status of their code, unknown codes count as failures of the service', () => {
  const sums = [
    sum('request', 100),
    sum('failure validation_failed', 7),
    sum('failure rate_limited', 2),
    sum('failure internal_error', 1),
    sum('failure code_of_another_version', 3),
    sum('event qr_code.credited', 4, 123_456),
    sum('event card.created', 5),
  ]
  expect(figuresOf(sums)).toEqual({
    requests: 100,
    clientErrors: 9,
    serverErrors: 4,
    payments: 4,
    paymentsAmount: '1234.56',
    cardsIssued: 5,
  })
  expect(figuresOf([])).toMatchObject({ requests: 0, clientErrors: 0, paymentsAmount: '0.00' })
})

test('error codes of all periods are listed, the most frequent today first', () => {
  const trends = errorTrends({
    today: [sum('request', 9), sum('failure not_found', 1), sum('failure rate_limited', 5)],
    yesterday: [sum('failure not_found', 3)],
    lastWeek: [sum('failure internal_error', 2)],
  })
  expect(trends.map(({ error, ...counts }) => [error, counts])).toEqual([
    ['rate_limited', { status: 429, today: 5, yesterday: 0, lastWeek: 0 }],
    ['not_found', { status: expect.any(Number), today: 1, yesterday: 3, lastWeek: 0 }],
    ['internal_error', { status: 500, today: 0, yesterday: 0, lastWeek: 2 }],
  ])
})
