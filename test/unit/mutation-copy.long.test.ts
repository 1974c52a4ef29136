import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MUTATIONS } from '../../lab/mutation/mutants.ts'
import { copyEverything } from '../harness/checkout.ts'

test('a copy of the tree in which `npm run test:mutations` has broken something compiles, as its tests need', () => {
  const copy = mkdtempSync(join(tmpdir(), 'svc-mutation-copy-'))
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }))
  copyEverything(copy)
  appendFileSync(join(copy, MUTATIONS[0]!.file), '\n// changed\n')
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs'], {
    cwd: copy,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('Error')])
}, 600_000)
