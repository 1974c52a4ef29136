import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { newOperator, PASSWORD } from '../harness/console.ts'
import { asSuperuser } from '../harness/service.ts'
import { type Bed, goTo, settled } from './bed.ts'
import { NOT_SIGNED_IN } from './people.ts'
import { goTo as goToPortal, memberOf } from './portal.ts'
import { signIn } from './second-factor.ts'

/** An operator who has signed in, at a path of the console. */
async function entered(bed: Bed, role: 'support' | 'viewer', at: string) {
  const { name, operatorId } = await newOperator(bed.service, role)
  const page = await bed.visit({ as: null, at, expected: NOT_SIGNED_IN })
  await signIn(page, name)
  await page.getByRole('button', { name: `Signed in as ${name}` }).waitFor()
  return { page, operatorId }
}

async function reveal(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Reveal personal data' }).click()
  await page.getByLabel('Reason').fill('the holder called')
  await page.getByRole('button', { name: 'Reveal for 15 minutes' }).click()
  await page.getByText('9876543210').waitFor()
}

const change = (bed: Bed, statement: string, id: string) =>
  asSuperuser(bed.service.db.database, (db) => db.query<{ minutes: number; name?: string }>(statement, [id]))

/** Minutes from the sign-in back to the last use. */
const LAST_USE = `select (extract(epoch from authenticated_at - seen_at) / 60)::int as minutes from operator_sessions
  where operator_id = $1`
const lastUsed = (minutes: number) =>
  `update operator_sessions set seen_at = authenticated_at - interval '${minutes} minutes' where operator_id = $1`

/** To the page the person has done nothing for 16 minutes, and it asks again for all that it shows. */
const LATER = `{ const now = Date.now; Date.now = () => now() + 16 * 60_000 }`
const ASK_AGAIN = `void window.dispatchEvent(new Event('visibilitychange'))`
/** Timers of more than ten minutes wait until the test runs them. */
const HOLD_LONG_TIMERS = `{
  const set = window.setTimeout
  window.held = []
  window.setTimeout = (run, ms, ...all) =>
    ms > 600_000 ? window.held.push({ ms, run: () => run(...all) }) : set(run, ms, ...all)
}`
/** The same of intervals of a minute. */
const HOLD_MINUTES = `{
  const set = window.setInterval
  window.held = []
  window.setInterval = (run, ms, ...all) => (ms === 60_000 ? window.held.push({ ms, run }) : set(run, ms, ...all))
}`
const RUN_HELD = `window.held.forEach(({ run }) => run())`

/** Pages that stay open while the person is away. */
export function leftAlone(bed: Bed): void {
  test('revealed data is masked again after its time on a page that stays open or is reloaded', async () => {
    const { userId } = bed.world
    const { page } = await entered(bed, 'support', `/users/${userId}`)
    await page.evaluate(HOLD_LONG_TIMERS)
    await reveal(page)
    expect(await page.evaluate('window.held.map(({ ms }) => Math.round(ms / 1_000))')).toEqual([900])
    await page.addInitScript(HOLD_LONG_TIMERS)
    await page.reload()
    await settled(page)
    await page.getByText('9876543210').waitFor()
    const older = `update personal_data_reveals set revealed_at = revealed_at - interval '1 hour' where object_id = $1`
    await change(bed, older, userId)
    await page.evaluate(RUN_HELD)
    await page.getByText('••••••3210').waitFor()
    expect(await page.getByText('9876543210').count()).toBe(0)
  })

  test('an idle page ends its session by itself, and shows the next person nothing of it', async () => {
    const { userId } = bed.world
    const { page, operatorId } = await entered(bed, 'support', `/users/${userId}`)
    await reveal(page)
    await page.evaluate(`sessionStorage.setItem('svc.recent /console/', '[]')`)
    await change(bed, lastUsed(20), operatorId)
    await page.evaluate(LATER)
    await Promise.all([page.waitForResponse(/\/alerts\?/), page.evaluate(ASK_AGAIN)])
    // Between the last thing that the person did and now.
    expect((await change(bed, LAST_USE, operatorId)).rows[0]!.minutes).toBeGreaterThan(10)
    const signInPage = page.getByRole('heading', { level: 1, name: 'svc console' })
    // Again, since calls that were under way may have noted their time after the change.
    const requestLater = async () => {
      await change(bed, lastUsed(31), operatorId)
      await page.evaluate(LATER)
      await page.evaluate(ASK_AGAIN)
      return signInPage.count()
    }
    await expect.poll(requestLater, { interval: 1_000 }).toBe(1)

    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(`**/api/v0/users/${userId}`, async (route) => {
      await held
      await route.continue()
    })
    const next = await newOperator(bed.service, 'viewer')
    await signIn(page, next.name)
    await page.getByRole('button', { name: `Signed in as ${next.name}` }).waitFor()
    await page.waitForURL(`**/users/${userId}`)
    expect(await page.getByText('9876543210').count()).toBe(0)
    expect(await page.evaluate(`sessionStorage.getItem('svc.recent /console/')`)).toBeNull()
    release()
    await page.getByText('••••••3210').waitFor()
  })
}

