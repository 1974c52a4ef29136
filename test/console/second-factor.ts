import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { newOperator, PASSWORD } from '../harness/console.ts'
import { codeOf, forgetUsedCodes } from '../harness/one-time-codes.ts'
import { asSuperuser } from '../harness/service.ts'
import { type Bed, goTo, look } from './bed.ts'
import { NOT_SIGNED_IN } from './people.ts'

export async function signIn(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** The page has no serious violation, on a desk in light and on a phone in dark colours. */
export const clean = async (page: Page) => {
  expect(await accessibilityViolations(page)).toEqual([])
  await look(page, 'phone', 'dark')
  expect(await accessibilityViolations(page)).toEqual([])
  await look(page, 'desk', 'light')
}

export function secondFactors(bed: Bed): void {
  test('an authenticator app is set up, asked for at sign-in, and again before money is moved, which then proceeds', async () => {
    const { name, operatorId } = await newOperator(bed.service, 'admin')
    const page = await bed.visit({
      as: null,
      at: '/account',
      expected: [...NOT_SIGNED_IN, /403 \(Forbidden\).*\/console\/api\/v0\/operators\/invitations/],
    })
    await signIn(page, name)
    await page.getByRole('button', { name: 'Set up an app' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
    await clean(page)
    const secret = (await dialog.getByTestId('secret').innerText()).trim()
    await dialog.getByLabel('Code').fill(codeOf(secret))
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    const codes = page.getByRole('dialog', { name: 'New recovery codes' })
    expect((await codes.getByTestId('secret').innerText()).trim().split(/\s+/)).toHaveLength(10)
    await clean(page)
    await codes.getByRole('button', { name: 'I have kept it' }).click()
    await page.getByText('Recovery codes left: 10').waitFor()

    await page.getByRole('button', { name: /^Signed in as/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { level: 1, name: 'svc console' }).waitFor()
    await signIn(page, name)
    await page.getByLabel('Code').waitFor()
    await clean(page)
    await page.getByLabel('Code').fill(codeOf(secret, 1))
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: `Signed in as ${name}, admin` }).waitFor()

    await asSuperuser(bed.service.db.database, (admin) =>
      admin.query(
        `update operator_sessions set authenticated_at = authenticated_at - interval '1 hour' where operator_id = $1`,
        [operatorId],
      ),
    )
    await goTo(page, '/operators')
    await page.getByRole('button', { name: 'Invite operator' }).click()
    const form = page.getByRole('dialog', { name: 'Invite operator' })
    await form.getByLabel('Name').fill('invited.later')
    await form.getByRole('button', { name: /^(Invite|Create)/ }).click()
    const proof = page.getByRole('dialog', { name: 'Confirm that it is you' })
    await proof.getByLabel('Your password').fill(PASSWORD)
    await clean(page)
    await proof.getByRole('button', { name: 'Confirm' }).click()
    await forgetUsedCodes(bed.service.db.database)
    await proof.getByLabel('Code').fill(codeOf(secret))
    await proof.getByRole('button', { name: 'Confirm' }).click()
    await proof.waitFor({ state: 'hidden' })
    await page.getByTestId('secret').waitFor()
  })
}
