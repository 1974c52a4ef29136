import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { newOperator, PASSWORD } from '../harness/console.ts'
import { preparePayoutOf } from '../harness/payouts.ts'
import { type Bed, goTo } from './bed.ts'
import { changePayoutOf, newShop, pay } from './money-world.ts'

const dialog = (page: Page) => page.getByRole('dialog')
const badge = (page: Page, text: string) => page.getByRole('main').getByText(text, { exact: true }).first()

async function newPayout(bed: Bed, amount: number) {
  const { merchantId, tr } = await newShop(bed.service, 'Second Stores')
  await pay(bed.service, tr, amount)
  return { merchantId, payoutId: await preparePayoutOf(bed.service, merchantId) }
}

export function payouts(bed: Bed): void {
  test('payouts are found by merchant, status and business day; totals and the export follow the filters', async () => {
    const { payoutDay, shopId, viewer } = bed.world
    const page = await bed.visit({ as: viewer, at: `/payouts?merchantId=${shopId}&status=PREPARED` })
    const totals = page.getByRole('region', { name: 'Totals of these filters' })
    await totals.getByText('1 payout, ₹1,49,000.00').waitFor()
    await totals.getByText('Fees: ₹847.46, GST: ₹152.56').waitFor()
    const link = page.getByRole('link', { name: 'Export CSV' })
    const exported = await page.request.get((await link.getAttribute('href'))!)
    expect((await exported.text()).split('\r\n').filter(Boolean)).toHaveLength(2)
    await page.getByLabel('Business day').fill('2020-01-02')
    await page.getByText('Nothing fits these filters.').waitFor()
    await page.getByLabel('Business day').fill(payoutDay)
    await page.getByRole('link', { name: /^Payout of \d/ }).waitFor()
    expect(await page.getByRole('button', { name: 'Prepare payouts' }).count()).toBe(0)
  })

  test('a payout shows its amount in words, each line with fee and GST, who prepared it, and its journal', async () => {
    const { payoutId, viewer } = bed.world
    const page = await bed.visit({ as: viewer, at: `/payouts/${payoutId}` })
    await page.getByText('one lakh forty-nine thousand rupees', { exact: true }).waitFor()
    const line = page.getByRole('table', { name: 'Payments and refunds' }).getByRole('row').nth(1)
    expect(await line.getByRole('cell').allTextContents()).toEqual([
      expect.stringMatching(/^UTR \w+$/),
      'Payment',
      '+₹90,000.02',
      '₹498.73',
      '₹44.89',
      '₹44.89',
      '₹0.00',
      expect.any(String),
    ])
    await page.getByText('Payout: Prepared', { exact: true }).waitFor()
    await page.getByText('Journal: Payout', { exact: true }).waitFor()
    await page.getByText('Prepared by operator asha. An operator approves it').waitFor()
    await line.getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: /^Payment / }).waitFor()
    await page
      .getByRole('main')
      .getByRole('link', { name: /^Payout of / })
      .click()
    await page.getByRole('heading', { level: 1, name: /^Payout of / }).waitFor()
    expect(await page.getByRole('button', { name: /Approve|Cancel|Mark/ }).count()).toBe(0)
  })
}

export function payoutApproval(bed: Bed): void {
  test('a second person approves a payout by typing its amount, and cancels it with a reason', async () => {
    const { payoutId } = await newPayout(bed, 1_000)
    const { name } = await newOperator(bed.service, 'operator')
    const page = await bed.visit({ as: { name, password: PASSWORD }, at: `/payouts/${payoutId}` })
    await page.getByRole('button', { name: 'Approve' }).click()
    const approve = dialog(page).getByRole('button', { name: 'Approve payout' })
    await dialog(page).getByText('(nine hundred thirty-six rupees and fifty-nine paise)').waitFor()
    await dialog(page).getByText('₹936.59').waitFor()
    await dialog(page).getByLabel('Type 936.59 to confirm').fill('936.58')
    expect(await approve.isDisabled()).toBe(true)
    expect(await accessibilityViolations(page)).toEqual([])
    await dialog(page).getByLabel('Type 936.59 to confirm').fill('936.59')
    await approve.click()
    await badge(page, 'Approved').waitFor()
    await page.getByText('Payout: Approved', { exact: true }).waitFor()
    await page.getByText(`by operator ${name}`).first().waitFor()
    await page.getByRole('button', { name: 'Cancel payout' }).click()
    await dialog(page).getByLabel('Reason').fill('wrong account')
    await dialog(page).getByRole('button', { name: 'Cancel it for good' }).click()
    await badge(page, 'Cancelled').waitFor()
    await page.getByText('wrong account').first().waitFor()
    await expect.poll(() => page.getByRole('button', { name: /Approve|Cancel|Mark/ }).count()).toBe(0)
  })

  test('the operator who prepared a payout cannot approve it and is shown why', async () => {
    const { name } = await newOperator(bed.service, 'operator')
    const { merchantId, tr } = await newShop(bed.service, 'Third Stores')
    await pay(bed.service, tr, 500)
    const payoutId = await preparePayoutOf(bed.service, merchantId, `operator ${name}`)
    const page = await bed.visit({ as: { name, password: PASSWORD }, at: `/payouts/${payoutId}` })
    await page.getByText('You prepared this payout, so another person must approve it.').waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Cancel payout' }).count()).toBe(1)
  })
}

