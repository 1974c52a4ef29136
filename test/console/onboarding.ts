import { createSecretKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { accessibilityViolations, overflowPx } from '../harness/browser.ts'
import { payloadOf } from '../harness/client.ts'
import { Browser, PASSWORD } from '../harness/console.ts'
import { asPartner, createCard, type TestPartner } from '../harness/partner.ts'
import { newCode } from '../harness/qr-codes.ts'
import { type Bed, look, settled } from './bed.ts'
import { NOT_SIGNED_IN } from './people.ts'
import { at, type Person } from './person.ts'

/** Pages are checked again and again; a busy machine needs minutes. */
const LOOKS_MS = 300_000

/** In light on a desk and in dark on a phone. */
async function looksRight(page: Person['page'], what: string): Promise<void> {
  for (const [size, colours] of [
    ['desk', 'light'],
    ['phone', 'dark'],
  ] as const) {
    await look(page, size, colours)
    expect.soft(await accessibilityViolations(page), `${what}, ${size} ${colours}`).toEqual([])
    expect.soft(await overflowPx(page), `${what}, ${size} ${colours}`).toBe(0)
  }
  await look(page, 'desk', 'light')
}

/** The window of the person who opened the link and chose a password. */
async function opensLink(bed: Bed, link: string): Promise<Person['page']> {
  const page = await bed.visit({
    as: null,
    at: '/sign-in',
    expected: [...NOT_SIGNED_IN, /40[14] .*\/portal/],
  })
  await page.goto(link)
  await page.getByText('Credentials come with it').waitFor()
  await looksRight(page, 'the link')
  await page.getByLabel('Choose a password').fill(PASSWORD)
  await page.getByLabel('Repeat the password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Save and sign in' }).click()
  await page.getByRole('heading', { name: 'Credentials for your programs' }).waitFor()
  return page
}

/** What the link shows, this one time, in the window of the person who got it. */
async function openHandover(
  bed: Bed,
  link: string,
): Promise<Pick<TestPartner, 'clientId' | 'clientSecret' | 'sharedKey'>> {
  const page = await opensLink(bed, link)
  await looksRight(page, 'the sheet')
  expect(page.url()).not.toContain('#')
  const clientSecret = String(await page.getByTestId('secret').textContent())
  const { kid, alg, enc, k } = JSON.parse(String(await page.getByTestId('shared-key').textContent()))
  const clientId = String(await page.getByText(/^cli_/).textContent())
  await page.emulateMedia({ media: 'print' })
  expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
  await page.emulateMedia({ media: 'screen' })
  await page.getByRole('button', { name: 'I have kept them' }).click()
  await page.getByRole('heading', { name: 'For your programs', exact: true }).waitFor()
  expect(await page.getByText(clientSecret).count()).toBe(0)
  await page.goto(link)
  await settled(page)
  await page.getByRole('alert').waitFor()
  return {
    clientId,
    clientSecret,
    sharedKey: { kid, alg, enc, key: createSecretKey(Buffer.from(k, 'base64url')) },
  }
}

export function tasksOfAdmins(bed: Bed): void {
  test(
    'task 14: an admin onboards a partner to its first card and hands over credentials that work',
    async () => {
      const me = await at(bed, 'admin')
      await me.place('Tenants', 'Partners')
      await me.click(me.page.getByRole('link', { name: 'Onboard partner' }))
      await me.type(me.page.getByLabel('Name'), 'Ananda Gifts')
      await me.click(me.button('Create and continue'))
      await me.page.getByLabel('Programme').waitFor()
      await me.click(me.button('Create and continue'))
      await me.click(me.button('Continue'))
      await me.click(me.button('Enter the money'))
      await me.type(me.page.getByLabel('E-mail of the holder'), 'first.holder@example.com')
      await me.type(me.page.getByLabel('Person who gets the credentials'), 'meera@ananda.example')
      await me.click(me.button('Issue card and make the link'))
      await me.click(me.button('Copy link'))
      const taken = me.took()
      expect(taken).toBeLessThanOrEqual(12)
      const link = String(await me.page.evaluate('navigator.clipboard.readText()'))
      expect(await me.page.getByTestId('secret').textContent()).toBe(link)
      await looksRight(me.page, 'the end of the set-up')
      const [, partnerId = ''] = /(par_\w+)\/set-up/.exec(me.page.url()) ?? []
      const credentials = await openHandover(
        bed,
        link.replace(/^.*(?=\/portal\/)/, bed.service.client.baseUrl),
      )

      await me.page.getByRole('link', { name: /XXXX/ }).click()
      await me.page.getByText('f•••@example.com').waitFor()
      await me.page.goto(`/console/partners/${partnerId}?tab=keys`)
      await me.page
        .getByRole('row', { name: 'meera@ananda.example' })
        .getByText('Opened', { exact: true })
        .waitFor()
      expect(await me.page.getByRole('link', { name: 'Continue set-up' }).count()).toBe(0)
      const { company, cardAccount } = await setUpOf(bed, me.page, partnerId)
      const theirs = {
        ...credentials,
        partnerId,
        companyId: company.companyId,
        cardAccountId: cardAccount.cardAccountId,
      }
      const client = await asPartner(bed.service.client, theirs as TestPartner)
      expect(
        payloadOf(await createCard(client, theirs as TestPartner, { email: 'next@example.com' })).svcCardId,
      ).toMatch(/^card_/)
    },
    LOOKS_MS,
  )
}

