import { groupBy } from '@svc/kernel/group-by'
import fc from 'fast-check'
import { expect, test } from 'vitest'

test('grouping loses nothing and keeps the order within and among groups', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (items) => {
      const groups = groupBy(items, (item) => item % 3)
      expect([...groups.keys()]).toEqual([...new Set(items.map((item) => item % 3))])
      for (const [key, group] of groups) expect(group).toEqual(items.filter((item) => item % 3 === key))
    }),
  )
})
