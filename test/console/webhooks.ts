import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { newCode } from '../harness/qr-codes.ts'
import { verifyDelivery, WebhookReceiver } from '../harness/webhook-receiver.ts'
import { type Bed, goTo, look } from './bed.ts'
import { keepSecret, pick } from './tenants.ts'

const dialog = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** A server of a shop, for as long as the test takes. */
async function withReceiver(work: (receiver: WebhookReceiver) => Promise<void>): Promise<void> {
  const receiver = await WebhookReceiver.open()
  try {
    await work(receiver)
  } finally {
    await receiver.close()
  }
}

async function createWebhook(page: Page, url: string, merchantName?: string): Promise<string> {
  await button(page, 'Create webhook').click()
  // As slowly as people press.
  await button(page, 'Create').click({ delay: 300 })
  await dialog(page).getByText('Required').first().waitFor()
  if (merchantName) await pick(page, 'Merchant', merchantName)
  await dialog(page).getByLabel('URL').fill(url)
  await dialog(page).getByRole('combobox', { name: 'Events' }).fill('created')
  await page.getByRole('option', { name: 'qr_code.created' }).click()
  await page.keyboard.press('Escape')
  await button(page, 'Create').click()
  return keepSecret(page, 'Signing secret')
}

export function webhooks(bed: Bed): void {
  test('a webhook is created, its secret verifies deliveries, an event is sent again, and it is deleted', () =>
    withReceiver(async (receiver) => {
      const merchant = await bed.service.newMerchant({ name: 'Hook Shop' })
      const client = await bed.service.as(merchant)
      const page = await bed.visit({ at: '/webhooks', as: bed.world.operator })
      const url = receiver.url('/console')
      const secret = await createWebhook(page, url, 'Hook Shop')
      await page.getByRole('heading', { level: 1, name: url }).waitFor()
      await page.getByText('Nothing has been sent yet.').waitFor()

      const { qrCodeId } = await newCode(bed.service, client)
      await receiver.until(() => receiver.received.length === 1)
      expect(verifyDelivery(receiver.received[0]!, secret).data.qrCodeId).toBe(qrCodeId)
      await page.getByRole('row', { name: 'Delivered: 204' }).waitFor()
      await page.getByRole('button', { name: /^Show attempt 1 / }).click()
      await dialog(page).getByText(qrCodeId).waitFor()
      await dialog(page).getByText(`POST ${url}`).waitFor()
      expect(await accessibilityViolations(page)).toEqual([])
      await page.keyboard.press('Escape')

      await page.getByRole('button', { name: /^Send again/ }).click()
      await receiver.until(() => receiver.received.length === 2)
      expect(receiver.received[1]!.headers['webhook-id']).toBe(receiver.received[0]!.headers['webhook-id'])
      await page.getByRole('row', { name: 'Delivered: 204' }).nth(1).waitFor()

      await button(page, 'Disable').click()
      await button(page, 'Disable webhook').click()
      await page.getByText('This endpoint is disabled').waitFor()
      await expect.poll(() => page.getByRole('button', { name: /^(Replay|Send again)/ }).count()).toBe(0)

      await button(page, 'Delete').click()
      expect(await button(page, 'Delete for good').isDisabled()).toBe(true)
      await dialog(page)
        .getByLabel(/^Type .+ to confirm$/)
        .fill(`127.0.0.1:${receiver.port}`)
      await button(page, 'Delete for good').click()
      await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
      await page.getByRole('link', { name: bed.world.hookUrl }).waitFor()
      await expect.poll(() => page.getByRole('link', { name: url }).count()).toBe(0)
    }))

  test('an endpoint that returned 410 is shown as disabled, with what to do; enabled and replayed it has all events', () =>
    withReceiver(async (receiver) => {
      const merchant = await bed.service.newMerchant({ name: 'Moving Shop' })
      const client = await bed.service.as(merchant)
      const page = await bed.visit({ at: `/webhooks?tenantId=${merchant.merchantId}` })
      const first = await createWebhook(page, receiver.url('/old'))
      receiver.response = (_, response) => void response.writeHead(410).end('moved away')
      await newCode(bed.service, client)
      await page.getByText('The service switched this endpoint off').waitFor()
      await page.getByText('Ask Moving Shop whether the address has moved').waitFor()
      await look(page, 'phone', 'dark')
      expect(await accessibilityViolations(page)).toEqual([])
      await look(page, 'desk', 'light')

      receiver.response = (_, response) => void response.writeHead(200).end('welcome')
      await button(page, 'Change').click()
      await dialog(page).getByLabel('URL').fill(receiver.url('/new'))
      await button(page, 'Save').click()
      await page.getByRole('heading', { level: 1, name: receiver.url('/new') }).waitFor()
      await button(page, 'Rotate secret').click()
      await dialog(page)
        .getByRole('combobox', { name: /^How long/ })
        .click()
      await page.getByRole('option', { name: 'Not at all: it has leaked' }).click()
      await button(page, 'Make a new secret').click()
      const second = await keepSecret(page, 'Signing secret')
      await button(page, 'Enable').click()
      await button(page, 'Enable webhook').click()
      await button(page, 'Replay').click()
      await button(page, 'Send it again').click()
      await page.getByText('1 on their way.').waitFor()
      await receiver.until(() => receiver.at('/new').length === 1)
      const [delivery] = receiver.at('/new')
      verifyDelivery(delivery!, second)
      expect(() => verifyDelivery(delivery!, first)).toThrow()
      await page.getByRole('row', { name: 'Delivered: 200' }).waitFor()
    }))

  test('an endpoint is found by its id, and from the page of its tenant', async () => {
    const { endpointId, hookUrl, merchantId, partnerId, viewer } = bed.world
    const page = await bed.visit({ at: `/merchants/${merchantId}`, as: viewer })
    await page.getByRole('main').getByRole('link', { name: 'Webhooks' }).click()
    await page.getByText('1 in all', { exact: true }).waitFor()
    await page.getByRole('link', { name: hookUrl }).waitFor()
    await goTo(page, `/partners/${partnerId}`)
    await page.getByRole('main').getByRole('link', { name: 'Webhooks' }).click()
    await page.getByText('None yet.').waitFor()
    await page.keyboard.press('/')
    await page.getByRole('searchbox', { name: /\bid, UTR\b/ }).fill(endpointId)
    await page.getByRole('region', { name: 'Results' }).getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: hookUrl }).waitFor()
    await page.getByRole('combobox', { name: 'Outcome' }).click()
    await page.getByRole('option', { name: 'Failed' }).click()
    await page.getByText('1 in all', { exact: true }).waitFor()
    await page.getByRole('row', { name: 'Failed: 500' }).waitFor()
  })
}
