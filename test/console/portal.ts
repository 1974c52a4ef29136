import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { payloadOf } from '../harness/client.ts'
import { PASSWORD } from '../harness/console.ts'
import { LONG } from '../harness/long.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { invite } from '../harness/portal.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { type Bed, look, settled } from './bed.ts'
import { NOT_SIGNED_IN } from './people.ts'
import { strangeWords } from './words-on-pages.ts'

export const dialog = (page: Page) => page.getByRole('dialog')

export async function goTo(page: Page, path: string): Promise<void> {
  await page.goto(`/portal${path}`, { waitUntil: 'domcontentloaded' })
  await settled(page)
}

/** A window in which an invited member of the tenant has chosen a password. */
export async function memberOf(
  bed: Bed,
  tenantId: string,
  role: 'viewer' | 'admin' = 'admin',
  expected: readonly RegExp[] = [],
): Promise<Page> {
  const { token } = await invite(bed.service, tenantId, role)
  const page = await bed.visit({
    as: null,
    at: '/sign-in',
    expected: [...NOT_SIGNED_IN, /40[134] .*\/portal/, ...expected],
  })
  await goTo(page, `/link#${token}`)
  await page.getByLabel('Choose a password').fill(PASSWORD)
  await page.getByLabel('Repeat the password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Save and sign in' }).click()
  await page.getByRole('heading', { name: 'For your programs' }).waitFor()
  return page
}

async function newCard(
  service: Bed['service'],
  partner: TestPartner,
): Promise<{ svcCardId: string; maskedNumber: string }> {
  return payloadOf(await createCard(await asPartner(service.client, partner), partner, { loadAmount: 100 }))
}

const MERCHANT = ['/', '/qr-codes', '/payments', '/refunds', '/payouts', '/disputes', '/bank-account']
const PARTNER = ['/', '/companies', '/users', '/cards', '/card-accounts', '/coins', '/encryption-keys']
const BOTH = ['/statements', '/webhooks', '/requests', '/events', '/credentials', '/members', '/account']
const OF_ADMINS = ['/activity']

async function lookAtAll(page: Page, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await goTo(page, path)
    expect.soft(await strangeWords(page, path), path).toEqual([])
    for (const [size, colours] of [
      ['desk', 'light'],
      ['phone', 'dark'],
    ] as const) {
      await look(page, size, colours)
      expect(await accessibilityViolations(page), `${path} ${size} ${colours}`).toEqual([])
    }
    await look(page, 'desk', 'light')
  }
}

/** A dozen pages, each looked at twice; a busy machine needs minutes. */
const ALL_PAGES_MS = 300_000

/** Pages, actions and what is the merchant’s own, by what people have at hand. */
async function findOwn(page: Page, credit: { readonly utr: string; readonly amount: number }): Promise<void> {
  await goTo(page, '/')
  for (const [typed, found] of [
    ['portal-refund-1', /^Refund portal-refund-1/],
    [credit.utr.toLowerCase(), new RegExp(credit.utr)],
    [String(credit.amount), new RegExp(`UTR ${credit.utr}`)],
    ['stat', /^Statements/],
    ['invite', /^Invite a member/],
  ] as const) {
    await page.keyboard.press(typed === 'stat' ? '/' : 'Control+k')
    await dialog(page).getByRole('searchbox').fill(typed)
    await dialog(page).getByRole('link', { name: found }).first().waitFor()
    await page.keyboard.press('Enter')
    await dialog(page).waitFor({ state: 'detached' })
  }
  await page.waitForURL('**/portal/members')
  await page.keyboard.press('Control+k')
  await dialog(page).getByRole('link').first().waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
}

