import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { newOperator, signedIn } from '../harness/console.ts'
import { freePort } from '../harness/free-port.ts'
import { openIdentityProvider } from '../harness/identity-provider.ts'
import { memberBrowser } from '../harness/portal.ts'
import { openService, type TestService } from '../harness/service.ts'
import { type Bed, goTo, look } from './bed.ts'
import { NOT_SIGNED_IN } from './people.ts'
import { clean, signIn } from './second-factor.ts'

/** An authenticator of Chromium that recognizes its person at once. */
async function plugIn(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Signed in as/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { level: 1, name: /^svc (?:console|portal)$/ }).waitFor()
}

export function signInWays(bed: Bed): void {
  test('an invited person signs in with the identity provider, adds a passkey, and signs in with the passkey alone', async () => {
    // Browsers allow passkeys for names, not for addresses.
    const baseUrl = `http://localhost:${await freePort()}`
    const provider = await openIdentityProvider(() => `${baseUrl}/console/oidc`)
    const env = { ...provider.env, PUBLIC_URL: baseUrl, PORT: new URL(baseUrl).port }
    const service = await openService({ db: bed.service.db, env })
    try {
      const admin = await signedIn(service, 'admin')
      const name = 'dara@example.com'
      await admin.post('/operators/invitations', { name, role: 'operator' })
      provider.account = { sub: 'dara', email: name, email_verified: true }

      const leads = { as: null, baseUrl, leadsTo: provider.issuer, expected: NOT_SIGNED_IN }
      const page = await bed.visit({ ...leads, at: '/sign-in?back=//evil.example' })
      await plugIn(page)
      expect(await accessibilityViolations(page)).toEqual([])
      const withProvider = page.getByRole('button', { name: `Sign in with ${new URL(provider.issuer).host}` })
      provider.refuses = true
      await withProvider.click()
      await page.getByRole('alert').filter({ hasText: 'single_sign_on_failed' }).waitFor()
      expect(await accessibilityViolations(page)).toEqual([])
      provider.refuses = false
      await page.getByRole('link', { name: 'Back to the sign-in' }).click()
      await page.getByLabel('Password', { exact: true }).waitFor()
      await goTo(page, '/sign-in?back=//evil.example')
      await withProvider.click()
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
      expect(page.url()).toBe(`${baseUrl}/console/`)

      await goTo(page, '/account')
      await page.getByRole('button', { name: 'Add passkey' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('My laptop')
      await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('row', { name: 'My laptop' }).waitFor()
      expect(await accessibilityViolations(page)).toEqual([])
      await look(page, 'phone', 'dark')
      expect(await accessibilityViolations(page)).toEqual([])
      await look(page, 'desk', 'light')

      await signOut(page)
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor()
      await page.getByRole('button', { name: `Signed in as ${name}, operator` }).waitFor()
      await page.getByRole('row', { name: 'My laptop' }).getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove My laptop' }).click()
      await page.getByRole('row', { name: 'My laptop' }).waitFor({ state: 'detached' })
      await signOut(page)
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await page.getByRole('alert').filter({ hasText: 'passkey_refused' }).waitFor()
    } finally {
      await service.close()
      await provider.close()
    }
  })
  passkeyAfterPassword(bed, OPERATORS)
}

/** Who signs in, where the passkey leads, and what is refused without it. */
interface People {
  readonly who: string
  readonly at: '/console' | '/portal'
  readonly newPerson: (service: TestService) => Promise<string>
  readonly inside: { readonly at: string; readonly heading: string }
}

const OPERATORS: People = {
  who: 'an operator',
  at: '/console',
  newPerson: async (service) => (await newOperator(service, 'admin')).name,
  inside: { at: '/merchants', heading: 'Merchants' },
}
const MEMBERS: People = {
  who: 'a member',
  at: '/portal',
  newPerson: async (service) =>
    (await memberBrowser(service, (await service.newMerchant()).merchantId)).memberName,
  inside: { at: '/members', heading: 'Members' },
}

export const passkeysOfMembers = (bed: Bed): void => passkeyAfterPassword(bed, MEMBERS)

function passkeyAfterPassword(bed: Bed, { at, inside, newPerson, who }: People): void {
  test(`after the password ${who} with a passkey is asked for the passkey, proceeds with it, and signs in with it alone`, async () => {
    const baseUrl = `http://localhost:${await freePort()}`
    const env = { PUBLIC_URL: baseUrl, PORT: new URL(baseUrl).port }
    const service = await openService({ db: bed.service.db, env })
    try {
      const name = await newPerson(service)
      const expected = [...NOT_SIGNED_IN, /40[13] .*\/portal\/api\/v0\//]
      const page = await bed.visit({ as: null, baseUrl, at: '/sign-in', expected })
      const open = (path: string) => page.goto(at + path, { waitUntil: 'domcontentloaded' })
      await plugIn(page)
      await open('/account')
      await signIn(page, name)
      await page.getByRole('button', { name: 'Add passkey' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('My laptop')
      await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('row', { name: 'My laptop' }).waitFor()
      await clean(page)

      await signOut(page)
      await signIn(page, name)
      const led = page.getByRole('button', { name: 'Use your passkey' })
      await led.waitFor()
      await clean(page)
      await led.click()
      await led.waitFor({ state: 'detached' })
      await open(inside.at)
      await page.getByRole('heading', { level: 1, name: inside.heading }).waitFor()

      await signOut(page)
      await clean(page)
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await page.getByRole('button', { name: `Signed in as ${name}, admin` }).waitFor()
      // Nothing is requested of a service that has closed.
      await page.goto('about:blank')
    } finally {
      await service.close()
    }
  })
}
