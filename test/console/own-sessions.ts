import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { Browser, newOperator, PASSWORD } from '../harness/console.ts'
import { type Bed, goTo, look } from './bed.ts'

export function ownSessions(bed: Bed): void {
  test('the account page lists the user’s sessions, ends one, then all others, and stays signed in', async () => {
    const { name } = await newOperator(bed.service, 'viewer')
    const elsewhere = [new Browser(bed.service), new Browser(bed.service), new Browser(bed.service)]
    for (const browser of elsewhere) expect((await browser.signIn(name)).status).toBe(200)
    const page = await bed.visit({ as: { name, password: PASSWORD }, at: '/account' })
    const list = page.getByRole('table', { name: 'Your sessions' })
    await list.getByText('This one').waitFor()
    const signOut = list.getByRole('button', { name: 'Sign out' })
    expect(await signOut.count()).toBe(3)
    expect(await accessibilityViolations(page)).toEqual([])
    await look(page, 'phone', 'dark')
    expect(await accessibilityViolations(page)).toEqual([])
    await look(page, 'desk', 'light')

    const dialog = page.getByRole('dialog')
    await signOut.first().click()
    await dialog.getByRole('button', { name: 'End this session' }).click()
    await expect.poll(() => signOut.count(), { timeout: 20_000 }).toBe(2)
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await dialog.getByRole('button', { name: 'End all other sessions' }).click()
    await expect.poll(() => signOut.count(), { timeout: 20_000 }).toBe(0)
    for (const browser of elsewhere) expect((await browser.get('/session')).error).toBe('not_signed_in')
    await goTo(page, '/account')
    await list.getByText('This one').waitFor()
  })
}
