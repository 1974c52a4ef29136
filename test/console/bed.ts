import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { BROWSER, newVisitor, openBrowser, SIZES, type Size, type Visitor } from '../harness/browser.ts'
import { API, OWN } from '../harness/console.ts'
import { SUPPLIER } from '../harness/invoices.ts'
import { openService, type TestOptions, type TestService } from '../harness/service.ts'
import { type MoneyWorld, makeMoneyWorld } from './money-world.ts'
import { makeWorld, type World } from './world.ts'

interface VisitOptions {
  /** Who is signed in; the sandbox's administrator when left out, nobody with `null`. */
  readonly as?: { readonly name: string; readonly password: string } | null
  /** Path inside the console. */
  readonly at?: string
  readonly size?: Size
  /** Failed calls that the test makes on purpose. */
  readonly expected?: readonly RegExp[]
  /** Address of another service than the bed's. */
  readonly baseUrl?: string
  /** Address that the page leads to. */
  readonly leadsTo?: string
}

type BedOptions = Pick<TestOptions, 'background'>

/** Also on a machine that does much else. */
const WORLD_MS = 240_000

/** One service, one browser and one world for all tests of the page; each test gets a window of its own. */
export class Bed {
  service!: TestService
  world!: World & MoneyWorld
  readonly #options: BedOptions
  #browser!: Browser
  #visitors: Visitor[] = []

  constructor(options: BedOptions = {}) {
    this.#options = options
  }

  /** For the suite that this is called in. Whatever goes wrong in a window fails the test that opened it. */
  use(): this {
    beforeAll(async () => {
      ;[this.service, this.#browser] = await Promise.all([
        openService({ ...this.#options, env: { SIGN_IN_FAILURES_PER_MINUTE: '1000', ...SUPPLIER } }),
        openBrowser(),
      ])
    })
    afterEach(async () => {
      const visitors = this.#visitors
      this.#visitors = []
      const trouble = visitors.flatMap((visitor) => visitor.trouble)
      await Promise.all(visitors.map((visitor) => visitor.close()))
      expect(trouble).toEqual([])
    })
    afterAll(async () => {
      await this.#browser.close()
      await this.service.close()
    })
    return this
  }

  /** Fills the service, for the suite that this is called in. */
  useWorld(): this {
    beforeAll(async () => {
      const world = await makeWorld(this.service.client.baseUrl)
      this.world = { ...world, ...(await makeMoneyWorld(this.service)) }
    }, WORLD_MS)
    return this
  }

  async visit({ as, at = '/', size = 'desk', expected = [], ...others }: VisitOptions = {}): Promise<Page> {
    const baseUrl = others.baseUrl ?? this.service.client.baseUrl
    const visitor = await newVisitor(this.#browser, { ...others, baseUrl, size, expected })
    this.#visitors.push(visitor)
    if (as !== null) await visitor.context.addCookies([await this.#session(as)])
    await goTo(visitor.page, at)
    return visitor.page
  }

  async #session(as: VisitOptions['as']) {
    const { baseUrl } = this.service.client
    const response = await fetch(`${baseUrl}${API}/session${as ? '' : '/sandbox'}`, {
      method: 'POST',
      headers: { ...OWN, ...(as && { 'content-type': 'application/json' }) },
      ...(as && { body: JSON.stringify(as) }),
    })
    if (!response.ok) throw new Error(`no session: ${await response.text()}`)
    const [name = '', value = ''] = response.headers.getSetCookie()[0]!.split(';')[0]!.split('=')
    return { name, value, url: `${baseUrl}/console/` }
  }
}

/** Where no browser is installed, a suite is skipped and its name says so. */
const without = BROWSER ? '' : ' (skipped: no Chromium is installed, CHROMIUM_PATH names another)'

type Suite = (bed: Bed) => void
interface Suites {
  readonly empty?: readonly Suite[]
  readonly filled?: readonly Suite[]
}

/** Suites in a real browser on one service. Those of `filled` find something of everything in it. */
export function inBrowser(name: string, suites: Suites, options: BedOptions = {}): void {
  const { empty = [], filled = [] } = suites
  describe.skipIf(!BROWSER)(`${name} in a real browser${without}`, () => {
    const bed = new Bed(options).use()
    for (const suite of empty) suite(bed)
    if (filled.length > 0)
      describe('with data of every kind', () => {
        bed.useWorld()
        for (const suite of filled) suite(bed)
      })
  })
}

/** Opens a place of the console, and waits until everything that it asked for is there. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.goto(`/console${path}`, { waitUntil: 'domcontentloaded' })
  await settled(page)
}

export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page
    .locator('[aria-label="Loading"], .mantine-Skeleton-root, [data-loading="true"]')
    .first()
    .waitFor({ state: 'detached' })
}

/** The same page on another screen, in the colours of another time of the day. */
export async function look(page: Page, size: Size, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.setViewportSize(SIZES[size])
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
}
