import { expect, test } from 'vitest'
import { BROWSER } from '../harness/browser.ts'
import { sampled } from '../harness/long.ts'
import { pressEach } from './reference.ts'

test.skipIf(!BROWSER)(
  'in a browser, "Test Request" of the first operation of every fourth tag sends a request that succeeds',
  () =>
    pressEach((all) => {
      const tags = new Set(all.map(({ tag }) => tag))
      expect(tags.size).toBeGreaterThan(15)
      return sampled([...tags], 4, 0).map((tag) => all.find((each) => each.tag === tag)!)
    }),
  300_000,
)
