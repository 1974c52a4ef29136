import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type Bed, goTo } from './bed.ts'

const dialog = (page: Page) => page.getByRole('dialog')

async function chooseActive(page: Page, when: string): Promise<void> {
  await dialog(page).getByRole('combobox', { name: 'Active' }).click()
  await page.getByRole('option', { name: when }).click()
}

export function coinConfigs(bed: Bed): void {
  test('a coin configuration is created with awards that wait some days, and changed to awards that the partner confirms', async () => {
    const page = await bed.visit({ at: '/coins' })
    await page.getByRole('button', { name: 'Create configuration' }).click()
    await dialog(page).getByLabel('Partner').fill(bed.world.partnerName)
    await page.getByRole('option', { name: bed.world.partnerName }).click()
    await dialog(page).getByLabel('Event').fill('signup.completed')
    await dialog(page).getByLabel('Title').fill('Welcome')
    await dialog(page).getByLabel('Coins').fill('40')
    await chooseActive(page, 'After some days')
    await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
    await dialog(page).getByText('A whole number, at least 1').waitFor()
    await dialog(page).getByLabel('Days until then').fill('3')
    await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('link', { name: 'Welcome' }).click()
    await page.getByText('after 3 days', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Edit' }).click()
    await chooseActive(page, 'When the partner confirms each')
    expect(await dialog(page).getByLabel('Days until then').count()).toBe(0)
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await page.getByText('when the partner confirms them', { exact: true }).waitFor()
    await goTo(page, new URL(page.url()).pathname.replace('/console', ''))
    await page.getByText('when the partner confirms them', { exact: true }).waitFor()
    await page.getByText('Revision 2, in force').waitFor()
  })
}
