import { describe } from 'vitest'
import { BROWSER } from '../harness/browser.ts'
import { Bed } from './bed.ts'
import { emptyPages, everyPage } from './pages.ts'

const without = BROWSER ? '' : ' (skipped: no Chromium is installed, CHROMIUM_PATH names another)'

describe.skipIf(!BROWSER)(`the console in a real browser${without}`, () => {
  const bed = new Bed().use()
  emptyPages(bed)
  describe('with something of everything in it', () => {
    bed.useWorld()
    everyPage(bed)
  })
})
