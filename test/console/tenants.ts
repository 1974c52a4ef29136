import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { type Bed, goTo } from './bed.ts'

const dialog = (page: Page) => page.getByRole('dialog')

/** Reads the secret that is shown once, and takes it by the copy button too. */
export async function keepSecret(page: Page, what: string): Promise<string> {
  const secret = (await page.getByTestId('secret').textContent())!
  await page.getByRole('button', { name: `Copy ${what}`, exact: true }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret)
  await page.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByRole('dialog', { name: `New ${what}` }).waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain(secret)
  return secret
}

/** Chooses in a field that searches as one types. */
export async function pick(page: Page, label: string, typed: string): Promise<void> {
  await dialog(page).getByLabel(label, { exact: true }).fill(typed)
  await page.getByRole('option', { name: typed }).click()
}

/** Enters money for a card account, first without what each entry must have. */
async function fundAfterMistakes(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Fund' }).click()
  await dialog(page).getByLabel('Amount in rupees').fill('2,50,000.505')
  await dialog(page).getByRole('button', { name: 'Enter the money' }).click()
  await dialog(page).getByText('Rupees with at most two decimals').waitFor()
  await dialog(page)
    .getByText(/^It .*reference/)
    .waitFor()
  await dialog(page).getByText('Say why').waitFor()
  await dialog(page).getByLabel('Amount in rupees').fill('2,50,000.50')
  await dialog(page).getByLabel('Bank reference').fill('AXISN 0000000042')
  await dialog(page).getByLabel('Reason').fill('Diwali cards')
  await dialog(page).getByRole('button', { name: 'Enter the money' }).click()
}

