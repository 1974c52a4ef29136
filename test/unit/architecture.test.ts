import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CRUISER = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
const copies: string[] = []
afterAll(() => copies.forEach((copy) => rmSync(copy, { recursive: true, force: true })))

interface Violation {
  rule: { name: string }
  from: string
}

/** What the rules say of the sources with these files put among them, as `rule: file`. */
function violations(offences: Record<string, string> = {}): string[] {
  const copy = mkdtempSync(join(tmpdir(), 'svc-arrows-'))
  copies.push(copy)
  for (const name of ['src', 'test/harness', 'package.json', 'tsconfig.json', '.dependency-cruiser.cjs'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  for (const [file, text] of Object.entries(offences)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    writeFileSync(join(copy, file), text)
  }
  const args = [CRUISER, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'src']
  const { stdout } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8', maxBuffer: 2 ** 27 })
  const { summary } = JSON.parse(stdout) as { summary: { violations: Violation[] } }
  return summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`).sort()
}

test('no file imports against the arrows of the design', () => {
  expect(violations()).toEqual([])
})

test('every arrow goes red when a file imports against it', () => {
  const offences = {
    'src/kernel/a.ts': `import '../errors.ts'`,
    'src/kernel/b.ts': `import 'node:fs'`,
    'src/platform/a.ts': `import '../ledger/accounts.ts'`,
    'src/platform/b.ts': `import type { Merchant } from '../access/merchant.ts'\nexport type A = Merchant`,
    'src/ledger/a.ts': `import '../qr-codes/qr-code.ts'`,
    'src/access/a.ts': `import '../qr-codes/qr-code.ts'`,
    'src/access/b.ts': `import '../sandbox/demo.ts'`,
    'src/access/c.ts': `import '../operations.ts'`,
    'src/a-new-slice/a.ts': `import '../access/merchant.ts'`,
    'src/sandbox/a.ts': `import '../app.ts'`,
    'src/sandbox/b.ts': `import '../cli/print.ts'`,
    'src/events.ts': `import './platform/log.ts'\nexport const EVENT_TYPES = []`,
    'src/installation.ts': `import './main.ts'\nexport const openInstallation = undefined\nexport type Installation = undefined`,
    'src/qr-codes/a.ts': `import '../../test/harness/engines.ts'`,
    'src/qr-codes/b.ts': `import 'fast-check'`,
    'src/qr-codes/c.ts': `import './d.ts'`,
    'src/qr-codes/d.ts': `import './c.ts'`,
    'src/qr-codes/e.ts': `import './nowhere.ts'`,
  }
  expect(violations(offences)).toEqual(
    expect.arrayContaining([
      'errors-and-config-know-kernel: src/events.ts',
      'everything-resolves: src/qr-codes/e.ts',
      'kernel-does-no-io: src/kernel/b.ts',
      'kernel-knows-nobody: src/kernel/a.ts',
      'ledger-knows-no-slice: src/ledger/a.ts',
      'no-circles: src/qr-codes/c.ts',
      'no-dev-packages-in-src: src/qr-codes/b.ts',
      'nothing-reaches-up: src/installation.ts',
      'platform-knows-no-product: src/platform/a.ts',
      'platform-knows-no-product: src/platform/b.ts',
      'sandbox-is-mounted-not-mounting: src/sandbox/a.ts',
      'sandbox-is-mounted-not-mounting: src/sandbox/b.ts',
      'slices-do-not-meet: src/a-new-slice/a.ts',
      'slices-do-not-meet: src/access/a.ts',
      'slices-do-not-meet: src/access/b.ts',
      'slices-do-not-meet: src/access/c.ts',
      'src-stands-alone: src/qr-codes/a.ts',
    ]),
  )
})
