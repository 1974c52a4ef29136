import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { copyCheckout } from '../harness/checkout.ts'
import { ROOT } from '../harness/sources.ts'

test('an import of a package outside the references does not compile, with everything built', () => {
  const upward = {
    'packages/kernel/src/a.ts': `export { FAILURES } from '@svc/contract/errors'\n`,
    'packages/jwe/src/a.ts': `export { FAILURES } from '@svc/contract/errors'\n`,
    'packages/conformance/src/a.ts': `export { OPERATIONS } from '@svc/server/operations'\n`,
    'packages/platform/src/a.ts': `export { cards } from '@svc/core/cards/card/card'\n`,
    'packages/core/src/cards/a.ts': `export { OPERATIONS } from '@svc/server/operations'\n`,
    'packages/server/src/a.ts': `export { mountConsole } from '@svc/console-api/mount-console'\n`,
  }
  const copy = mkdtempSync(join(tmpdir(), 'svc-references-'))
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }))
  copyCheckout(copy, ['packages', 'test/harness', 'package.json', 'tsconfig.json', 'tsconfig.base.json'])
  const build = () =>
    spawnSync(process.execPath, [join(ROOT, 'node_modules/typescript7/bin/tsc'), '-b', 'packages/cli'], {
      cwd: copy,
      encoding: 'utf8',
    }).stdout
  expect(build()).toBe('')
  for (const [file, text] of Object.entries(upward)) writeFileSync(join(copy, file), text)
  const refused = Object.keys(upward).filter((file) =>
    spawnSync(
      process.execPath,
      [join(ROOT, 'node_modules/typescript7/bin/tsc'), '-p', dirname(file).split('/').slice(0, 2).join('/')],
      { cwd: copy, encoding: 'utf8' },
    ).stdout.includes(`${file}(`),
  )
  expect(refused).toEqual(Object.keys(upward))
}, 600_000)