export function payoutOutcomes(bed: Bed): void {
  test('the bank’s outcome of a payout is recorded: paid with its reference, failed with a reason, or returned with both', async () => {
    const { operator } = bed.world
    const sent = async () => {
      const ids = await newPayout(bed, 1_000)
      await changePayoutOf(bed.service, ids, { to: 'APPROVED', by: 'operator ravi' })
      await changePayoutOf(bed.service, ids, { to: 'SENT', runId: 'pyr_test' })
      return ids.payoutId
    }
    const page = await bed.visit({ as: operator, at: `/payouts/${await sent()}` })
    await page.getByRole('button', { name: 'Mark as paid' }).click()
    await dialog(page).getByRole('button', { name: 'Record as paid' }).click()
    await dialog(page).getByText('The bank’s reference: at least 6 characters').waitFor()
    await dialog(page).getByLabel('UTR').fill('consolepaid0001')
    await dialog(page).getByRole('button', { name: 'Record as paid' }).click()
    await badge(page, 'Paid').waitFor()
    await page.getByRole('main').getByText('UTR CONSOLEPAID0001', { exact: true }).waitFor()
    await page.getByText('Journal: Payout paid', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Mark as returned' }).click()
    await dialog(page).getByLabel('Reason').fill('account closed')
    await dialog(page).getByRole('button', { name: 'Record as returned' }).click()
    await dialog(page).getByText('The bank’s reference: at least 6 characters').waitFor()
    await dialog(page).getByLabel('UTR of the return').fill('consoleback0001')
    await dialog(page).getByRole('button', { name: 'Record as returned' }).click()
    await badge(page, 'Failed').waitFor()
    await page.getByText('Came back from the bank', { exact: true }).waitFor()
    await page.getByText('Journal: Payout returned', { exact: true }).waitFor()

    await goTo(page, `/payouts/${await sent()}`)
    await page.getByRole('button', { name: 'Mark as failed' }).click()
    const fail = dialog(page).getByRole('button', { name: 'Record as failed' })
    expect(await fail.isDisabled()).toBe(true)
    await dialog(page).getByLabel('Reason').fill('account closed')
    await fail.click()
    await badge(page, 'Failed').waitFor()
    await page.getByText('Journal: Payout released', { exact: true }).waitFor()
  })
}

export function payoutRuns(bed: Bed): void {
  test('the payouts of a day are prepared for all merchants; merchants without a payout are shown with the reason', async () => {
    const { operator, shopId } = bed.world
    // What it was paid today is due tomorrow.
    const { tr } = await newShop(bed.service, 'Day Stores')
    await pay(bed.service, tr, 70)
    const page = await bed.visit({ as: operator, at: '/payouts', expected: [/409/] })
    await page.getByRole('button', { name: 'Prepare payouts' }).click()
    await dialog(page).getByLabel('Business day').fill('2090-01-02')
    await dialog(page).getByRole('button', { name: 'Prepare', exact: true }).click()
    await dialog(page).getByText('business_day_not_over').waitFor({ state: 'attached' })
    await dialog(page).getByLabel('Business day').fill('2020-01-02')
    await dialog(page).getByRole('button', { name: 'Prepare', exact: true }).click()
    const outcomes = dialog(page).getByRole('table', { name: 'Prepared payouts' })
    await outcomes.getByText('Nothing that the bank has settled is due up to this day').first().waitFor()
    await page
      .getByRole('dialog', { name: 'Prepared' })
      .getByRole('button', { name: 'Close', exact: true })
      .click()
    await goTo(page, `/merchants/${shopId}?tab=bank`)
    await page.getByText('ending in 5678').waitFor()
    await page.getByRole('row', { name: '1 Jan 2020' }).getByText('0.50 %').waitFor()
  })
}

export function bankFiles(bed: Bed): void {
  test('finance sends what is approved in a file, downloads it, and the bank’s response makes it paid, within nine actions', async () => {
    const { operator } = bed.world
    const ids = await newPayout(bed, 2_000)
    await changePayoutOf(bed.service, ids, { to: 'APPROVED', by: 'operator ravi' })
    const page = await bed.visit({ as: operator, at: '/bank-files/out' })
    const main = page.getByRole('main')
    await main.getByRole('button', { name: /^Make a file of/ }).click()
    await dialog(page).getByRole('button', { name: 'Make it' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      main
        .getByRole('status')
        .getByRole('link', { name: /^Download the file/ })
        .click(),
    ])
    const sent = await readFile(await download.path(), 'utf8')
    expect(sent).toMatch(new RegExp(`^${ids.payoutId},[0-9]+\\.[0-9]{2},`, 'm'))
    await main.getByText('Approved, not sent').waitFor()
    expect(await main.getByRole('button', { name: /^Make a file of/ }).count()).toBe(0)

    const response = [
      'payoutId,status,utr',
      `${ids.payoutId},PAID,CONSOLEFILE0001`,
      'pyo_none,PAID,CONSOLEFILE0002',
    ]
    await goTo(page, '/bank-files')
    await main.getByLabel('Choose files of the bank').setInputFiles({
      name: 'response.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(response.join('\n')),
    })
    await main.getByText('Would be PAID; it is SENT').waitFor()
    await main.getByText('No such payout').waitFor()
    await main.getByRole('button', { name: 'Record 2 responses' }).click()
    await dialog(page).getByRole('button', { name: 'Record', exact: true }).click()
    await main.getByText('Recorded: 1 response').waitFor()
    await goTo(page, `/payouts/${ids.payoutId}`)
    await badge(page, 'Paid').waitFor()
  })
}
