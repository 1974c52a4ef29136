import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pageSources, ROOT } from '../harness/sources.ts'

test('a page is built again when a package changes that it imports', () => {
  const imported = new Set(
    pageSources().flatMap(({ text }) =>
      [...text.matchAll(/from '@svc\/([\w-]+)\//g)].map(([, name]) => `packages/${name}/src`),
    ),
  )
  expect(imported.size).toBeGreaterThan(1)
  const build = readFileSync(join(ROOT, 'scripts/build.mjs'), 'utf8')
  for (const source of imported) expect(build).toContain(`'${source}'`)
})
