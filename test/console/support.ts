import { expect, test } from 'vitest'
import { accessibilityViolations } from '../harness/browser.ts'
import { newOperator, PASSWORD } from '../harness/console.ts'
import { asSuperuser } from '../harness/service.ts'
import type { Bed } from './bed.ts'
import { hostile } from './places.ts'

export function support(bed: Bed): void {
  test('“request id X failed, why, and what happened to the card?” is resolved with clicks alone', async () => {
    const { refusedSpendId, svcCardId } = bed.world
    const page = await bed.visit({ as: bed.world.viewer })
    await page.getByRole('button', { name: /^Find/ }).click()
    // From the customer's e-mail.
    await page.getByRole('searchbox').fill(refusedSpendId)
    await page.getByRole('region', { name: 'Results' }).getByRole('link').click()

    const why = page.getByRole('alert').filter({ hasText: 'Why did this fail?' })
    await why.getByText('card_balance_too_low', { exact: true }).waitFor()
    expect(await why.textContent()).toMatch(/What helps: /)
    expect(await why.getByRole('link', { name: 'About this error' }).getAttribute('href')).toBe(
      '/docs/errors#card_balance_too_low',
    )
    await page.getByRole('link', { name: svcCardId }).click()
    await page.getByRole('heading', { level: 1, name: '999912XXXXXX' }).waitFor()
    await page.getByText('Ledger entries').waitFor()
    const spent = page.getByRole('row', { name: 'Card spend' })
    await expect.poll(() => spent.count()).toBe(1)
    await spent.getByText('−₹149.50').waitFor()
    await page.getByRole('link', { name: 'Requests about it' }).click()
    await page
      .getByRole('row', { name: refusedSpendId.slice(-6) })
      .getByText('422')
      .waitFor()
  })

  test('personal data is masked until support enters a reason, which the auditor finds', async () => {
    const { userId } = bed.world
    const [{ name: support }, { name: auditor }] = [
      await newOperator(bed.service, 'support'),
      await newOperator(bed.service, 'auditor'),
    ]
    const page = await bed.visit({ as: { name: support, password: PASSWORD }, at: `/users/${userId}` })
    const heading = page.getByRole('heading', { level: 1 })
    await page.getByText('••••••3210').waitFor()
    expect(await heading.textContent()).not.toContain('first')
    await page.getByRole('button', { name: 'Reveal personal data' }).click()
    await page.getByLabel('Reason').fill('the holder asked for a copy')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Reveal for 15 minutes' }).click()
    await page.getByText('9876543210').waitFor()
    expect(await heading.textContent()).toBe(`${hostile('first')} ${hostile('last')}`)
    expect(await page.getByRole('button', { name: 'Reveal personal data' }).count()).toBe(0)

    const other = await bed.visit({ as: { name: auditor, password: PASSWORD }, at: `/users/${userId}` })
    await other.getByText('Personal data is masked').waitFor()
    await other.goto('/console/audit?action=personal_data.revealed')
    const entry = other.getByRole('row', { name: `operator ${support}` })
    await entry.getByText('reason: the holder asked for a copy').waitFor()
  })

  test('an encrypted body that could not be decrypted shows its key, its algorithms and the check that failed', async () => {
    const page = await bed.visit({ at: `/requests/${bed.world.badJweRequestId}` })
    const facts = await page.getByRole('main').textContent()
    expect(facts).toMatch(/Key \(kid\)sk_\w+Algorithm \(alg\)A256KWContent \(enc\)A256GCM/)
    expect(facts).toMatch(/Check that failedtagWhich meansThe JWE cannot be decrypted/)
    const help = await page.getByRole('link', { name: 'About this error' }).getAttribute('href')
    await page.goto(help!)
    await page.getByRole('row', { name: 'decryption_failed' }).first().waitFor()
  })

  test('requests are found by outcome, error, operation and affected records', async () => {
    const page = await bed.visit({ at: '/requests' })
    await page.getByRole('row', { name: 'sandboxSpend' }).first().waitFor()
    await page.getByRole('combobox', { name: 'Outcome' }).click()
    await page.getByRole('option', { name: 'Failed' }).click()
    await expect.poll(() => page.getByText(/^200$/).count()).toBe(0)
    await page.getByRole('combobox', { name: 'Error' }).fill('decryption_f')
    await page.getByRole('option', { name: 'decryption_failed' }).click()
    await page.getByText('1 in all', { exact: true }).waitFor()
    await page.getByRole('row', { name: 'createGiftCard' }).waitFor()
    await page.goto(`/console/requests?objectId=${bed.world.svcCardId}`)
    await page.getByRole('row', { name: 'sandboxSpend' }).first().waitFor()
    expect(await page.getByRole('row', { name: 'createCoinConfig' }).count()).toBe(0)
  })

  test('the list of requests shows since when it is complete where the row limit deleted earlier ones', async () => {
    const page = await bed.visit({ at: '/requests', as: bed.world.viewer })
    await page.getByText('of the last 7 days').waitFor()
    expect(await page.getByText(/is complete since/).count()).toBe(0)
    await asSuperuser(bed.service.db.database, (db) =>
      db.query(`insert into request_log_cut (at) values ('2026-01-01T00:00:00Z'::timestamptz)`),
    )
    await page.reload()
    await page.getByText('of the last 7 days').waitFor()
    expect(await page.getByText(/is complete since/).count()).toBe(0)
    await asSuperuser(bed.service.db.database, (db) =>
      db.query(`update request_log_cut set at = clock_timestamp() - interval '1 hour'`),
    )
    await page.reload()
    const notice = page.getByRole('status').filter({ hasText: 'The list is complete since' })
    await notice.waitFor()
    expect(await notice.textContent()).toMatch(/reached [\d,]+ entries \(REQUEST_LOG_ROWS_MAX\)/)
    expect(await accessibilityViolations(page)).toEqual([])
  })
}
