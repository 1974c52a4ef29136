import type { Browser } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { BROWSER } from '../harness/browser.ts'
import { insertManyCards, manyCardId } from '../harness/many-cards.ts'
import { newPartner } from '../harness/partner.ts'
import { asSuperuser } from '../harness/service.ts'
import { Bed, goTo } from './bed.ts'

/** `LONG_LIST_ROWS=100000` for a run of minutes. */
const CARDS = Number(process.env['LONG_LIST_ROWS'] ?? 5_000)
const LONG_TASK_MS = 100
/** Every 250 rows are a request, one after the other, on a machine that does much else. */
const SCROLL_MS = 600_000

const without = BROWSER ? '' : ' (skipped: no Chromium is installed, CHROMIUM_PATH names another)'

/** What the browser itself reports: tasks of 50 ms and more, by the clock on the wall. */
const OBSERVE = `(() => {
  window.longTasks = []
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longTasks.push(Math.round(duration))
  }).observe({ type: 'longtask' })
})()`

interface TraceEvent {
  readonly name: string
  readonly tid: number
  readonly pid: number
  readonly args?: { readonly name?: string }
  /** Microseconds of the thread on a processor. */
  readonly tdur?: number
}

/** Milliseconds of processor time of each task of the pages' main threads: a busy machine makes none of them longer. */
function taskTimes(trace: Buffer): number[] {
  const events = (JSON.parse(trace.toString()) as { traceEvents: readonly TraceEvent[] }).traceEvents
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
  const isMain = ({ name, args }: TraceEvent) => name === 'thread_name' && args?.name === 'CrRendererMain'
  const mains = new Set(events.filter(isMain).map(threadOf))
  return events.flatMap((event) =>
    event.tdur !== undefined && event.name.endsWith('RunTask') && mains.has(threadOf(event))
      ? [event.tdur / 1_000]
      : [],
  )
}

describe.skipIf(!BROWSER)(`a long list in a real browser${without}`, () => {
  const bed = new Bed().use()
  beforeAll(async () => {
    const partner = await newPartner(bed.service, { fundsPaise: 10n ** 12n })
    await asSuperuser(bed.service.db.database, async (db) => {
      await insertManyCards(db, partner, 1, CARDS)
      await db.query('analyze')
    })
  }, SCROLL_MS)

  test(
    'it scrolls from the first row to the last without a task over 100 ms, and the page contains few of its rows',
    async () => {
      const page = await bed.visit({ at: '/account' })
      await page.evaluate(`localStorage.setItem('svc.console.paging', 'scroll')`)
      await goTo(page, '/cards?sort=created')
      await page.getByText(/^[\d,]+ of .* loaded$/).waitFor()
      const browser = page.context().browser() as Browser
      await page.evaluate(OBSERVE)
      await browser.startTracing(page, { categories: ['toplevel'] })
      await page.mouse.move(640, 400)
      const last = page.getByTitle(manyCardId(CARDS)).first()
      let turns = 0
      const atBottom = async () => {
        await page.mouse.wheel(0, 20_000)
        turns++
        return last.count()
      }
      await expect.poll(atBottom, { timeout: SCROLL_MS, interval: 20 }).toBeGreaterThan(0)
      await page.getByText(`${CARDS.toLocaleString('en-IN')} in all`).waitFor()
      expect(await page.locator('[data-row]').count()).toBeLessThan(100)
      // The first rows have been forgotten by then, or are about to be.
      for (let up = 0; up < 20; up++) await page.mouse.wheel(0, -400_000)
      await page.getByTitle(manyCardId(1)).first().waitFor()
      const tasks = taskTimes(await browser.stopTracing())
      if (process.env['SHOW_SIZES']) {
        const observed = await page.evaluate<number[]>('window.longTasks')
        console.log({ tasks: tasks.length, longestMs: Math.max(...tasks.slice(-200_000)), observed })
      }
      expect(tasks.length).toBeGreaterThan(turns)
      expect(tasks.filter((ms) => ms > LONG_TASK_MS)).toEqual([])
      for (const key of ['j', 'x']) await page.keyboard.press(key)
      await page.getByText('1 selected').waitFor()
    },
    SCROLL_MS,
  )
})
