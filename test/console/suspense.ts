import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { API } from '../harness/console.ts'
import { operatorsOf } from '../harness/operators.ts'
import { type Bed, goTo } from './bed.ts'
import { strayCredit } from './money-world.ts'

const dialog = (page: Page) => page.getByRole('dialog')

export function suspense(bed: Bed): void {
  test('credits in suspense are listed with their age; one is assigned to a merchant, one returned, each with its reason', async () => {
    const { operator, shopName, strayUtr } = bed.world
    const [mine, payers] = [await strayCredit(bed.service, 95_000.5), await strayCredit(bed.service, 42)]
    const page = await bed.visit({ as: operator, at: `/suspense?q=${strayUtr}` })
    await page.getByRole('row', { name: strayUtr }).getByText('under an hour').waitFor()
    const totals = page.getByRole('region', { name: 'Totals of these filters' })
    await totals.getByText('1 credit, ₹777.77').waitFor()
    const csv = await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')
    expect((await (await page.request.get(csv!)).text()).split('\r\n').filter(Boolean)).toHaveLength(2)

    await goTo(page, `/suspense?q=${mine.utr}`)
    await page.getByRole('button', { name: 'Assign to a merchant' }).click()
    await dialog(page).getByText('(ninety-five thousand rupees and fifty paise)').waitFor()
    await dialog(page).getByRole('button', { name: 'Assign', exact: true }).click()
    await dialog(page).getByText('Required').nth(1).waitFor()
    await dialog(page).getByLabel('Merchant').fill(shopName)
    await page.getByRole('option', { name: shopName }).click()
    await dialog(page).getByLabel('Reason').fill('receipt 1042 of till 4')
    expect(await accessibilityViolations(page)).toEqual([])
    await dialog(page).getByRole('button', { name: 'Assign', exact: true }).click()
    await page.getByText('Nothing fits these filters.').waitFor()
    await goTo(page, `/payments/${mine.paymentId}`)
    await page.getByText('Payment: Assigned', { exact: true }).waitFor()
    await page.getByText(`${mine.utr}: receipt 1042 of till 4`).waitFor()
    await page.getByText(`by operator ${operator.name}`).waitFor()
    expect(await page.getByRole('button', { name: /Assign to|Return/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Take the assignment back' }).click()
    await dialog(page).getByLabel('Reason').fill('till 4 is of another shop')
    expect(await accessibilityViolations(page)).toEqual([])
    await dialog(page).getByRole('button', { name: 'Take it back' }).click()
    await page.getByRole('button', { name: 'Assign to a merchant' }).waitFor()
    await page.getByText(`${mine.utr}: till 4 is of another shop`).waitFor()

    await goTo(page, `/payments/${payers.paymentId}`)
    await page.getByRole('button', { name: 'Return to the payer' }).click()
    const back = dialog(page).getByRole('button', { name: 'Return it' })
    expect(await back.isDisabled()).toBe(true)
    await dialog(page).getByLabel('Reason').fill('the payer asked for it')
    await back.click()
    await page.getByText('Payment: Returned', { exact: true }).waitFor()
    await page.getByText(`${payers.utr}: the payer asked for it`).waitFor()
  })
}

export function returnedCredits(bed: Bed): void {
  test('a credit that the bank returned without a notice is recorded as returned on its page, with a reason', async () => {
    const { operator } = bed.world
    const { paymentId } = await strayCredit(bed.service, 43)
    await operatorsOf(bed.service.app.services.commands)
      .open(resolveSuspense)
      .run({ tenantId: 'house', paymentId, merchantId: null, reason: 'the payer asked for it' })
    const page = await bed.visit({ as: operator, at: '/suspense' })
    // The bank of the sandbox returns it soon, by a notice; the page does not hear of that.
    const itself = new RegExp(`${API}/payments/${paymentId}$`)
    await page.route(itself, async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      json.status = 'REFUND_PENDING'
      await route.fulfill({ response, json })
    })
    await goTo(page, `/payments/${paymentId}`)
    await page.getByRole('button', { name: 'Record the return' }).click()
    await dialog(page).getByText('(forty-three rupees)').waitFor()
    await dialog(page).getByRole('button', { name: 'Record it' }).click()
    await dialog(page).getByText('Required').waitFor()
    await dialog(page).getByLabel('Reason').fill('the statement of the bank')
    await dialog(page).getByLabel('The bank’s reference').fill('AXISR0000000043')
    expect(await accessibilityViolations(page)).toEqual([])
    await dialog(page).getByRole('button', { name: 'Record it' }).click()
    await page.getByText('Audit: Payment returned', { exact: true }).waitFor()
    await page.getByText(`by operator ${operator.name}`).waitFor()
    await page.unroute(itself)
    await goTo(page, `/payments/${paymentId}`)
    await page.getByRole('main').getByText('Refunded', { exact: true }).first().waitFor()
    expect(await page.getByRole('button', { name: 'Record the return' }).count()).toBe(0)
  })
}
