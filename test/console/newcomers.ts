import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { type Bed, goTo, look } from './bed.ts'
import { NOT_SIGNED_IN } from './people.ts'

const dialog = (page: Page) => page.getByRole('dialog')
/** What an invited person sees before: no session, and afterwards a link that was used. */
const INVITED = [...NOT_SIGNED_IN, /409 \(Conflict\).*\/invitation/]

export function newcomers(bed: Bed): void {
  test('an operator is invited, signs in with the link, changes the password, and is disabled, which ends the session', async () => {
    const admin = await bed.visit({ at: '/operators' })
    const [first, second] = ['a first pass phrase', 'a second pass phrase']
    await admin.getByRole('button', { name: 'Invite operator' }).click()
    await dialog(admin).getByLabel('Name').fill('ravi.k')
    await dialog(admin).getByRole('button', { name: 'Invite' }).click()
    const link = String(await admin.getByTestId('secret').textContent())
    expect(await accessibilityViolations(admin)).toEqual([])
    await admin.getByRole('button', { name: 'I have kept it' }).click()
    await admin.getByRole('row', { name: 'ravi.k' }).getByText('Open').waitFor()

    const ravi = await bed.visit({ as: null, at: link.slice(link.indexOf('/invitation')), expected: INVITED })
    await ravi.getByText('operator sandbox').waitFor()
    expect(await accessibilityViolations(ravi)).toEqual([])
    await look(ravi, 'phone', 'dark')
    expect(await accessibilityViolations(ravi)).toEqual([])
    await ravi.getByLabel('Choose a password').fill('short')
    await ravi.getByRole('button', { name: 'Accept and sign in' }).click()
    await ravi.getByText('At least 12 characters', { exact: true }).waitFor()
    await ravi.getByLabel('Choose a password').fill(first!)
    await ravi.getByLabel('Repeat the password').fill(first!)
    await ravi.getByRole('button', { name: 'Accept and sign in' }).click()
    await ravi.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    expect(ravi.url()).not.toContain('#')
    await goTo(ravi, link.slice(link.indexOf('/invitation')))
    await ravi.getByRole('alert').filter({ hasText: 'The invitation was used before' }).waitFor()
    await look(ravi, 'desk', 'light')
    await goTo(ravi, '/account')
    await goTo(admin, '/operators')
    await admin.getByRole('row', { name: 'ravi.k' }).waitFor()
    expect(await admin.getByRole('heading', { name: 'Invitations' }).count()).toBe(0)

    await ravi.getByLabel('Current password').fill(first!)
    await ravi.getByLabel('New password', { exact: true }).fill(second!)
    await ravi.getByLabel('Repeat the new password').fill(second!)
    await ravi.getByRole('button', { name: 'Change password' }).click()
    await ravi.getByText('Changed. Your other sessions have ended.').waitFor()

    await admin.getByRole('row', { name: 'ravi.k' }).getByRole('button', { name: 'Disable' }).click()
    await dialog(admin).getByRole('button', { name: 'Disable ravi.k' }).click()
    await admin.getByRole('row', { name: 'ravi.k' }).getByText('Disabled').waitFor()
    await ravi.getByRole('link', { name: 'Cards' }).click()
    await ravi.getByRole('heading', { level: 1, name: 'svc console' }).waitFor()
  })
}
