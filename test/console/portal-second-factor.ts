import { expect, test } from 'vitest'
import { PASSWORD } from '../harness/console.ts'
import { codeOf } from '../harness/one-time-codes.ts'
import { ageMember } from '../harness/portal.ts'
import type { Bed } from './bed.ts'
import { dialog, goTo, memberOf } from './portal.ts'
import { clean } from './second-factor.ts'

export function secondFactorsOfMembers(bed: Bed): void {
  test('a member sets up an authenticator app, is asked for a code at sign-in, and again before a new key, which is then issued', async () => {
    const merchant = await bed.service.newMerchant()
    const page = await memberOf(bed, merchant.merchantId)
    const { member } = await page.evaluate(
      async () =>
        (await (await fetch('/portal/api/v0/session')).json()) as {
          member: { memberId: string; name: string }
        },
    )
    await goTo(page, '/account')
    await page.getByRole('button', { name: 'Set up an app' }).click()
    await dialog(page).getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
    await clean(page)
    const secret = (await dialog(page).getByTestId('secret').innerText()).trim()
    await dialog(page).getByLabel('Code').fill(codeOf(secret, -1))
    await dialog(page).getByRole('button', { name: 'Confirm' }).click()
    const codes = page.getByRole('dialog', { name: 'New recovery codes' })
    const [recovery = ''] = (await codes.getByTestId('secret').innerText()).trim().split(/\s+/)
    await codes.getByRole('button', { name: 'I have kept it' }).click()
    await page.getByText('Recovery codes left: 10').waitFor()
    await clean(page)

    await page.getByRole('button', { name: /^Signed in as/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('Name').fill(member.name)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByLabel('Code').waitFor()
    await clean(page)
    await page.getByLabel('Code').fill(codeOf(secret))
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'For your programs' }).waitFor()

    await ageMember(bed.service, member.memberId, 60)
    await goTo(page, '/credentials')
    await page.getByRole('button', { name: 'Issue API key' }).click()
    await dialog(page).getByLabel('Name').fill('till 3')
    await dialog(page).getByRole('button', { name: 'Issue', exact: true }).click()
    const proof = page.getByRole('dialog', { name: 'Confirm that it is you' })
    await proof.getByLabel('Your password').fill(PASSWORD)
    await clean(page)
    await proof.getByRole('button', { name: 'Confirm' }).click()
    await proof.getByLabel('Code').fill(recovery)
    await proof.getByRole('button', { name: 'Confirm' }).click()
    await proof.waitFor({ state: 'hidden' })
    expect(await page.getByTestId('secret').textContent()).toMatch(/^svc_test_/)
  })
}
