import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { copyCheckout } from '../harness/checkout.ts'
import { ROOT } from '../harness/sources.ts'

const copy = mkdtempSync(join(tmpdir(), 'svc-types-'))
afterAll(() => rmSync(copy, { recursive: true, force: true }))

const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
}).split('\0')
const sources = tracked.filter((file) => /\.[mc]?[jt]sx?$/.test(file))
/** `skipLibCheck` leaves these out, so nothing but declarations of packages that may be absent belongs in them. */
const declarations = sources.filter((file) => /\.d\.[mc]?ts$/.test(file))

/** Runs the script of `npm run check`, so that what CI runs is what is tested. */
function checkTypes(): { status: number | null; output: string } {
  const { status, stdout } = spawnSync(process.execPath, ['scripts/check.mjs', 'types'], {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 2 ** 27,
  })
  return { status, output: stdout }
}

test('`npm run check -- types` fails for a type error in any source file', () => {
  expect(declarations).toEqual(['lab/bench/peers/packages.d.ts'])
  for (const file of [
    ...sources,
    ...tracked.filter((name) => /(?:^|\/)(?:tsconfig(?:\.\w+)?|package)\.json$/.test(name)),
  ])
    cpSync(join(ROOT, file), join(copy, file))
  copyCheckout(copy, [])

  const planted = sources.filter((file) => !declarations.includes(file))
  for (const file of planted)
    appendFileSync(
      join(copy, file),
      /\.[mc]?tsx?$/.test(file)
        ? '\n;{ const planted: string = 0; void planted }\n'
        : '\n;{\n  /** @type {string} */\n  const planted = 0; void planted }\n',
    )
  const { status, output } = checkTypes()
  expect(status).toBe(1)
  expect(planted.filter((file) => !output.includes(`${file}(`))).toEqual([])
}, 600_000)
