import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import type { Bed } from './bed.ts'

const API = '**/console/api/**'
const banner = (page: Page) => page.getByRole('status').filter({ hasText: 'The service cannot be reached' })
/** As if the service were gone. */
const cutOff = (page: Page) => page.route(API, (route) => route.abort('connectionrefused'))

export function resilience(bed: Bed): void {
  test('without the service the page stays, marks its figures, keeps a form, and recovers by itself when the service is back', async () => {
    const { merchantName, paymentId, utr } = bed.world
    const page = await bed.visit({ at: '/qr-codes', expected: [/ERR_CONNECTION_REFUSED/] })
    await page.getByRole('button', { name: 'Create QR code' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Merchant', { exact: true }).fill(merchantName)
    await page.getByRole('option', { name: merchantName }).click()
    await form.getByLabel('Name', { exact: true }).fill('Order while away')
    await cutOff(page)
    await form.getByRole('button', { name: 'Create', exact: true }).click()
    await form.getByText('No response', { exact: true }).waitFor()
    await page.getByText('The service cannot be reached', { exact: true }).waitFor()
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('Order while away')
    await page.unroute(API)
    await banner(page).waitFor({ state: 'detached' })
    await form.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Order while away' }).waitFor()

    await page.goto(`/console/payments/${paymentId}`)
    await page.getByRole('heading', { level: 1, name: utr }).waitFor()
    await page.getByText('Payment: Accepted').waitFor()
    await cutOff(page)
    // The page asks again by itself.
    await banner(page).waitFor()
    await page.getByText(/^Out of date: loaded/).waitFor()
    expect(await page.getByText('₹99,999.50').count()).toBeGreaterThan(0)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.unroute(API)
    await banner(page).waitFor({ state: 'detached' })
    await page.getByText(/^Out of date: loaded/).waitFor({ state: 'detached' })
  })

  test('a new version of the console is offered, and loaded with one click', async () => {
    const page = await bed.visit({ at: '/merchants' })
    await page.route('**/console/', async (route) => {
      const response = await route.fetch()
      const html = (await response.text()).replaceAll(/assets\/index-[\w-]+\.js/g, 'assets/index-newer.js')
      await route.fulfill({ response, body: html })
    })
    await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))')
    const offer = page.getByRole('status').filter({ hasText: 'A new version of the console is available' })
    await offer.waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.unroute('**/console/')
    await offer.getByRole('button', { name: 'Reload' }).click()
    await offer.waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1, name: 'Merchants' }).waitFor()
  })
}
