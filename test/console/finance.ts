import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { readCsv } from '../harness/console-csv.ts'
import { type Bed, goTo } from './bed.ts'

/** Presses the link, and reads the file that the browser writes. */
async function exported(page: Page): Promise<Record<string, string>[]> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export CSV' }).click(),
  ])
  return readCsv(await readFile(await download.path(), 'utf8'))
}

export function finance(bed: Bed): void {
  test('a payment is found by its UTR in lower case, and links to its code, merchant, refund, journals and deliveries', async () => {
    const { endpointId, merchantName, paymentId, qrCodeId, refundId, utr, viewer } = bed.world
    const page = await bed.visit({ as: viewer, at: '/payments' })
    await page.getByRole('searchbox', { name: 'Search' }).fill(utr.toLowerCase())
    await page.getByText('1 in all', { exact: true }).waitFor()
    await page.getByRole('link', { name: `UTR ${utr}` }).click()
    await page.getByRole('heading', { level: 1, name: `Payment ${utr}` }).waitFor()
    const main = page.getByRole('main')
    for (const seen of [
      'Payment: Accepted',
      'Refund: Refund requested',
      'Event: qr_code.credited',
      'Webhook: Delivered',
    ])
      await main.getByText(seen, { exact: true }).first().waitFor()
    const credit = main.getByRole('listitem').filter({ hasText: 'Journal: UPI credit' })
    const lines = credit.getByRole('table', { name: 'Journal' }).getByRole('row')
    expect(await lines.allTextContents()).toEqual([
      'AccountDebitCredit',
      expect.stringMatching(/^UPI clearing.*₹99,999\.50$/),
      expect.stringMatching(/^Payable.*₹99,999\.50$/),
    ])
    const links = await main.getByRole('link').all()
    const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')))
    for (const path of [`/qr-codes/${qrCodeId}`, `/refunds/${refundId}`, `/webhooks/${endpointId}`])
      expect(hrefs, path).toContain(`/console${path}`)
    await main.getByRole('link', { name: merchantName }).click()
    await page.getByRole('heading', { level: 1, name: merchantName }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Refunds' }).click()
    await page.getByRole('row', { name: '₹12,345.25' }).getByRole('link').first().click()
    await page.getByRole('main').getByText('Journal: Merchant refund', { exact: true }).waitFor()
    await goTo(page, `/qr-codes/${qrCodeId}`)
    await page.getByRole('row', { name: 'a•••@bank' }).getByRole('link', { name: utr }).click()
    await page.getByText(paymentId).first().waitFor()
  })
}

/** Lists by an amount. */
export function amounts(bed: Bed): void {
  test('amounts are found as people write them, recent ones first, and what cannot be read refuses nothing', async () => {
    const page = await bed.visit({ at: '/payments' })
    const amount = page.getByLabel('Amount')
    const totals = page.getByRole('region', { name: 'Totals of these filters' })
    await amount.fill('99,999 - ₹1,00,000')
    await totals.getByText('1 payment, ₹99,999.50').waitFor()
    const recent = page.getByText('Of the last 90 days.')
    await recent.waitFor()
    await page.getByRole('button', { name: 'Search everything' }).click()
    await recent.waitFor({ state: 'detached' })
    await totals.getByText('1 payment, ₹99,999.50').waitFor()
    await amount.fill('about a lakh')
    await page.getByText('Write it as 517.25, 500-600, >5,000 or <100').waitFor()
    // What is typed later is asked for later.
    await page.getByLabel('Reference number').fill('no such order')
    await page.getByText('Nothing fits these filters.').waitFor()
    expect(new URL(page.url()).searchParams.get('amount')).toBe('99,999 - ₹1,00,000')
  })
}

export function exports(bed: Bed): void {
  test('totals and the export follow the filters; the URL keeps them to the second', async () => {
    const { merchantId, merchantName, shopId, utr } = bed.world
    const page = await bed.visit({ at: `/payments?merchantId=${merchantId}` })
    const totals = page.getByRole('region', { name: 'Totals of these filters' })
    await totals.getByText('1 payment, ₹99,999.50').waitFor()
    await totals.getByText('Refunded by merchants: ₹12,345.25').waitFor()
    await goTo(page, `/payments?merchantId=${shopId}`)
    await totals.getByText('2 payments, ₹1,50,000.02').waitFor()
    expect(await totals.getByText('Refunded by merchants').count()).toBe(0)
    await goTo(page, `/payments?merchantId=${merchantId}&status=ACCEPTED&amount=99999.50`)
    await totals.getByText('1 payment, ₹99,999.50').waitFor()
    await goTo(page, `/payments?merchantId=${merchantId}`)
    const [row] = await exported(page)
    expect(row).toMatchObject({
      utr,
      amount: '99999.50',
      refundedAmount: '12345.25',
      merchantId,
      merchantName,
    })
    expect(row!['createdOn']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+05:30$/)

    await page.getByLabel('From').fill('2020-01-02T03:04:05')
    await page.waitForURL(/createdFrom=2020-01-01T21%3A34%3A05/)
    await totals.getByText('1 payment, ₹99,999.50').waitFor()
    await page.getByLabel('Before').fill('2020-01-02T03:04:06')
    await page.getByText('Nothing fits these filters.').waitFor()
    await page.reload()
    await page.getByText('Nothing fits these filters.').waitFor()
    expect(await page.getByLabel('From').inputValue()).toBe('2020-01-02T03:04:05')
  })

  test('every list can be exported as CSV', async () => {
    const page = await bed.visit({ at: `/cards?q=${bed.world.svcCardId}` })
    const cards = await exported(page)
    expect(cards.map(({ svcCardId }) => svcCardId)).toEqual([bed.world.svcCardId])
    for (const path of [
      '/refunds',
      '/qr-codes',
      '/audit',
      '/requests',
      '/users',
      '/webhooks',
      '/operators',
    ]) {
      await goTo(page, path)
      expect.soft(await page.getByRole('link', { name: 'Export CSV' }).count(), path).toBe(1)
    }
  })
}