async function issueLimitedKey(page: Page): Promise<void> {
  await goTo(page, '/credentials')
  await page.getByRole('button', { name: 'Issue API key' }).click()
  await dialog(page).getByLabel('Name').fill('till 2')
  await dialog(page).getByLabel('Addresses').fill('203.0.113.0/24\n2001:db8::/32')
  await dialog(page).getByRole('button', { name: 'Issue', exact: true }).click()
  expect(await page.getByTestId('secret').textContent()).toMatch(/^svc_test_/)
  await page.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByRole('row', { name: /till 2.*203\.0\.113\.0\/24, 2001:db8::\/32/ }).waitFor()
  await page.getByRole('button', { name: 'Limit till 2' }).click()
  await dialog(page).getByLabel('Scopes').click()
  await page.getByRole('option', { name: 'payments:read' }).click()
  expect(await accessibilityViolations(page)).toEqual([])
  await page.keyboard.press('Tab')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /till 2.*payments:read/ }).waitFor()
}

export function portalOfMerchants(bed: Bed): void {
  test('a merchant is invited in the console, joins with the link, is paid by a code and refunds', {
    timeout: ALL_PAGES_MS,
  }, async () => {
    const merchant = await bed.service.newMerchant()
    const admin = await bed.visit({ at: `/merchants/${merchant.merchantId}?tab=people` })
    await admin.getByRole('button', { name: 'Invite member' }).click()
    await dialog(admin).getByLabel('Name').fill('asha@shop.example')
    await dialog(admin).getByRole('button', { name: 'Invite' }).click()
    const link = String(await admin.getByTestId('secret').textContent())
    await admin.getByRole('button', { name: 'I have kept it' }).click()
    await admin.getByRole('row', { name: 'asha@shop.example' }).getByText('Invited').waitFor()

    const page = await memberOf(bed, merchant.merchantId)
    expect(link).toContain('/portal/link#mer_')
    expect(page.url()).not.toContain('#')
    await goTo(page, '/qr-codes')
    await page.getByRole('button', { name: 'Create QR code' }).first().click()
    await dialog(page).getByLabel('Name').fill('Counter 1')
    await dialog(page).getByLabel('Amount in rupees').fill('50')
    await dialog(page).getByLabel('Exactly this amount').uncheck()
    await dialog(page).getByLabel('At least, in rupees').fill('20.50')
    await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Counter 1' }).waitFor()
    await page.getByRole('img', { name: 'QR code Counter 1' }).waitFor()
    await page.getByText('₹20.50').waitFor()
    await page.getByRole('button', { name: 'Cancel code' }).click()
    await dialog(page).getByLabel('Reason').fill('The counter moved')
    await dialog(page).getByRole('button', { name: 'Cancel it for good' }).click()
    await page.getByText('The counter moved').waitFor()

    const code = await newCode(bed.service, await bed.service.as(merchant), { multipleUse: true })
    const credit = creditOf(code.tr)
    await notifyCredit(bed.service.client, credit)
    await goTo(page, '/payments')
    await page.getByRole('link', { name: /^UTR/ }).click()
    await page.getByRole('button', { name: 'Refund' }).click()
    await dialog(page).getByLabel('Amount in rupees').fill('0.50')
    await dialog(page).getByLabel('Your reference').fill('portal-refund-1')
    await dialog(page).getByRole('button', { name: 'Refund', exact: true }).click()
    await page.getByRole('row', { name: 'portal-refund-1' }).waitFor()

    await findOwn(page, credit)
    await issueLimitedKey(page)
    await lookAtAll(page, [...MERCHANT, ...BOTH, ...OF_ADMINS])
  })
}

