import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const CANDIDATES = [
  process.env['CHROMIUM_PATH'],
  // Lighter: it draws no windows.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The browser that the tests drive, or nothing where none is installed. */
export const BROWSER = CANDIDATES.find((path) => path !== undefined && existsSync(path))

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: BROWSER!,
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      // No name but the machine's own leads anywhere.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  })

export const SIZES = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const

export type Size = keyof typeof SIZES
export type Scheme = 'light' | 'dark'

/** A person at the console: a browser of their own, and everything that went wrong in it. */
export interface Visitor {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of the page, broken policies, and requests that left the service's address; empty when all is well. */
  readonly trouble: readonly string[]
  close(): Promise<void>
}

interface VisitorOptions {
  readonly baseUrl: string
  readonly size?: Size
  readonly scheme?: Scheme
  /** Failures of calls that a test makes on purpose; the browser reports each as an error of the page. */
  readonly expected?: readonly RegExp[]
  /** Another address that the page leads to. */
  readonly leadsTo?: string
}

/** A profile of the browser, and who hears what happens in it now. */
interface Profile {
  readonly context: BrowserContext
  readonly kind: string
  note(text: string): void
  leadsTo: string | undefined
}

/** Profiles nobody uses: with what the browser has cached, and nothing that a visitor has stored. */
const unused = new WeakMap<Browser, Profile[]>()

async function takeProfile(browser: Browser, baseUrl: string, size: Size, scheme: Scheme): Promise<Profile> {
  const kind = [baseUrl, size, scheme].join(' ')
  const profiles = unused.get(browser) ?? []
  unused.set(browser, profiles)
  const index = profiles.findIndex((profile) => profile.kind === kind)
  return index < 0 ? newProfile(browser, kind, baseUrl, size, scheme) : profiles.splice(index, 1)[0]!
}

async function newProfile(
  browser: Browser,
  kind: string,
  baseUrl: string,
  size: Size,
  scheme: Scheme,
): Promise<Profile> {
  const context = await browser.newContext({
    viewport: SIZES[size],
    colorScheme: scheme,
    reducedMotion: 'reduce',
    baseURL: baseUrl,
    locale: 'en-IN',
    timezoneId: 'Europe/Lisbon',
    permissions: ['clipboard-read', 'clipboard-write'],
    ...(size === 'phone' && { isMobile: true, hasTouch: true }),
  })
  const profile: Profile = {
    context,
    kind,
    note: () => {},
    leadsTo: undefined,
  }
  const { origin } = new URL(baseUrl)
  // Intercepting requests would stop them as well, and switch the browser's cache off.
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== origin && url.origin !== profile.leadsTo && url.protocol !== 'data:')
      profile.note(`asked elsewhere: ${url.href}`)
  })
  // What a hostile text would call if it were ever run as script.
  await context.exposeFunction('pwned', (from: string) => profile.note(`injected script ran: ${from}`))
  await context.addInitScript(
    `document.addEventListener('securitypolicyviolation', (event) =>
      console.error('policy broken: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))`,
  )
  return profile
}

/** Whoever comes next finds the browser as if it were new, but for its cache. */
async function leave(browser: Browser, profile: Profile): Promise<void> {
  const { context } = profile
  profile.note = () => {}
  profile.leadsTo = undefined
  const [page = await context.newPage(), ...others] = context.pages()
  await Promise.all(others.map((other) => other.close()))
  const devtools = await context.newCDPSession(page)
  await devtools.send('Storage.clearDataForOrigin', {
    origin: profile.kind.split(' ')[0]!,
    storageTypes: 'cookies,local_storage,indexeddb,service_workers',
  })
  await context.clearCookies()
  await page.close()
  unused.get(browser)!.push(profile)
}

/** Opens an empty browser window on the service; a request to any other address counts as trouble. */
export async function newVisitor(browser: Browser, options: VisitorOptions): Promise<Visitor> {
  const { baseUrl, size = 'desk', scheme = 'light', expected = [], leadsTo } = options
  const trouble: string[] = []
  const note = (text: string) => {
    if (!expected.some((pattern) => pattern.test(text))) trouble.push(text)
  }
  const profile = await takeProfile(browser, baseUrl, size, scheme)
  Object.assign(profile, { note, leadsTo })
  const { context } = profile
  const page = await context.newPage()
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      note(`${message.type()}: ${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', (error) => note(`uncaught: ${error.message}`))
  page.setDefaultTimeout(15_000)
  return { page, context, trouble, close: () => leave(browser, profile) }
}

/** Style sheets are the page's own: `preload` would ask for each of them again. */
const AXE_OPTIONS: axe.RunOptions = { resultTypes: ['violations'], preload: false }

// What still fades in has colours of its own; what turns for ever is not waited for.
const AT_REST = `Promise.allSettled(document.getAnimations()
  .filter((animation) => animation.effect.getComputedTiming().endTime !== Infinity)
  .map((animation) => animation.finished))`

/** Serious and critical violations of accessibility of the page at rest, one line each. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  await page.evaluate(AT_REST)
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source)
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${JSON.stringify(AXE_OPTIONS)})`)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, any }) => `${id}: ${help}: ${html.slice(0, 160)} ${any[0]?.message ?? ''}`),
    )
}

/** Whether something sticks out sideways, so that the whole page would have to be scrolled. */
export const overflowPx = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')

/** Buttons and links that reach over the edge of the window, where nobody can press them, and labels that are clipped. */
export const cutOff = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('header a, header button, main a, main button')]
    .filter((element) => {
      const { left, right, width } = element.getBoundingClientRect()
      const label = element.querySelector('.mantine-Button-label')
      if (label && label.scrollWidth > label.clientWidth) return true
      return width > 0 && (left < 0 || right > innerWidth) && !element.closest('.skip, [data-scrollbars], .mantine-ScrollArea-root')
    })
    .map((element) => element.outerHTML.slice(0, 120))`)
