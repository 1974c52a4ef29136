import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityViolations, cutOff, overflowPx } from '../harness/browser.ts'
import { asSuperuser } from '../harness/service.ts'
import { type Bed, goTo, look, settled } from './bed.ts'

const selected = (page: Page) => page.getByRole('region', { name: 'Selected rows' })
const dialog = (page: Page) => page.getByRole('dialog')

/** What `each` says, for lists whose rows are two cards of the world. */
async function statusesOf(bed: Bed, ...ids: readonly string[]): Promise<string[]> {
  const { rows } = await asSuperuser(bed.service.db.database, (db) =>
    db.query('select status from cards where svc_card_id = any ($1) order by svc_card_id', [ids]),
  )
  return rows.map(({ status }) => status)
}

/** On the screens and in the colours of the project, and as wide as a large desk. */
async function looksWell(page: Page, what: string): Promise<void> {
  for (const [size, colours] of [
    ['desk', 'light'],
    ['desk', 'dark'],
    ['phone', 'light'],
    ['phone', 'dark'],
  ] as const) {
    await look(page, size, colours)
    if (size === 'desk') await page.setViewportSize({ width: 1440, height: 900 })
    expect.soft(await accessibilityViolations(page), `${what}, ${size}, ${colours}`).toEqual([])
    expect
      .soft([await overflowPx(page), ...(await cutOff(page))], `${what}, ${size}, ${colours}`)
      .toEqual([0])
    if (process.env['SHOTS'])
      await page.screenshot({ path: `${process.env['SHOTS']}/${what}-${size}-${colours}.png` })
  }
  await look(page, 'desk', 'light')
}

/** Actions on rows that are selected. */
export function rowActions(bed: Bed): void {
  test('cards are selected, locked with one reason and unlocked with Undo, with the keyboard alone', async () => {
    const ids = [bed.world.svcCardId, bed.world.otherCardId]
    const page = await bed.visit({ at: '/cards' })
    for (const key of ['j', 'x', 'j', 'Shift+X']) await page.keyboard.press(key)
    await selected(page).getByText('2 selected').waitFor()
    await looksWell(page, 'selected')
    await selected(page).getByRole('button', { name: 'Lock', exact: true }).press('Enter')
    await dialog(page).getByLabel('Reason').pressSequentially('reported stolen')
    await page.keyboard.press('Enter')
    await page.getByText('Lock: 2 done.').waitFor()
    expect(await statusesOf(bed, ...ids)).toEqual(['L', 'L'])
    expect(await selected(page).count()).toBe(0)
    await page.getByRole('button', { name: 'Undo' }).press('Enter')
    await page.getByText('Undone: 2.').waitFor()
    expect(await statusesOf(bed, ...ids)).toEqual(['UL', 'UL'])
    // The page of the card masks reasons.
    const { rows } = await asSuperuser(bed.service.db.database, (db) =>
      db.query(`select svc_card_id from card_changes where reason = 'reported stolen'`),
    )
    expect(rows.map(({ svc_card_id: id }) => id).sort()).toEqual(ids.toSorted())
  })

  test('each row of a bulk action has its own result: failed rows show the reason and are retried, completed rows are not', async () => {
    const { otherCardId } = bed.world
    const page = await bed.visit({ at: '/cards', expected: [/409/] })
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
    await selected(page).getByRole('button', { name: 'Lock', exact: true }).click()
    const setOther = (change: string) =>
      asSuperuser(bed.service.db.database, (db) =>
        db.query(`update cards set ${change} where svc_card_id = $1`, [otherCardId]),
      )
    // Somebody blocks the card before the action gets to it.
    await setOther(`status = 'BL', ended_at = now(), unclaimed_at = now() + interval '1 year'`)
    try {
      await dialog(page).getByLabel('Reason').fill('audit')
      await dialog(page).getByRole('button', { name: 'Lock cards' }).click()
      await dialog(page).getByText('1 done, 1 failed.').waitFor()
      expect(
        await dialog(page)
          .getByRole('row', { name: /Failed/ })
          .textContent(),
      ).toMatch(/Failed.*\w+/)
      await looksWell(page, 'results')
    } finally {
      await setOther(`status = 'UL', ended_at = null, unclaimed_at = null`)
    }
    await dialog(page).getByRole('button', { name: 'Try the failed ones again' }).click()
    await dialog(page).waitFor({ state: 'detached' })
    expect(await statusesOf(bed, bed.world.svcCardId, otherCardId)).toEqual(['L', 'L'])
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.getByText('Undone: 2.').waitFor()
  })
}

export function lists(bed: Bed): void {
  test('columns are chosen and ordered, rows are made compact, and the browser remembers both', async () => {
    const page = await bed.visit({ at: '/cards' })
    const titles = async () =>
      (await page.getByRole('columnheader').allTextContents()).filter((title) => title !== '')
    const first = await titles()
    await page.getByRole('button', { name: 'View' }).click()
    await page.getByRole('checkbox', { name: 'Company' }).uncheck()
    await page.getByRole('button', { name: 'Move Balance up' }).click()
    await page.getByText('Compact').click()
    await looksWell(page, 'view')
    await page.reload()
    await settled(page)
    const wanted = first.filter((title) => title !== 'Company' && title !== 'Balance')
    expect(await titles()).toEqual(wanted.toSpliced(wanted.indexOf('Kind'), 0, 'Balance'))
    await page.getByRole('button', { name: 'View' }).click()
    await page.getByRole('button', { name: 'Reset columns' }).click()
    expect(await titles()).toEqual(first)
  })

  test('an operator sees open alerts in the header and acknowledges them together; a viewer can only view them', async () => {
    const viewer = await bed.visit({ at: '/alerts', as: bed.world.viewer })
    await viewer.getByText('Notices in quarantine').waitFor()
    expect(await viewer.getByRole('checkbox').count()).toBe(0)
    const page = await bed.visit({ at: '/', as: bed.world.operator })
    await page.getByRole('link', { name: /open alert/ }).click()
    await page.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor()
    await page.getByText('Notices in quarantine').waitFor()
    await looksWell(page, 'alerts')
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
    await selected(page).getByRole('button', { name: 'Acknowledge', exact: true }).click()
    await dialog(page).getByLabel('Note').fill('the bank was asked')
    await page.keyboard.press('Enter')
    await page.getByText(/Acknowledge: \d+ done\./).waitFor()
    await page.getByRole('link', { name: /open alert/ }).waitFor({ state: 'detached' })
    await goTo(page, '/alerts?status=acknowledged')
    await page.getByText('the bank was asked').first().waitFor()
  })
}
