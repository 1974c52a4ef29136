import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ROOT } from '../harness/sources.ts'

const place = mkdtempSync(join(tmpdir(), 'svc-hook-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))

test.each([
  ['a'.repeat(72), 0],
  ['a'.repeat(73), 1],
])('the hook of the project accepts a subject of at most 72 characters: %s', (subject, status) => {
  const file = join(place, 'message')
  writeFileSync(file, `${subject}\n\n${'A body may have longer lines. '.repeat(9)}\n`)
  expect(spawnSync(join(ROOT, '.githooks/commit-msg'), [file]).status).toBe(status)
})
