import { calendarDay, instantOfDay } from '@svc/kernel/time'
import { expect, test } from 'vitest'
import { asSuperuser } from '../harness/service.ts'
import type { Bed } from './bed.ts'

export function status(bed: Bed): void {
  test('the status compares today with other days, states what is not stored, and links to pending work', async () => {
    const day = calendarDay(new Date(), 'Asia/Kolkata')
    const midnight = new Date(instantOfDay(day, 0, 'Asia/Kolkata').getTime() - 86_400_000)
    await asSuperuser(bed.service.db.database, (db) =>
      db.query(
        `insert into minute_sums (minute, what, count) values ($1, 'request', 987), ($1, 'failure event_not_found', 3)`,
        [midnight],
      ),
    )
    const page = await bed.visit({ as: bed.world.viewer, at: '/status' })
    const requests = page.getByRole('table', { name: 'Compared' }).getByRole('row', { name: 'Requests' })
    await requests.getByRole('cell', { name: /^987/ }).waitFor()
    // The service of the test has kept figures since yesterday.
    await requests.getByRole('cell', { name: 'not stored' }).waitFor()
    await page.getByText('Not stored by the service').waitFor()
    await page.getByRole('table', { name: 'Latency' }).getByRole('row', { name: 'Commands' }).waitFor()
    const errors = page.getByRole('table', { name: 'Failures by error code' })
    await errors.getByRole('row', { name: 'event_not_found' }).getByText('none today').waitFor()
    const queues = page.getByRole('table', { name: 'Queues' })
    expect(await queues.getByRole('link', { name: 'Bank notices in quarantine' }).count()).toBe(0)
    await queues.getByRole('link', { name: 'Payouts to be approved' }).click()
    await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor()
    await expect.poll(() => page.url()).toContain('status=PREPARED')
  })
}
