import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newOperator, PASSWORD } from '../harness/console.ts'
import { newCodes } from '../harness/qr-codes.ts'
import { asSuperuser } from '../harness/service.ts'
import { type Bed, goTo } from './bed.ts'

const INVITATIONS = '**/console/api/v0/operators/invitations**'

/** Changes wait from here on, until what is returned is called. */
async function hold(page: Page, at: string): Promise<() => void> {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(at, async (route) => {
    if (route.request().method() !== 'GET') await held
    await route.continue()
  })
  return () => release()
}

/** What closes a dialog that does not wait: Escape, and a click beside it. */
async function tryToLeave(page: Page): Promise<void> {
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 400)
}

export function dialogs(bed: Bed): void {
  test('Escape closes the topmost dialog, a dialog with a running request stays open, and no key dismisses a secret shown once', async () => {
    const { name, operatorId } = await newOperator(bed.service, 'admin')
    const page = await bed.visit({
      as: { name, password: PASSWORD },
      at: '/operators',
      expected: [/403 \(Forbidden\).*\/operators\/invitations/],
    })
    await asSuperuser(bed.service.db.database, (admin) =>
      admin.query(
        `update operator_sessions set authenticated_at = authenticated_at - interval '1 hour' where operator_id = $1`,
        [operatorId],
      ),
    )
    await page.getByRole('button', { name: 'Invite operator' }).click()
    const form = page.getByRole('dialog', { name: 'Invite operator' })
    const proof = page.getByRole('dialog', { name: 'Confirm that it is you' })
    const invite = form.getByRole('button', { name: 'Invite', exact: true })
    await form.getByLabel('Name').fill('dialog.guest')
    await invite.click()
    await proof.getByLabel('Your password').waitFor()
    await page.keyboard.press('Escape')
    await form.getByText('step_up_required').waitFor({ state: 'attached' })
    expect(await proof.count()).toBe(0)
    expect(await form.getByLabel('Name').inputValue()).toBe('dialog.guest')

    await invite.click()
    await proof.getByLabel('Your password').fill(PASSWORD)
    const release = await hold(page, INVITATIONS)
    await proof.getByRole('button', { name: 'Confirm' }).click()
    await proof.waitFor({ state: 'detached' })
    await tryToLeave(page)
    expect(await form.getByRole('button', { name: 'Close', exact: true }).isDisabled()).toBe(true)
    release()

    const secret = page.getByTestId('secret')
    await secret.waitFor()
    for (const key of ['Escape', 'g', 'p', '/', 'Control+k', '?']) await page.keyboard.press(key)
    await page.getByRole('button', { name: 'Copy invitation link', exact: true }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await secret.textContent()).toContain('/invitation#')
    expect(await page.getByRole('dialog').count()).toBe(1)
    await page.getByRole('button', { name: 'I have kept it' }).click()

    await page.getByRole('row', { name: 'dialog.guest' }).getByRole('button', { name: 'Revoke' }).click()
    const question = page.getByRole('dialog', { name: 'Revoke' })
    const revoked = await hold(page, INVITATIONS)
    await question.getByRole('button', { name: /^Revoke the invitation/ }).click()
    await tryToLeave(page)
    expect(await question.getByRole('button', { name: 'Keep as it is' }).isDisabled()).toBe(true)
    revoked()
    await question.waitFor({ state: 'detached' })
    expect(await page.getByRole('row', { name: 'dialog.guest' }).count()).toBe(0)
    // The keys work again.
    await page.keyboard.press('/')
    await page.getByRole('dialog', { name: 'Find' }).waitFor()
  })
}

/** Several requests that all need a recent sign-in. */
export function oneProof(bed: Bed): void {
  test('cancelling several codes long after the sign-in asks for one re-authentication, and Cancel ends it for all of them', async () => {
    const { name, operatorId } = await newOperator(bed.service, 'support')
    const merchant = await bed.service.newMerchant()
    await newCodes(bed.service, await bed.service.as(merchant), 9)
    const page = await bed.visit({
      as: { name, password: PASSWORD },
      at: `/qr-codes?merchantId=${merchant.merchantId}`,
      expected: [/403 \(Forbidden\).*\/cancel/],
    })
    await asSuperuser(bed.service.db.database, (admin) =>
      admin.query(
        `update operator_sessions set authenticated_at = authenticated_at - interval '1 hour' where operator_id = $1`,
        [operatorId],
      ),
    )
    let proofs = 0
    page.on('request', (request) => void (request.url().endsWith('/step-up') && proofs++))
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
    await page
      .getByRole('region', { name: 'Selected rows' })
      .getByRole('button', { name: 'Cancel', exact: true })
      .click()
    const dialog = page.getByRole('dialog', { name: 'Cancel: 9' })
    const proof = page.getByRole('dialog', { name: 'Confirm that it is you' })
    await dialog.getByRole('button', { name: 'Cancel codes' }).click()
    await proof.getByLabel('Your password').waitFor()
    await proof.getByRole('button', { name: 'Cancel' }).click()
    await dialog.getByText('0 done, 9 failed.').waitFor()
    expect(await proof.count()).toBe(0)

    await dialog.getByRole('button', { name: 'Try the failed ones again' }).click()
    await proof.getByLabel('Your password').fill(PASSWORD)
    await proof.getByRole('button', { name: 'Confirm' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(proofs).toBe(1)
    await page
      .getByRole('row', { name: /Cancelled/ })
      .nth(8)
      .waitFor()
  })
}

/** Filters while they are typed, and while something is asked about their rows. */
export function changingFilters(bed: Bed): void {
  test('a filter keeps typed text, and rows of an abandoned filter are not selected late', async () => {
    const page = await bed.visit({ at: '/cards' })
    const search = page.getByRole('searchbox', { name: 'Search' })
    const all = /\/cards\?.*limit=500/
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(all, async (route) => {
      await held
      await route.continue()
    })
    const selected = page.getByRole('region', { name: 'Selected rows' })
    await page.locator('input[data-select]').first().check()
    await selected.getByRole('button', { name: /^Select all \d+ of this filter/ }).click()
    await search.fill(bed.world.otherCardId)
    await page.getByText('1 in all', { exact: true }).waitFor()
    const late = page.waitForResponse(all)
    release()
    await (await late).finished()
    await page.evaluate('new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))')
    expect(await selected.count()).toBe(0)
    await page.locator('input[data-select]').first().check()
    await selected.getByText('1 selected').waitFor()

    await search.fill('')
    await search.pressSequentially('Acme ')
    await page.waitForURL('**/cards?q=Acme')
    await page.getByText('Nothing fits these filters.').waitFor()
    await search.pressSequentially('Tools')
    await page.waitForURL('**/cards?q=Acme+Tools')
    expect(await search.inputValue()).toBe('Acme Tools')
    await goTo(page, '/cards?q=Acme')
    await page.getByRole('button', { name: 'Clear them' }).click()
    await expect.poll(() => search.inputValue()).toBe('')
  })

  test('a link to the list without filters clears the fields, including a typed text and a typed instant', async () => {
    const page = await bed.visit({ at: '/payments' })
    const [search, from] = [page.getByRole('searchbox', { name: 'Search' }), page.getByLabel('From')]
    await search.fill(bed.world.utr)
    await page.waitForURL('**/payments?q=*')
    await from.fill('2026-01-02T03:04:05')
    await page.waitForURL('**/payments?*createdFrom=*')
    await page.getByText('1 in all', { exact: true }).waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Payments', exact: true }).click()
    await page.waitForURL('**/payments')
    expect([await search.inputValue(), await from.inputValue()]).toEqual(['', ''])
  })
}
