import { expect, test } from 'vitest'
import type { Bed } from './bed.ts'

export function status(bed: Bed): void {
  test('the status compares today with other days, says what is not stored, and leads to what waits', async () => {
    const page = await bed.visit({ as: bed.world.viewer, at: '/status' })
    const compared = page.getByRole('table', { name: 'Compared' })
    // The service of the test has run since today.
    await compared.getByRole('row', { name: 'Payments accepted' }).getByText('not stored').nth(1).waitFor()
    await page.getByText('Not stored by the service').waitFor()
    await page.getByRole('table', { name: 'Latency' }).getByRole('row', { name: 'Commands' }).waitFor()
    const errors = page.getByRole('table', { name: 'Failures by error code' })
    await errors.getByRole('row', { name: 'decryption_failed' }).getByText('new today').waitFor()
    const queues = page.getByRole('table', { name: 'Queues' })
    await queues.getByRole('link', { name: 'Payouts to be approved' }).click()
    await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor()
    await expect.poll(() => page.url()).toContain('status=PREPARED')
  })
}
