import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { newPartner } from '../harness/partner.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'
import { type Bed, goTo, settled } from './bed.ts'
import { countIn, LOST, loseResponse } from './lost-responses.ts'
import { dialog, memberOf, goTo as portalTo } from './portal.ts'
import { pick } from './tenants.ts'

const UNKNOWN = 'it is unknown whether this was done. Try again: it is done once'

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** The service carries out the next POST there, whose response never arrives; resolves once it is carried out. */
function holdResponse(page: Page, at: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let isHeld = false
    const carryOut = async () => {
      await page.route(at, async (route) => {
        if (route.request().method() !== 'POST' || isHeld) return route.fallback()
        isHeld = true
        await route.fetch()
        resolve()
      })
    }
    carryOut().catch(reject)
  })
}

/** The next POST there is refused before it reaches the service. */
async function refuseNext(page: Page, at: string): Promise<void> {
  let isRefused = false
  await page.route(at, async (route) => {
    if (route.request().method() !== 'POST' || isRefused) return route.fallback()
    isRefused = true
    const problem = { status: 429, error: 'rate_limited', title: 'Refused on the way' }
    return route.fulfill({
      status: 429,
      contentType: 'application/problem+json',
      body: JSON.stringify(problem),
    })
  })
}

async function leaveDialog(page: Page): Promise<void> {
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
}

export function reopenedForms(bed: Bed): void {
  test('a form closed after a lost response and filled in again creates nothing twice, whatever rejected it in between, and says so', async () => {
    const page = await bed.visit({ at: '/companies', expected: [LOST, /429/] })
    const at = '**/console/api/v0/companies'
    const create = async (name: string) => {
      await button(page, 'Create company').click()
      await pick(page, 'Partner', bed.world.partnerName)
      await dialog(page).getByLabel('Name', { exact: true }).fill(name)
      await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
    }
    const count = () => countIn(bed, 'companies where name', 'Closed Mills')
    await loseResponse(page, at)
    await create('Closed Mills')
    await dialog(page).getByText(UNKNOWN).waitFor()
    await leaveDialog(page)
    await refuseNext(page, at)
    await create('Closed Mills')
    await dialog(page).getByText('Refused on the way').waitFor()
    await leaveDialog(page)
    await create('Other Mills')
    await page.getByRole('row', { name: 'Other Mills' }).waitFor()
    expect(await page.getByText('Done once', { exact: true }).count()).toBe(0)
    await create('Closed Mills')
    await dialog(page).waitFor({ state: 'detached' })
    expect(await count()).toBe(1)
    await page.getByText('Done once', { exact: true }).waitFor()
    // With its outcome known, the same values are another intent.
    await create('Closed Mills')
    await page.getByRole('row', { name: 'Closed Mills' }).nth(1).waitFor()
    expect(await count()).toBe(2)
  })
}

export function reopenedRefunds(bed: Bed): void {
  test('a refund whose response is lost is paid once, also when the page has listed it before the form is reopened', async () => {
    const { service } = bed
    const code = await newCode(service, await service.as(await service.newMerchant()), {
      multipleUse: true,
    })
    const credit = creditOf(code.tr, { amount: 80 })
    const { paymentId } = payloadOf(await notifyCredit(service.client, credit))
    const page = await bed.visit({ at: `/payments/${paymentId}`, expected: [LOST] })
    const reference = dialog(page).getByLabel('Reference', { exact: true })
    const refund = async (amount: string) => {
      await dialog(page).getByLabel('Amount in rupees').fill(amount)
      await dialog(page).getByLabel('Reason').fill('damaged')
      await dialog(page).getByRole('button', { name: 'Refund', exact: true }).click()
    }
    const refunds = () => countIn(bed, 'merchant_refunds where payment_id', paymentId)
    await loseResponse(page, `**/payments/${paymentId}/refunds`)
    await button(page, 'Refund').click()
    await refund('30')
    await dialog(page).getByText(UNKNOWN).waitFor()
    const first = await reference.inputValue()
    await goTo(page, `/payments/${paymentId}`)
    await page.getByRole('row', { name: first }).waitFor()
    await button(page, 'Refund').click()
    expect(await reference.inputValue()).toBe(first)
    await refund('30')
    await dialog(page).waitFor({ state: 'detached' })
    expect(await refunds()).toBe(1)
    await page.getByText('Done once', { exact: true }).waitFor()
    await button(page, 'Refund').click()
    expect(await reference.inputValue()).not.toBe(first)
    await refund('30')
    await dialog(page).waitFor({ state: 'detached' })
    expect(await refunds()).toBe(2)
  })
}

