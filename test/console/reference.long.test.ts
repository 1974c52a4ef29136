import { expect, test } from 'vitest'
import { BROWSER } from '../harness/browser.ts'
import { pressEach } from './reference.ts'

test.skipIf(!BROWSER)(
  'in a browser, "Test Request" of every operation of the sandbox sends a request that succeeds',
  () =>
    pressEach((all) => {
      expect(all.length).toBeGreaterThan(90)
      return all
    }),
  // A hundred operations, each opened, sent and shown.
  900_000,
)
