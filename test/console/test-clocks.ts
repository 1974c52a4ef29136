import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { payloadOf } from '../harness/client.ts'
import { type Bed, look } from './bed.ts'

export function testClocks(bed: Bed): void {
  test('the test clock of a merchant is advanced by a day, and its one-hour code has expired', async () => {
    const merchant = await bed.service.newMerchant({ name: 'Hourglass' })
    const client = await bed.service.as(merchant)
    const expiry = new Date(Date.now() + 3_600_000).toISOString()
    const { qrCodeId } = payloadOf(
      await client.post('/api/v0/qr-code', { qrName: 'Table 1', amount: 10, expiry }),
    )
    const page = await bed.visit({ at: `/merchants/${merchant.merchantId}?tab=people` })
    await page.getByText('as for the service').waitFor()
    await page.getByRole('button', { name: 'Advance the clock' }).click()
    await page.getByRole('dialog').getByLabel('By', { exact: true }).fill('401')
    await page.getByRole('dialog').getByRole('button', { name: 'Advance', exact: true }).click()
    await page.getByRole('dialog').getByText('From 1 hour to 400 days').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await look(page, 'phone', 'dark')
    expect(await accessibilityViolations(page)).toEqual([])
    await look(page, 'desk', 'light')
    await page.getByRole('dialog').getByLabel('By', { exact: true }).fill('1')
    await page.getByRole('dialog').getByRole('button', { name: 'Advance', exact: true }).click()
    await page.getByText('1 d ahead of the service').waitFor()
    const { payment } = payloadOf(await bed.service.client.post('/sandbox/upi/pay', { qrCodeId }))
    expect(payment.reason).toBe('qr_code_expired')
  })
}