export function reloadedForms(bed: Bed): void {
  test('a page that is reloaded before the response of its form arrives issues one card for the same values', async () => {
    const { cardAccountId } = bed.world
    const email = 'loaded.again@example.com'
    const cards = () => countIn(bed, 'cards join users using (partner_id, user_id) where email', email)
    const page = await bed.visit({ at: `/card-accounts/${cardAccountId}`, expected: [LOST] })
    const issue = async () => {
      await button(page, 'Issue card').click()
      await dialog(page).getByLabel('E-mail of the holder').fill(email)
      await dialog(page).getByRole('button', { name: 'Issue', exact: true }).click()
    }
    const carriedOut = holdResponse(page, `**/card-accounts/${cardAccountId}/cards`)
    await issue()
    await carriedOut
    await page.reload()
    await settled(page)
    expect(await cards()).toBe(1)
    await issue()
    await page.waitForURL('**/console/cards/*')
    expect(await cards()).toBe(1)
    await page.getByText('Done once', { exact: true }).waitFor()
  })

  test('a page of the portal that is reloaded after a lost response creates one webhook for the same values, and shows its secret', async () => {
    const { partnerId } = await newPartner(bed.service)
    const page = await memberOf(bed, partnerId, 'admin', [LOST])
    const receiver = await WebhookReceiver.open()
    try {
      const url = receiver.url('/loaded-again')
      const create = async () => {
        await portalTo(page, '/webhooks')
        await page.getByRole('button', { name: 'Create webhook' }).first().click()
        await dialog(page).getByLabel('URL').fill(url)
        await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
      }
      await loseResponse(page, '**/portal/api/v0/webhook-endpoints')
      await create()
      await dialog(page).getByText(UNKNOWN).waitFor()
      await create()
      await page.getByTestId('secret').waitFor()
      expect(await countIn(bed, 'webhook_endpoints where url', url)).toBe(1)
    } finally {
      await receiver.close()
    }
  })
}

export function statesThatAreSetAgain(bed: Bed): void {
  test('a webhook that is disabled with a lost response, then enabled and disabled again, is disabled', async () => {
    const receiver = await WebhookReceiver.open()
    try {
      const { merchantId } = await bed.service.newMerchant()
      const admin = await signedIn(bed.service, 'admin')
      const url = receiver.url('/on-and-off')
      const { endpointId } = (await admin.post('/webhooks', { tenantId: merchantId, endpoint: { url } })).json
      const page = await bed.visit({ at: `/webhooks/${endpointId}`, expected: [LOST] })
      await loseResponse(page, `**/console/api/v0/webhooks/${endpointId}`, { method: 'PATCH' })
      await button(page, 'Disable').click()
      await button(page, 'Disable webhook').click()
      await dialog(page).getByText(UNKNOWN).waitFor()
      await goTo(page, `/webhooks/${endpointId}`)
      await button(page, 'Enable').click()
      await button(page, 'Enable webhook').click()
      await button(page, 'Disable').click()
      await button(page, 'Disable webhook').click()
      await page.getByText('This endpoint is disabled').waitFor()
      expect((await admin.get(`/webhooks/${endpointId}`)).json.enabled).toBe(false)
    } finally {
      await receiver.close()
    }
  })
}
