import { expect, test } from 'vitest'
import { accessibilityViolations, cutOff, overflowPx } from '../harness/browser.ts'
import { newOperator, PASSWORD, signedIn } from '../harness/console.ts'
import { sampled } from '../harness/long.ts'
import { type Bed, goTo, look } from './bed.ts'
import { NOT_SIGNED_IN } from './people.ts'
import { inMenu } from './person.ts'
import { placesOf } from './places.ts'
import { strangeWords } from './words-on-pages.ts'

const EMPTY = [
  '/merchants',
  '/qr-codes',
  '/payments',
  '/refunds',
  '/suspense',
  '/payouts',
  '/notices',
  '/card-exceptions',
  '/partners',
  '/companies',
  '/card-accounts',
  '/users',
  '/cards',
  '/coins',
  '/requests',
  '/webhooks',
]

/** Before there is anything. */
export function emptyPages(bed: Bed): void {
  test('an empty page says what it is for, in words alone', async () => {
    const page = await bed.visit()
    for (const path of EMPTY) {
      await goTo(page, path)
      expect.soft(await page.getByRole('heading', { level: 2, name: /^No .+ yet$/ }).count(), path).toBe(1)
      expect.soft(await page.getByRole('main').innerText(), path).not.toMatch(/\bsvc \w|\bcurl\b|\/api\//)
    }
  })
}

const LOOKS = [
  { size: 'desk', colours: 'light' },
  { size: 'phone', colours: 'dark' },
] as const
/** Many pages; a busy machine needs minutes. */
const ALL_PAGES_MS = 600_000

/** `trouble` of the bed tells of scripts that ran, of errors, and of requests that left the service's address. */
export function everyPage(bed: Bed): void {
  test(
    'every page shows its subject, renders no name as markup, and is accessible on desktop in light or on a phone in dark, in the long run both',
    async () => {
      const page = await bed.visit()
      for (const [turn, [path, heading, seen]] of placesOf(bed.world).entries()) {
        // Each page one way, and in the long run both ways.
        const looks = sampled(LOOKS, 2, turn)
        await look(page, looks[0]!.size, looks[0]!.colours)
        await goTo(page, path)
        for (const { size, colours } of looks) {
          await look(page, size, colours)
          await page.getByText(seen).first().waitFor()
          expect.soft(await page.getByRole('heading', { level: 1 }).textContent(), path).toContain(heading)
          expect.soft(await page.title(), path).toContain(heading)
          expect
            .soft(await page.locator('main img:not([src^="data:image/png;base64,"])').count(), path)
            .toBe(0)
          expect.soft(await strangeWords(page, path), path).toEqual([])
          expect.soft(await accessibilityViolations(page), `${path} on a ${size}, ${colours}`).toEqual([])
          expect.soft([await overflowPx(page), ...(await cutOff(page))], `${path} on a ${size}`).toEqual([0])
        }
      }
    },
    ALL_PAGES_MS,
  )

  test('with reduced motion nothing is animated, and the dark colours apply at once', async () => {
    const page = await bed.visit({ at: '/webhooks' })
    await look(page, 'desk', 'light')
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
    expect(await page.evaluate('document.getAnimations().length')).toBe(0)
  })

  test('an unknown id and an unknown page are reported as such', async () => {
    const page = await bed.visit({ expected: [/404/], at: '/cards/card_none' })
    await page.getByText('card_not_found').waitFor({ state: 'attached' })
    await goTo(page, '/no-such-page')
    await page.getByRole('link', { name: 'go to the first page' }).waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(/page not found/i)
    // The frame is there, whose search leads on.
    await page.keyboard.press('/')
    await page.getByRole('dialog').getByRole('searchbox').waitFor()
  })
}

/** Where people come after the sign-in. */
export function beginnings(bed: Bed): void {
  test('each role begins in the area where it works', async () => {
    const begins = {
      finance: 'Home',
      support: 'Payments',
      operations: 'Requests',
      auditor: 'Approvals',
    } as const
    for (const [role, heading] of Object.entries(begins)) {
      const { name } = await newOperator(bed.service, role as keyof typeof begins)
      const page = await bed.visit({ as: null, expected: NOT_SIGNED_IN })
      await page.getByLabel('Name').fill(name)
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
    }
  })
}

/** The areas and their places. */
export function menu(bed: Bed): void {
  test('g and a letter go to each area, and the menu says how much waits where', async () => {
    const page = await bed.visit({ at: '/audit' })
    const areas = {
      h: 'Home',
      p: 'Payments',
      m: 'Money',
      c: 'Cards',
      o: 'Coins',
      t: 'Tenants',
      d: 'Developers',
      a: 'Approvals & risk',
      n: 'Admin',
    }
    for (const [key, area] of Object.entries(areas)) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      const menu = page.getByRole('navigation', { name: 'Places' })
      await menu
        .locator(`[role=group][aria-label="${area}"], a[aria-current=page]:has-text("${area}")`)
        .first()
        .waitFor()
    }
    await goTo(page, '/suspense')
    const { items } = (await (await signedIn(bed.service, 'admin')).get('/waiting')).json
    const { count } = items.find(({ item }: { item: string }) => item === 'suspense')
    await page.getByRole('link', { name: new RegExp(`^Suspense ?${count} waiting$`) }).waitFor()
    await goTo(page, '/suspense?amount=1')
    const tabs = page.getByRole('navigation', { name: 'Unmatched' })
    expect(await tabs.locator('[aria-current=page]').allTextContents()).toEqual([
      expect.stringContaining('Suspense'),
    ])
    await goTo(page, '/requests?tenantId=house')
    await expect
      .poll(() => page.getByRole('combobox', { name: 'Merchant or partner' }).inputValue())
      .toBe('The platform')
    await goTo(page, '/')
    await page.getByRole('link', { name: /^Money ?\d+ waiting$/ }).waitFor()
  })

  test('on a phone the navigation is collapsed, and leads to every page', async () => {
    const page = await bed.visit({ size: 'phone' })
    for (const [area, place] of [
      ['Developers', 'Requests'],
      ['Tenants', 'Merchants'],
      ['Payments', 'QR codes'],
      ['Cards', 'Cards'],
      ['Money', 'Close'],
      ['Approvals & risk', 'Audit'],
    ] as const) {
      await page.getByRole('button', { name: 'Open the navigation' }).click()
      await inMenu(page, area).click()
      await page.getByRole('group', { name: area }).waitFor()
      await inMenu(page, place).click()
      await page.getByRole('heading', { level: 1, name: place, exact: true }).waitFor()
    }
    await page.getByRole('button', { name: 'Open the navigation' }).waitFor()
  })
}
