import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { newUsers } from '../harness/coins.ts'
import { newPartner } from '../harness/partner.ts'
import type { Bed } from './bed.ts'

async function confirm(page: Page, reason: string, typed: string, button: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill(reason)
  await dialog.getByLabel(`Type ${typed} to confirm`).fill(typed)
  await dialog.getByRole('button', { name: button }).click()
}

/** Tenants and people who leave. */
export function leaving(bed: Bed): void {
  test('an administrator closes a merchant, and sees when the closing ends', async () => {
    const { merchantId } = await bed.service.newMerchant({ name: 'Short Stay' })
    const page = await bed.visit({ at: `/merchants/${merchantId}?tab=people` })
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await confirm(page, 'contract ended', 'close', 'Close for good')
    await page.getByText(/^Clos(ing|ed) since/).waitFor()
    await page.getByText('Disabled', { exact: true }).first().waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
  })

  test('an administrator erases a user, whose name appears nowhere afterwards', async () => {
    const [userId] = await newUsers(bed.service, await newPartner(bed.service), 1)
    const page = await bed.visit({ at: `/users/${userId}` })
    await page.getByRole('heading', { level: 1, name: 'R•••' }).waitFor()
    await page.getByRole('button', { name: 'Erase personal data' }).click()
    await confirm(page, 'asked by letter', 'erase', 'Erase for good')
    await page.getByRole('heading', { level: 1, name: 'Holder' }).waitFor()
    expect(await page.getByRole('main').textContent()).not.toContain('Ravi')
    expect(await page.getByRole('button', { name: 'Erase personal data' }).count()).toBe(0)
    expect(await accessibilityViolations(page)).toEqual([])
  })
}
