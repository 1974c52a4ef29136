import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

let tree: string
beforeEach(async () => {
  tree = await mkdtemp(join(tmpdir(), 'svc-bundle-'))
  for (const folder of ['packages/cli/src', 'scripts']) await mkdir(join(tree, folder), { recursive: true })
  for (const file of ['scripts/bundle.mjs', 'scripts/shipped.mjs'])
    await copyFile(join(ROOT, file), join(tree, file))
  await symlink(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
})
afterEach(() => rm(tree, { recursive: true, force: true }))

/** Bundles a program of this text and runs the bundle; returns what it printed. */
async function bundled(program: string, more: Record<string, string> = {}): Promise<string> {
  for (const [name, text] of Object.entries({ 'cli.ts': program, ...more }))
    await writeFile(join(tree, 'packages/cli/src', name), text)
  await run(process.execPath, ['scripts/bundle.mjs'], { cwd: tree })
  return (await run(process.execPath, ['dist/cli.js'], { cwd: tree })).stdout.trim()
}

test('a CommonJS package that is imported dynamically does not build: its names would be missing from the bundle', async () => {
  await expect(
    bundled("const { Redis } = await import('ioredis')\nconsole.log(typeof Redis)"),
  ).rejects.toThrow("packages/cli/src/cli.ts: import('ioredis')")
})

test('a CommonJS package has its names in the bundle when a source file imports it and is imported dynamically', async () => {
  const program = "const { name } = await import('./named.ts')\nconsole.log(name)"
  const named = "import { Redis } from 'ioredis'\nexport const name = typeof Redis"
  expect(await bundled(program, { 'named.ts': named })).toBe('function')
})