export function portalOfPartners(bed: Bed): void {
  if (LONG)
    test('a partner’s member registers a company and a user, and no page has a serious accessibility violation', {
      timeout: ALL_PAGES_MS,
    }, async () => {
      const partner = await newPartner(bed.service, {})
      const page = await memberOf(bed, partner.partnerId)
      await goTo(page, '/companies')
      await page.getByRole('button', { name: 'Register company' }).first().click()
      await dialog(page).getByLabel('Name').fill('Ananda Mills')
      await dialog(page).getByRole('button', { name: 'Register', exact: true }).click()
      await page.getByRole('row', { name: 'Ananda Mills' }).waitFor()
      await goTo(page, `/card-accounts/${partner.cardAccountId}`)
      await page.getByRole('heading', { name: 'Statement' }).waitFor()
      await lookAtAll(page, [...PARTNER, ...BOTH, ...OF_ADMINS, `/card-accounts/${partner.cardAccountId}`])
      const { maskedNumber } = await newCard(bed.service, partner)
      await goTo(page, '/cards')
      await page.getByRole('link', { name: maskedNumber }).click()
      await page.getByRole('button', { name: 'Block' }).click()
      await dialog(page).getByLabel('Reason').fill('stolen')
      await dialog(page).getByLabel(/^Type/).fill(maskedNumber.slice(-4))
      await dialog(page).getByRole('button', { name: 'Block for good' }).click()
      await page.getByText('Blocked for good').waitFor()
    })
}

export function portalOfViewers(bed: Bed): void {
  test('one click signs in to the portal of the sandbox as a tenant', async () => {
    const merchant = await bed.service.newMerchant({ name: 'Clicked Shop' })
    const page = await bed.visit({ as: null, at: '/sign-in', expected: [...NOT_SIGNED_IN, /401 .*\/portal/] })
    await goTo(page, '/')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('combobox', { name: 'Merchant or partner' }).fill('Clicked')
    await page.getByRole('option', { name: 'Clicked Shop (merchant)' }).click()
    await page.getByRole('button', { name: 'Enter the portal' }).click()
    await page.getByRole('heading', { level: 1, name: 'Clicked Shop' }).waitFor()
    await page.getByText(merchant.merchantId).waitFor()
  })

  test('a viewer of the portal sees no button that changes anything, and only the sheet is printed', async () => {
    const merchant = await bed.service.newMerchant()
    const code = await newCode(bed.service, await bed.service.as(merchant), { multipleUse: true })
    const page = await memberOf(bed, merchant.merchantId, 'viewer')
    for (const path of [
      ...MERCHANT,
      ...BOTH.filter((one) => one !== '/account'),
      `/qr-codes/${code.qrCodeId}`,
    ]) {
      await goTo(page, path)
      const names = await page.getByRole('main').getByRole('button').allTextContents()
      const harmless =
        /^(?:Print|CSV|Export CSV|Last 7 days as CSV|Next|Clear them|More filters|View|Show|API reference|Filters?.*|)$/
      expect(
        names.filter((name) => !harmless.test(name.trim())),
        path,
      ).toEqual([])
    }
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByRole('navigation').first().isVisible()).toBe(false)
    expect(await page.getByRole('img', { name: /^QR code/ }).isVisible()).toBe(true)
  })
}

export function usersInPortal(bed: Bed): void {
  test('the users page of the portal shows the users of all companies, and those of the selected one', async () => {
    const partner = await newPartner(bed.service, {})
    const client = await asPartner(bed.service.client, partner)
    const register = async (name: string, firstName: string) => {
      const { companyId } = payloadOf(await client.post('/api/v0/partner/companies', { name }))
      payloadOf(await client.post('/api/v0/partner/users', { companyId, firstName }))
    }
    await register('Older Mills', 'Olda')
    await register('Newer Mills', 'Newa')
    const page = await memberOf(bed, partner.partnerId)
    await goTo(page, '/users')
    await page.getByRole('row', { name: /Olda.*Older Mills/ }).waitFor()
    await page.getByRole('row', { name: /Newa.*Newer Mills/ }).waitFor()
    await page.getByRole('combobox', { name: 'Company' }).click()
    await page.getByRole('option', { name: 'Older Mills' }).click()
    await page.waitForURL('**/users?companyId=*')
    await page.getByRole('row', { name: /Newa/ }).waitFor({ state: 'detached' })
    expect(await page.getByRole('row', { name: /Olda.*Older Mills/ }).count()).toBe(1)
    expect(await accessibilityViolations(page)).toEqual([])
  })
}