/** Secrets of tenants, wherever they are. */
const SECRET = /svc_(?:test|live)_|client_?secret"?:/i

export function tasksOfOnboarding(bed: Bed): void {
  test(
    'task 23: a merchant is onboarded to its first key by a link, and its operator sees no secret',
    async () => {
      const me = await at(bed, 'operator')
      const seen: string[] = []
      me.page.on('response', async (response) => {
        if (/\/console\/api\//.test(response.url())) seen.push(await response.text().catch(() => ''))
      })
      await me.place('Tenants')
      await me.click(me.page.getByRole('link', { name: 'Onboard merchant' }))
      await me.type(me.page.getByLabel('Name'), 'Sharma Sweets')
      await me.type(me.page.getByLabel('VPA'), 'sharma.sweets@bank')
      await me.type(me.page.getByLabel('Merchant category code'), '5441')
      await me.click(me.button('Create and continue'))
      await me.type(me.page.getByLabel('Account number'), '123456789012')
      expect(await me.page.getByLabel('Holder').inputValue()).toBe('Sharma Sweets')
      await me.type(me.page.getByLabel('IFSC'), 'HDFC0000001')
      await me.type(me.page.getByLabel('Percent of the amount'), '1.5')
      await looksRight(me.page, 'the bank account and the fee')
      await me.click(me.button('Save and continue'))
      await me.type(me.page.getByLabel('Person who gets the credentials'), 'asha@sharma.example')
      await me.click(me.button('Make the link'))
      await me.click(me.button('Copy link'))
      expect(me.took()).toBeLessThanOrEqual(14)
      const link = String(await me.page.evaluate('navigator.clipboard.readText()'))
      await me.link('Go to the merchant').click()
      const steps = me.page.getByRole('main').getByRole('listitem')
      await steps.filter({ hasText: 'Link used, not yet' }).waitFor()
      await looksRight(me.page, 'the merchant with its steps')

      const page = await opensLink(bed, link.replace(/^.*(?=\/portal\/)/, bed.service.client.baseUrl))
      const apiKey = String(await page.getByTestId('secret').textContent())
      const accessKey = String(await me.page.getByText(/^mak_/).first().textContent())
      await page.getByText(accessKey).waitFor()
      expect(apiKey).toMatch(SECRET)
      await newCode(bed.service, await bed.service.as({ apiKey }))
      for (const step of ['Link used, done', 'Key, done', 'QR code, done'])
        await steps.filter({ hasText: step }).waitFor({ timeout: 15_000 })
      await me.page.getByText('4 of 7 done').waitFor()
      expect(seen.filter((text) => text.includes(apiKey) || SECRET.test(text))).toEqual([])
    },
    LOOKS_MS,
  )
}

export function leftSetUp(bed: Bed): void {
  test(
    'an unfinished setup is continued from the partner’s page, at the step where it stopped',
    async () => {
      const me = await at(bed, 'operations', [/400/])
      await me.page.goto('/console/partners/set-up')
      await me.button('Create and continue').click()
      await me.page.getByText('Required').waitFor()
      await looksRight(me.page, 'the first step')
      await me.page.getByLabel('Name').fill('Left Behind')
      await me.button('Create and continue').click()
      await me.page.getByLabel('Programme').fill('')
      await me.button('Create and continue').click()
      await me.page.getByText('Required').waitFor()
      await looksRight(me.page, 'the second step')
      const partner = me.page.url().replace('/set-up', '')
      await me.page.goto(partner)
      await looksRight(me.page, 'the page of the partner')
      await me.page.getByRole('link', { name: 'Continue set-up' }).click()
      await me.page.getByRole('textbox', { name: 'Company' }).waitFor()
      await me.button('Create and continue').click()
      await me.page.getByRole('radio', { name: /published keys/ }).check()
      await looksRight(me.page, 'the third step')
      await me.button('Continue').click()
      await me.page.getByText('The role finance enters', { exact: false }).waitFor()
      await me.page.reload()
      await looksRight(me.page, 'the fourth step')
      await me.button('Continue without').click()
      await me.page.getByText('The card comes later').waitFor()
      await me.page.getByLabel('Person who gets the credentials').fill('Not A Name')
      await me.button('Make the link').click()
      await me.page
        .getByText(/^name must be/)
        .first()
        .waitFor()
      await looksRight(me.page, 'the last step')
      await me.page.getByLabel('Person who gets the credentials').fill('ravi@left.example')
      await me.button('Make the link').click()
      await me.page.getByTestId('secret').waitFor()
      await me.page.getByRole('button', { name: 'Company and account' }).click()
      await me.page.getByRole('link', { name: 'Gift cards' }).waitFor()
      await me.page.goto(partner)
      await me.page
        .getByRole('row', { name: 'ravi@left.example' })
        .getByText('Waiting', { exact: true })
        .waitFor()
      await me.page.getByRole('link', { name: 'Continue set-up' }).waitFor()
    },
    LOOKS_MS,
  )
}

/** The company and the account that the wizard made. */
async function setUpOf(bed: Bed, page: Person['page'], partnerId: string) {
  const browser = new Browser(bed.service)
  browser.cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
  return (await browser.get(`/partners/${partnerId}/set-up`)).json
}
