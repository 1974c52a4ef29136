import { fairShares } from '@svc/platform/db/tenant-queues'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const queues = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 40 })
const room = fc.integer({ min: 0, max: 500 })
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)

test('shares use the whole capacity, take no more than a queue has, and leave none of it unused', () => {
  fc.assert(
    fc.property(queues, room, (lengths, most) => {
      const shares = fairShares(lengths, most)
      expect(shares.every((share, i) => share >= 0 && share <= lengths[i]!)).toBe(true)
      expect(sum(shares)).toBe(Math.min(most, sum(lengths)))
    }),
    { numRuns: 2_000 },
  )
})

test('no queue gets less than another by more than one, unless it has no more to send', () => {
  fc.assert(
    fc.property(queues, room, (lengths, most) => {
      const shares = fairShares(lengths, most)
      const largest = Math.max(0, ...shares)
      expect(shares.every((share, i) => share === lengths[i]! || share >= largest - 1)).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})
