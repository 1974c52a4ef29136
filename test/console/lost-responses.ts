import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newPartner } from '../harness/partner.ts'
import { asSuperuser } from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'
import { type Bed, goTo } from './bed.ts'
import { dialog, memberOf, goTo as portalTo } from './portal.ts'
import { pick } from './tenants.ts'

export const LOST = /ERR_CONNECTION_RESET|504 \(Gateway/

/** The service carries out the next change there, whose response is lost on the way; by a proxy's status if one is given. */
export async function loseResponse(
  page: Page,
  at: string,
  { status, method = 'POST' }: { readonly status?: number; readonly method?: 'POST' | 'PATCH' } = {},
): Promise<void> {
  let isLost = false
  await page.route(at, async (route) => {
    if (route.request().method() !== method || isLost) return route.fallback()
    isLost = true
    await route.fetch()
    return status === undefined ? route.abort('connectionreset') : route.fulfill({ status, body: '' })
  })
}

/** Sends the open form, whose response is lost, and sends it again. */
async function sendTwice(page: Page, button: string): Promise<void> {
  const send = dialog(page).getByRole('button', { name: button, exact: true })
  await send.click()
  await dialog(page).getByText('it is unknown whether this was done. Try again: it is done once').waitFor()
  await send.click()
}

export const countIn = (bed: Bed, from: string, value: string): Promise<number> =>
  asSuperuser(bed.service.db.database, async (db) => {
    const { rows } = await db.query<{ count: number }>(`select count(*)::int from ${from} = $1`, [value])
    return rows[0]!.count
  })

export function lostResponses(bed: Bed): void {
  test('a console form whose response is lost says that it can be sent again, and creates one company, code or webhook', async () => {
    const { merchantName, partnerName } = bed.world
    const page = await bed.visit({ at: '/companies', expected: [LOST] })
    await loseResponse(page, '**/console/api/v0/companies')
    await page.getByRole('button', { name: 'Create company' }).click()
    await pick(page, 'Partner', partnerName)
    await dialog(page).getByLabel('Name', { exact: true }).fill('Lost And Found')
    await sendTwice(page, 'Create')
    await page.getByRole('row', { name: 'Lost And Found' }).waitFor()
    expect(await countIn(bed, 'companies where name', 'Lost And Found')).toBe(1)
    // The next form is another intent.
    await page.getByRole('button', { name: 'Create company' }).click()
    await pick(page, 'Partner', partnerName)
    await dialog(page).getByLabel('Name', { exact: true }).fill('Lost And Found')
    await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('row', { name: 'Lost And Found' }).nth(1).waitFor()

    await goTo(page, '/qr-codes')
    await loseResponse(page, '**/console/api/v0/qr-codes', { status: 504 })
    await page.getByRole('button', { name: 'Create QR code' }).click()
    await pick(page, 'Merchant', merchantName)
    await dialog(page).getByLabel('Name', { exact: true }).fill('Lost code')
    await sendTwice(page, 'Create')
    await page.getByRole('heading', { level: 1, name: 'Lost code' }).waitFor()
    expect(await countIn(bed, 'qr_codes where qr_name', 'Lost code')).toBe(1)

    const receiver = await WebhookReceiver.open()
    try {
      await goTo(page, '/webhooks')
      await loseResponse(page, '**/console/api/v0/webhooks')
      await page.getByRole('button', { name: 'Create webhook' }).click()
      await pick(page, 'Merchant', merchantName)
      await dialog(page).getByLabel('URL').fill(receiver.url('/lost'))
      await sendTwice(page, 'Create')
      await page.getByTestId('secret').waitFor()
      expect(await countIn(bed, 'webhook_endpoints where url', receiver.url('/lost'))).toBe(1)
    } finally {
      await receiver.close()
    }
  })
}

export function formsAfterLostResponses(bed: Bed): void {
  test('after a lost response a form with other values creates nothing, and reports it', async () => {
    const page = await bed.visit({ at: '/companies', expected: [LOST, /422/] })
    await loseResponse(page, '**/console/api/v0/companies')
    await page.getByRole('button', { name: 'Create company' }).click()
    await pick(page, 'Partner', bed.world.partnerName)
    await dialog(page).getByLabel('Name', { exact: true }).fill('Before')
    await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
    await dialog(page).getByText('Try again: it is done once').waitFor()
    await dialog(page).getByLabel('Name', { exact: true }).fill('After')
    await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
    await dialog(page).getByText('This form was carried out before').waitFor()
    expect(await countIn(bed, 'companies where name', 'Before')).toBe(1)
    expect(await countIn(bed, 'companies where name', 'After')).toBe(0)
  })

  test('a merchant whose response is lost is created once, and the form shows its API key when it is sent again', async () => {
    const page = await bed.visit({ at: '/merchants', expected: [LOST] })
    await loseResponse(page, '**/console/api/v0/merchants')
    await page.getByRole('button', { name: 'Create merchant' }).click()
    await dialog(page).getByLabel('Name', { exact: true }).fill('Lost Stores')
    await dialog(page).getByLabel('VPA').fill('lost.stores@bank')
    await dialog(page).getByLabel('Merchant category code').fill('5411')
    await sendTwice(page, 'Create')
    await page.getByTestId('secret').waitFor()
    expect(await countIn(bed, 'merchants where name', 'Lost Stores')).toBe(1)
  })

  test('where a change has no key, a lost response asks to check before it is sent again', async () => {
    const page = await bed.visit({ at: '/operators', expected: [LOST] })
    await loseResponse(page, '**/console/api/v0/operators/invitations')
    await page.getByRole('button', { name: 'Invite operator' }).first().click()
    await dialog(page).getByLabel('Name', { exact: true }).fill('lost.operator')
    await dialog(page).getByRole('button', { name: 'Invite', exact: true }).click()
    await dialog(page).getByText('Check that before you try again.').waitFor()
    expect(await countIn(bed, 'operator_invitations where name', 'lost.operator')).toBe(1)
  })
}

export function lostResponsesInPortal(bed: Bed): void {
  test('a portal form whose response is lost can be sent again, and creates one company or webhook', async () => {
    const { partnerId } = await newPartner(bed.service)
    const page = await memberOf(bed, partnerId, 'admin', [LOST])
    await portalTo(page, '/companies')
    await loseResponse(page, '**/portal/api/v0/partner/companies')
    await page.getByRole('button', { name: 'Register company' }).first().click()
    await dialog(page).getByLabel('Name').fill('Lost Mills')
    await sendTwice(page, 'Register')
    await page.getByRole('row', { name: 'Lost Mills' }).waitFor()
    expect(await countIn(bed, 'companies where name', 'Lost Mills')).toBe(1)

    const receiver = await WebhookReceiver.open()
    try {
      await portalTo(page, '/webhooks')
      await loseResponse(page, '**/portal/api/v0/webhook-endpoints')
      await page.getByRole('button', { name: 'Create webhook' }).first().click()
      await dialog(page).getByLabel('URL').fill(receiver.url('/portal'))
      await sendTwice(page, 'Create')
      await page.getByTestId('secret').waitFor()
      expect(await countIn(bed, 'webhook_endpoints where url', receiver.url('/portal'))).toBe(1)
    } finally {
      await receiver.close()
    }
  })
}
