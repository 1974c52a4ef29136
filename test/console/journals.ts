import { expect, test } from 'vitest'
import { preparePayoutOf } from '../harness/payouts.ts'
import { type Bed, goTo } from './bed.ts'
import { changePayoutOf, newShop, pay } from './money-world.ts'

export function journals(bed: Bed): void {
  test('a journal shows its legs as T-accounts, and links to the journal that reverses it, and back', async () => {
    const { merchantId, tr } = await newShop(bed.service, 'Journal Stores')
    await pay(bed.service, tr, 1_000)
    const payoutId = await preparePayoutOf(bed.service, merchantId)
    await changePayoutOf(bed.service, { merchantId, payoutId }, { to: 'CANCELLED', reason: 'wrong account' })
    const page = await bed.visit({ as: bed.world.viewer, at: `/ledger/accounts/payable:${merchantId}` })
    await page
      .getByRole('row', { name: /Payout of \d/ })
      .getByRole('link', { name: 'Payout', exact: true })
      .first()
      .click()
    await page.getByRole('heading', { level: 1, name: 'Journal: Payout' }).waitFor()
    const main = page.getByRole('main')
    const cells = async (account: RegExp) =>
      (await main.getByRole('table', { name: account }).getByRole('cell').allTextContents()).slice(0)
    expect(await cells(/^Payable/)).toEqual(['₹63.41', '', '₹936.59', ''])
    expect(await cells(/^Accrued fees/)).toEqual(['', '₹63.41'])
    expect(await cells(/^Payouts in transit/)).toEqual(['', '₹936.59'])
    await main.getByText('Reversed', { exact: true }).waitFor()
    await main.getByRole('link', { name: 'Payout released journal' }).click()
    await page.getByRole('heading', { level: 1, name: 'Journal: Payout released' }).waitFor()
    await main.getByText('wrong account').waitFor()
    expect(await cells(/^Payable/)).toEqual(['', '₹63.41', '', '₹936.59'])
    await main.getByRole('link', { name: 'Payout journal' }).click()
    await page.getByRole('heading', { level: 1, name: 'Journal: Payout', exact: true }).waitFor()
    await goTo(page, `/payouts/${payoutId}`)
    await main.getByRole('link', { name: 'Payout released journal' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Journal: Payout released' }).waitFor()
  })
}
