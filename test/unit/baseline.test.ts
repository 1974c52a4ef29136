import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BASELINE, commitOf, NoHistory } from '../../lab/chaos/baseline.ts'

test('the upgrade run says what to do where there is no git history', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-no-history-'))
  const failed = commitOf(folder, BASELINE)
  await expect(failed).rejects.toThrow(NoHistory)
  await expect(failed).rejects.toThrow('needs git and the commit')
  await rm(folder, { recursive: true, force: true })
})

test('the baseline of the upgrade run is a full commit hash', () => {
  expect(BASELINE).toMatch(/^[0-9a-f]{40}$/)
})
