import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { insertManyPayments } from '../harness/many-payments.ts'
import { newCode } from '../harness/qr-codes.ts'
import { asSuperuser } from '../harness/service.ts'
import { type Bed, goTo, look } from './bed.ts'
import { goTo as goToInPortal, memberOf } from './portal.ts'

const PAYMENTS = 300
const PAGE = 25
const MAX_PX = 6_000

async function looked(page: Page): Promise<void> {
  for (const size of ['desk', 'phone'] as const) {
    await look(page, size, 'light')
    await page
      .getByRole('link', { name: /^UTR MANY/ })
      .nth(PAGE - 1)
      .waitFor()
    expect(await page.getByRole('link', { name: /^UTR MANY/ }).count()).toBe(PAGE)
    expect(await page.evaluate<number>('document.documentElement.scrollHeight'), size).toBeLessThan(MAX_PX)
  }
}

/** A code on a counter, which a whole town pays. */
export function fullCode(bed: Bed): void {
  test('a code with hundreds of payments stays a page of few screens, with its totals and all of its payments', async () => {
    const { service } = bed
    const merchant = await service.newMerchant()
    const code = await newCode(service, await service.as(merchant), { multipleUse: true })
    await asSuperuser(service.db.database, (db) =>
      insertManyPayments(db, merchant.merchantId, code, PAYMENTS),
    )
    const page = await bed.visit()
    await goTo(page, `/qr-codes/${code.qrCodeId}`)
    const inAll = page.locator('dl > div').filter({ hasText: 'In all' })
    await inAll.getByText('₹30,000.00').waitFor()
    await inAll.getByText(`${PAYMENTS} payments`).waitFor()
    await looked(page)
    await look(page, 'desk', 'light')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('link', { name: `UTR MANY${PAGE + 1}`, exact: true }).waitFor()

    const member = await memberOf(bed, merchant.merchantId)
    await goToInPortal(member, `/qr-codes/${code.qrCodeId}`)
    await looked(member)
  })
}
