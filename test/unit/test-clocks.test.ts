import { TestClocks } from '@svc/core/tenants/test-clocks'
import { systemClock } from '@svc/kernel/time'
import { expect, test } from 'vitest'

test('a clock that was advanced is not set back by a read that began before', async () => {
  const reads: ((aheadMs: number) => void)[] = []
  const directory = () =>
    new Promise((resolve) => {
      reads.push((aheadMs) => resolve([{ tenant_id: 'mer_x', ahead_ms: String(aheadMs) }]))
    })
  const clocks = new TestClocks(systemClock)
  const database = { directory } as never
  const [early, late] = [clocks.load(database), clocks.load(database)]
  reads[1]!(86_400_000)
  await late
  reads[0]!(0)
  await early
  expect(clocks.of('mer_x').offsetMs() - clocks.offsetMs()).toBe(86_400_000)
})
