import { expect, test } from 'vitest'
import { type Bed, goTo, settled } from './bed.ts'

export function keyboard(bed: Bed): void {
  test('a reference pasted into the search opens its record at once with Enter, and is suggested again afterwards', async () => {
    const { paymentId, refundId, utr } = bed.world
    const page = await bed.visit({ at: '/audit' })
    const find = page.getByRole('dialog', { name: 'Find' })
    await page.keyboard.press('Control+k')
    await find.getByRole('searchbox').fill(utr.toLowerCase())
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: `Payment ${utr}` }).waitFor()
    await page.keyboard.press('/')
    await find.getByRole('searchbox').fill(refundId)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/refunds/${refundId}`)
    await page.reload()
    await settled(page)
    await page.keyboard.press('Meta+k')
    await find.getByRole('link').first().waitFor()
    expect(await find.getByRole('link').count()).toBe(2)
    await find.getByRole('link', { name: utr }).click()
    await page.waitForURL(`**/payments/${paymentId}`)
  })

  test('the keyboard moves through the rows of a list and opens one', async () => {
    const page = await bed.visit({ at: '/audit?action=card.status_changed' })
    const focused = () =>
      page.evaluate<number>(
        '[...document.querySelectorAll("[data-row]")].indexOf(document.activeElement.closest("[data-row]"))',
      )
    await page.keyboard.press('j')
    expect(await focused()).toBe(0)
    await page.keyboard.press('j')
    expect(await focused()).toBe(1)
    await page.keyboard.press('k')
    expect(await focused()).toBe(0)
    await goTo(page, '/payments')
    await page.getByRole('link', { name: /^UTR / }).first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('o')
    await page.getByRole('heading', { level: 1, name: /^Payment / }).waitFor()
    await goTo(page, '/refunds')
    await page.getByRole('row', { name: '₹12,345.25' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /^Refund / }).waitFor()
  })
}

export function keysOfLists(bed: Bed): void {
  test('f goes to the filters of a list, c to its columns, and the header and the sum of its rows stay in sight', async () => {
    const page = await bed.visit({ at: '/payments' })
    await page.getByRole('link', { name: /^UTR / }).first().waitFor()
    await page.keyboard.press('f')
    const search = page.getByRole('searchbox', { name: 'Search' })
    await expect.poll(() => search.evaluate((field) => field === document.activeElement)).toBe(true)
    await search.blur()
    await page.keyboard.press('c')
    await page.getByRole('checkbox', { name: 'Merchant' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('row', { name: /^These \d+ .*₹/ }).waitFor()
    // Its table fits where there is room for all of its columns.
    await page.setViewportSize({ width: 1600, height: 500 })
    await goTo(page, '/audit')
    await page.evaluate('scrollTo(0, 600)')
    const header = page.getByRole('columnheader', { name: 'Who' })
    await expect.poll(async () => Math.round((await header.boundingBox())!.y)).toBe(48)
  })

  test('an address of no page leads to the places that are most like it', async () => {
    const page = await bed.visit({ at: '/merchant-list' })
    await page.getByRole('heading', { level: 2, name: 'Nearest places' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Merchants' }).click()
    await page.getByRole('heading', { level: 1, name: 'Merchants' }).waitFor()
  })
}