export function tenants(bed: Bed): void {
  test('a merchant is created, gets working keys that are shown once, and is disabled and enabled', async () => {
    const { client } = bed.service
    const token = async (apiKey: string) =>
      (await client.post('/api/v0/merchant/token', undefined, { 'api-key': apiKey })).status
    const page = await bed.visit({ at: '/merchants' })
    await page.getByRole('button', { name: 'Create merchant' }).click()
    // As slowly as people press.
    await dialog(page).getByRole('button', { name: 'Create' }).click({ delay: 300 })
    await dialog(page).getByText('Must look like name@handle').waitFor()
    await dialog(page).getByLabel('Name').fill('Tea Corner')
    await dialog(page).getByLabel('VPA').fill('tea.corner@bank')
    await dialog(page).getByLabel('Merchant category code').fill('5814')
    await dialog(page).getByRole('button', { name: 'Create' }).click()
    expect(await token(await keepSecret(page, 'API key'))).toBe(200)

    await page.getByLabel('Search').fill('tea c')
    await page.getByRole('link', { name: 'Tea Corner' }).click()
    await page.getByRole('link', { name: 'People and keys' }).click()
    await page.getByRole('button', { name: 'Issue API key' }).click()
    await dialog(page).getByLabel('Name').fill('till 2')
    await dialog(page).getByRole('button', { name: 'Issue' }).click()
    const second = await keepSecret(page, 'API key')
    expect(await token(second)).toBe(200)
    await page.getByRole('row', { name: 'till 2' }).getByRole('button', { name: 'Revoke' }).click()
    await dialog(page).getByLabel('Type till 2 to confirm').fill('till 2')
    await dialog(page).getByRole('button', { name: 'Revoke for good' }).click()
    await page.getByRole('row', { name: 'till 2' }).getByText('Revoked').waitFor()
    expect(await token(second)).toBe(401)

    await page.getByRole('button', { name: 'Disable' }).click()
    await dialog(page).getByRole('button', { name: 'Disable merchant' }).click()
    await page.getByText('Disabled', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Enable', exact: true }).click()
    await dialog(page).getByRole('button', { name: 'Enable merchant' }).click()
    await page.getByRole('button', { name: 'Disable', exact: true }).waitFor()
  })

  test('a partner is created with its client, gets an encryption key that is shown once, and retires it', async () => {
    const page = await bed.visit({ at: '/partners' })
    await page.getByRole('button', { name: 'Create partner' }).click()
    await dialog(page).getByLabel('Name').fill('Gift House')
    await dialog(page).getByRole('button', { name: 'Create' }).click()
    const clientId = await dialog(page).getByText(/^cli_/).textContent()
    const secret = await keepSecret(page, 'Client secret')
    const granted = await fetch(`${bed.service.client.baseUrl}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId!,
        client_secret: secret,
      }),
    })
    expect(granted.status).toBe(200)

    for (const name of ['Gift House', 'Keys']) await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('button', { name: 'Issue shared key' }).click()
    await dialog(page).getByRole('button', { name: 'Issue' }).click()
    const { kid, kty } = JSON.parse(await keepSecret(page, 'Shared key')) as { kid: string; kty: string }
    expect(kty).toBe('oct')
    await page.getByRole('row', { name: kid }).getByRole('button', { name: 'Retire' }).click()
    await dialog(page).getByRole('button', { name: 'Retire for good' }).click()
    await page.getByRole('row', { name: kid }).getByText('Retired').waitFor()
  })

  test('a company, its card account and a user are created on a phone, and the account is funded', async () => {
    const page = await bed.visit({ at: '/companies', size: 'phone' })
    await page.getByRole('button', { name: 'Create company' }).click()
    await pick(page, 'Partner', bed.world.partnerName)
    await dialog(page).getByLabel('Name', { exact: true }).fill('Acme Tools')
    await dialog(page).getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'Acme Tools' }).click()
    await page.getByRole('heading', { level: 1, name: 'Acme Tools' }).waitFor()

    await page.getByRole('button', { name: 'Register holder' }).click()
    await dialog(page).getByLabel('First name').fill('Asha')
    await dialog(page).getByLabel('E-mail').fill('asha@acme')
    await dialog(page).getByRole('button', { name: 'Register' }).click()
    await dialog(page).getByText('Must be an e-mail address').waitFor()
    await dialog(page).getByLabel('E-mail').fill('asha@acme.example')
    await dialog(page).getByRole('button', { name: 'Register' }).click()
    await dialog(page).waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Create card account' }).click()
    await dialog(page).getByLabel('Programme').fill('Diwali')
    await dialog(page).getByRole('button', { name: 'Create' }).click()
    await dialog(page).waitFor({ state: 'detached' })
    await page.getByRole('list', { name: 'Card accounts' }).getByRole('link').first().click()
    await page.getByRole('heading', { level: 1, name: 'Diwali of Acme Tools' }).waitFor()
    await fundAfterMistakes(page)
    await page.getByText('Entered. The balance is ₹2,50,000.50 now.').waitFor()
    await page.getByText('+₹2,50,000.50').waitFor()
  })

  test('lists are searched, filtered, sorted and paged by the service, and the URL reflects it', async () => {
    const admin = await bed.visit({ at: '/merchants' })
    for (let i = 0; i < 3; i++) await bed.service.newMerchant({ name: `Zebra ${i}` })
    const names = () =>
      admin
        .getByRole('row')
        .getByRole('link', { name: /^Zebra/ })
        .allTextContents()
    await admin.getByLabel('Search').fill('zebra')
    await admin.getByText('3 in all', { exact: true }).waitFor()
    await expect.poll(names).toEqual(['Zebra 2', 'Zebra 1', 'Zebra 0'])
    await admin.getByRole('button', { name: 'Merchant', exact: true }).click()
    await expect.poll(names).toEqual(['Zebra 0', 'Zebra 1', 'Zebra 2'])
    expect(new URL(admin.url()).searchParams.get('sort')).toBe('name')
    await admin.reload()
    await expect.poll(names).toEqual(['Zebra 0', 'Zebra 1', 'Zebra 2'])
    await admin.getByRole('combobox', { name: 'Status' }).click()
    await admin.getByRole('option', { name: 'Disabled' }).click()
    await admin.getByText('Nothing fits these filters.').waitFor()
    await admin.getByRole('button', { name: 'Clear them' }).click()
    await admin.getByRole('link', { name: bed.world.merchantName }).waitFor()
  })
}

export function savedFilters(bed: Bed): void {
  test('filters are saved under a name, applied in a later visit, and deleted; typed text is not stored', async () => {
    const page = await bed.visit({ at: '/merchants' })
    await page.getByLabel('Search').fill('tea')
    await page.getByRole('combobox', { name: 'Status' }).click()
    await page.getByRole('option', { name: 'Disabled' }).click()
    await page.getByRole('button', { name: 'Save filters' }).click()
    await dialog(page).getByLabel('Name').fill('Disabled ones')
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await goTo(page, '/merchants')
    await page.getByRole('button', { name: 'Saved filters' }).click()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Disabled ones', exact: true }).click()
    await expect.poll(() => new URL(page.url()).search).toBe('?status=disabled')
    await page.getByRole('button', { name: 'Saved filters' }).click()
    await page.getByRole('button', { name: 'Forget Disabled ones' }).click()
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('Disabled ones')
  })
}
