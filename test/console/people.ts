import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { Browser } from '../harness/console.ts'
import { type Bed, goTo, look, settled } from './bed.ts'
import { placesOf } from './places.ts'

const dialog = (page: Page) => page.getByRole('dialog')
/** The browser tells of every 401, also of those that lead to the sign-in. */
export const NOT_SIGNED_IN = [/401 \(Unauthorized\).*\/console\/api\/v0\//]

/** Presses Tab until this has the focus. */
async function tabTo(page: Page, name: string, role: 'button' | 'link' | 'textbox' = 'button') {
  const wanted = page.getByRole(role, { name, exact: true })
  for (let presses = 0; presses < 60; presses++) {
    if ((await wanted.and(page.locator(':focus')).count()) > 0) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the keyboard does not reach ${name}`)
}

/** Pages on which an administrator has something to press. */
const ACTED_ON =
  /^\/(webhooks|merchants|qr-codes|partners|companies|card-accounts|payouts|suspense|users$|cards\/|ledger\/reconciliation|audit)/

export function people(bed: Bed): void {
  test('an operator signs in with a password, returns to the requested page, and signs out', async () => {
    const { operator, merchantId, merchantName } = bed.world
    const page = await bed.visit({ as: null, at: `/merchants/${merchantId}`, expected: NOT_SIGNED_IN })
    await page.getByRole('heading', { level: 1, name: 'svc console' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await look(page, 'phone', 'dark')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByLabel('Name').fill(operator.name)
    await page.getByLabel('Password', { exact: true }).fill('not this one, surely')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').filter({ hasText: 'wrong_password' }).waitFor()
    await page.getByLabel('Password', { exact: true }).fill(operator.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: merchantName }).waitFor()
    await page.getByRole('button', { name: /^Signed in as/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { level: 1, name: 'svc console' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'svc console' }).waitFor()
    expect(await page.getByText(merchantName).count()).toBe(0)
  })

  test('signing in, opening a page, finding a card and locking it work with the keyboard alone', async () => {
    const { operator, svcCardId } = bed.world
    const page = await bed.visit({ as: null, expected: NOT_SIGNED_IN })
    await tabTo(page, 'Name', 'textbox')
    await page.keyboard.type(operator.name)
    await page.keyboard.press('Tab')
    await page.keyboard.type(operator.password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    await settled(page)
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    await page.getByRole('heading', { level: 1, name: 'Cards' }).waitFor()
    await page.keyboard.press('/')
    await page.getByRole('searchbox', { name: /\bid, UTR\b/ }).waitFor()
    await page.keyboard.type(svcCardId)
    await page.getByRole('region', { name: 'Results' }).getByRole('link').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: '999912XXXXXX' }).waitFor()
    await tabTo(page, 'Lock')
    await page.keyboard.press('Enter')
    await dialog(page).locator('input:focus, textarea:focus').waitFor()
    await page.keyboard.type('lost at the station')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Unlock', exact: true }).waitFor()
    await tabTo(page, 'Unlock')
  })

  test('a viewer sees the pages of editable records but no action, and no operators', async () => {
    const page = await bed.visit({ as: bed.world.viewer })
    const acts =
      /^(Create |Invite|Issue|Fund|Disable|Enable|Revoke|Retire|Change$|Change (?!it)|Rotate|Replay|Delete|Send |Lock|Unlock|Block|Spend|Refund|Pay|Cancel|Reconcile|Verify|Prepare |Approve|Mark|Assign|Return)/
    for (const [path, heading] of placesOf(bed.world).filter(([path]) => ACTED_ON.test(path))) {
      await goTo(page, path)
      expect.soft(await page.getByRole('heading', { level: 1 }).textContent(), path).toContain(heading)
      expect.soft(await page.getByRole('button', { name: acts }).allTextContents(), path).toEqual([])
    }
    expect(await page.getByRole('link', { name: 'Admin' }).count()).toBe(0)
  })

  test('the audit shows who did what, and one click verifies its chains', async () => {
    const page = await bed.visit({ at: `/audit?target=${bed.world.svcCardId}` })
    await page.getByRole('row', { name: 'card.status_changed' }).first().getByText('operator').waitFor()
    await page.getByRole('button', { name: 'Verify the chain now' }).click()
    await page.getByText(/^The chains are intact: \d+ entries/).waitFor()
  })

  test('the audit shows a failed sign-in with its address and the operator’s name', async () => {
    const { operator } = bed.world
    expect((await new Browser(bed.service).signIn(operator.name, 'not this one')).status).toBe(401)
    const page = await bed.visit({ as: bed.world.viewer, at: '/audit?action=operator.sign_in_failed' })
    const failed = page.getByRole('row', { name: 'operator.sign_in_failed' }).first()
    await failed.getByText('address: 127.0.0.1').waitFor()
    await failed.getByText('reason: wrong_password').waitFor()
    await page.getByText(`name: ${operator.name}`).first().waitFor()
  })
}
