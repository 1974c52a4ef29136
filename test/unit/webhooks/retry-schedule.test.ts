import { nextAttemptMs, RETRY_FOR_MS } from '@svc/core/webhooks/retry-schedule'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const startedAtMs = Date.UTC(2026, 0, 1)

test('an endpoint that never responds is tried for three days, at growing intervals, and then no more', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 30, maxLength: 30 }),
      (chances) => {
        const at = [startedAtMs]
        for (const chance of chances) {
          const next = nextAttemptMs({
            attempts: at.length,
            startedAtMs,
            nowMs: at.at(-1)!,
            retryAfter: undefined,
            chance,
          })
          if (next === undefined) break
          at.push(next)
        }
        const waits = at.slice(1).map((time, i) => time - at[i]!)
        expect(waits[0]).toBeGreaterThanOrEqual(4_000)
        expect(waits[0]).toBeLessThanOrEqual(6_000)
        expect(Math.max(...waits)).toBeLessThanOrEqual(12 * 3_600_000 * 1.2)
        for (const [i, wait] of waits.entries())
          if (i > 0 && i < 6) expect(wait).toBeGreaterThan(waits[i - 1]!)
        expect(at.at(-1)! - startedAtMs).toBeLessThanOrEqual(RETRY_FOR_MS)
        expect(at.at(-1)! - startedAtMs).toBeGreaterThan(RETRY_FOR_MS - 15 * 3_600_000)
        expect(at.length).toBeGreaterThanOrEqual(10)
        expect(at.length).toBeLessThanOrEqual(16)
      },
    ),
  )
})

test.each(['60000', '80000', '999999999'])(
  'an endpoint that requests %s s each time is tried at the end of the three days too',
  (retryAfter) => {
    const at: number[] = []
    for (let next: number | undefined = startedAtMs; next !== undefined; ) {
      at.push(next)
      next = nextAttemptMs({ attempts: at.length, startedAtMs, nowMs: next, retryAfter, chance: 0.5 })
    }
    expect(at.at(-1)! - startedAtMs).toBe(RETRY_FOR_MS)
    expect(at.length).toBeLessThan(20)
  },
)

test.each([
  ['120', 120_000],
  ['0', 4_000],
  [new Date(startedAtMs + 90_000).toUTCString(), 90_000],
  ['999999999', 24 * 3_600_000],
  ['soon', 4_000],
  ['-5', 4_000],
])(
  'Retry-After %s waits at least as long as requested, and never more than a day',
  (retryAfter, expected) => {
    const next = nextAttemptMs({ attempts: 1, startedAtMs, nowMs: startedAtMs, retryAfter, chance: 0 })
    expect(next! - startedAtMs).toBe(expected)
  },
)
