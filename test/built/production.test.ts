import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { isAlive } from '@svc/embedded-postgres/embedded-postmaster'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

// A tree that was built and pruned; packages are copied, since npm changes what it finds.
const PARTS =
  'bin scripts packages apps migrations docs dist dist-site node_modules package.json package-lock.json'
let tree: string
beforeAll(async () => {
  tree = await mkdtemp(join(tmpdir(), 'svc-production-'))
  for (const part of PARTS.split(' '))
    if (part !== 'node_modules')
      await cp(join(ROOT, part), join(tree, part), { recursive: true, verbatimSymlinks: true })
  linkTree(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  await run('npm', ['prune', '--omit=dev', '--offline', '--no-audit', '--no-fund'], { cwd: tree })
})
afterAll(() => rm(tree, { recursive: true, force: true, maxRetries: 10 }))

/** npm writes this file in place, and with a link it would be the checkout's that changes. */
const NPM_WRITES = '.package-lock.json'

/** The same files under other names: npm removes packages, which takes nothing from the first ones. */
function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) linkTree(source, target)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else if (entry.name === NPM_WRITES) copyFileSync(source, target)
    else linkOrCopy(source, target)
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target)
  } catch {
    // The temporary directory is on another file system.
    copyFileSync(source, target, constants.COPYFILE_FICLONE)
  }
}

/** What `npm start` runs. */
const START = [process.execPath, 'scripts/start.mjs'] as const

/** Runs the service until it is ready, then ends it; resolves to what it wrote. */
async function start([program, ...args]: readonly [string, ...string[]] = START): Promise<string> {
  const env = { ...process.env, DATA_DIR: join(tree, 'data'), PORT: '0', NODE_ENV: 'production' }
  const child = spawn(program, args, {
    cwd: tree,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => {
      lines.push(line)
      if (line.includes('"msg":"ready"')) child.kill('SIGTERM')
    })
  const [code] = await closed
  expect(code, lines.join('\n')).toBe(0)
  return lines.join('\n')
}

test('the built program starts without development packages', async () => {
  expect(existsSync(join(tree, 'node_modules/esbuild'))).toBe(false)
  expect(await start()).toContain('"msg":"drained"')
})

// npm starts scripts by a shell and forwards signals to that shell only (npm/npm 4603, 10868).
test('SIGTERM to the process of npm start stops the service', async () => {
  const written = await start(['npm', 'start'])
  expect(written).toContain('"msg":"drained"')
  const { pid } = JSON.parse(written.split('\n').find((line) => line.includes('"msg":"ready"'))!)
  expect(isAlive(pid)).toBe(false)
})

test('OpenTelemetry is in a separate file that only a service that exports traces loads', async () => {
  const files = (await readdir(join(tree, 'dist'))).filter((name) => name.endsWith('.js'))
  const withIt: string[] = []
  for (const file of files)
    if ((await readFile(join(tree, 'dist', file), 'utf8')).includes('BatchSpanProcessor')) withIt.push(file)
  expect(withIt).toEqual([expect.stringMatching(/^opentelemetry-\w+\.js$/)])
})

test('the built program starts after an npm version that omits fields of the lock file, as npm 10 does when it prunes', async () => {
  const file = join(tree, 'package-lock.json')
  const lock = JSON.parse(await readFile(file, 'utf8'))
  for (const entry of Object.values<Record<string, unknown>>(lock.packages)) delete entry['libc']
  await writeFile(file, JSON.stringify(lock, null, 2))
  await start()
})

test('a program built from other sources does not start without its compiler, and the message says what to do', async () => {
  const more = join(tree, 'packages/core/src/more.ts')
  await writeFile(more, 'export {}\n')
  await expect(start()).rejects.toThrow(
    'svc was built from other sources, and its compiler is not installed. Run: npm ci && npm run build && npm prune --omit=dev',
  )
  await rm(more)
})

test('the built program starts from the files that docs/guides/operate.md lists for an image', async () => {
  const named = 'bin scripts dist dist-site apps migrations node_modules package.json'.split(' ')
  for (const part of PARTS.split(' '))
    if (!named.includes(part)) await rm(join(tree, part), { recursive: true })
  for (const part of await readdir(join(tree, 'apps/console')))
    if (!part.startsWith('dist')) await rm(join(tree, 'apps/console', part), { recursive: true })
  await start()
})