const ENDED = { name: 'Your session has ended' }
/** A form with something in it, whose session ends before it is sent. */
async function endedOverForm(bed: Bed) {
  const { userId } = bed.world
  const { page, operatorId } = await entered(bed, 'support', `/users/${userId}`)
  await page.getByRole('button', { name: 'Reveal personal data' }).click()
  await page.getByLabel('Reason').fill('the holder called')
  await change(bed, lastUsed(31), operatorId)
  await page.getByRole('button', { name: 'Reveal for 15 minutes' }).click()
  await page.getByRole('dialog', ENDED).waitFor()
  const { name } = (await change(bed, 'select name from operators where operator_id = $1', operatorId))
    .rows[0]!
  return { page, name: name! }
}
const signInOver = async (page: Page, name: string) => {
  const over = page.getByRole('dialog', ENDED)
  await over.getByLabel('Name').fill(name)
  await over.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await over.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Sessions that end over an open form, or are about to. */
export function overForms(bed: Bed): void {
  test('a session that ends under a form leaves it as it was: after the sign-in over the page it is carried out', async () => {
    const { page, name } = await endedOverForm(bed)
    expect(await accessibilityViolations(page)).toEqual([])
    await signInOver(page, name)
    await page.getByText('9876543210').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('a sign-in over a form that is refused says so, and the next one goes on', async () => {
    const { page, name } = await endedOverForm(bed)
    const refused = { error: 'not_signed_in', title: 'x', status: 401, detail: 'The operator is disabled' }
    await page.route('**/console/api/v0/session', (route) =>
      route.fulfill({ status: 401, contentType: 'application/problem+json', body: JSON.stringify(refused) }),
    )
    await signInOver(page, name)
    await page.getByRole('alert').filter({ hasText: 'Not done: Sign in' }).waitFor()
    await page.unroute('**/console/api/v0/session')
    await signInOver(page, name)
    await page.getByText('9876543210').waitFor()
  })

  test('another person who signs in over a form gets nothing of it, and who leaves it comes to the sign-in', async () => {
    const { page } = await endedOverForm(bed)
    const next = await newOperator(bed.service, 'viewer')
    await signInOver(page, next.name)
    await page.getByRole('button', { name: `Signed in as ${next.name}` }).waitFor()
    expect(new URL(page.url()).pathname).not.toContain('/users/')
    const left = await endedOverForm(bed)
    await left.page.getByRole('button', { name: 'Leave without the form' }).click()
    await left.page.getByRole('heading', { level: 1, name: 'svc console' }).waitFor()
  })

  test('two minutes before a session ends the page says so, and one press keeps it', async () => {
    const { page, operatorId } = await entered(bed, 'support', '/webhooks')
    await page.evaluate(`{ const now = Date.now; Date.now = () => now() + 28.5 * 60_000 }`)
    const warning = page.getByRole('alert').filter({ hasText: 'Your session is about to end' })
    await warning.waitFor()
    await change(bed, lastUsed(20), operatorId)
    await warning.getByRole('button', { name: 'Stay signed in' }).click()
    await warning.waitFor({ state: 'detached' })
    expect((await change(bed, LAST_USE, operatorId)).rows[0]!.minutes).toBe(0)
  })
}

export function twoWindows(bed: Bed): void {
  test('an idle window does not warn of the end of a session that another window keeps alive', async () => {
    const { page: idle } = await entered(bed, 'support', '/webhooks')
    const used = await idle.context().newPage()
    await goTo(used, '/refunds')
    const LATER = `{ const now = Date.now; Date.now = () => now() + 28.5 * 60_000 }`
    for (const page of [idle, used]) await page.evaluate(LATER)
    const warning = idle.getByRole('alert').filter({ hasText: 'Your session is about to end' })
    await warning.waitFor()
    await used.getByRole('link', { name: 'Disputes' }).first().click()
    await used.getByRole('heading', { level: 1, name: 'Disputes' }).waitFor()
    await warning.waitFor({ state: 'detached' })
    await used.close()
  })
}

export function portalLeftAlone(bed: Bed): void {
  test('a page of the portal that sends no requests by itself redirects to the sign-in once its session has ended', async () => {
    const { merchantId } = await bed.service.newMerchant()
    const page = await memberOf(bed, merchantId)
    await page.addInitScript(HOLD_MINUTES)
    await goToPortal(page, '/account')
    await change(
      bed,
      `update member_sessions set seen_at = seen_at - interval '31 minutes' where tenant_id = $1`,
      merchantId,
    )
    await page.evaluate(RUN_HELD)
    await page.getByRole('heading', { level: 1, name: 'svc portal' }).waitFor()
  })
}
