import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../../..')
const DOCUMENT = join(ROOT, 'docs/reference/openapi.json')
const run = promisify(execFile)
const tool = (name: string, ...args: string[]) =>
  run(join(ROOT, 'node_modules/.bin', name), args, { cwd: place })

let place: string

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'svc-clients-'))
  await symlink(join(ROOT, 'node_modules'), join(place, 'node_modules'))
  await writeFile(join(place, 'package.json'), '{"type":"module"}')
  const output = { target: './orval.ts', client: 'fetch', mode: 'single', headers: true }
  await writeFile(
    join(place, 'orval.config.cjs'),
    `module.exports = ${JSON.stringify({ svc: { input: DOCUMENT, output } })}`,
  )
  await Promise.all([
    tool('openapi-typescript', DOCUMENT, '-o', 'openapi-typescript.ts'),
    tool('openapi-ts', '-i', DOCUMENT, '-o', 'hey', '-s', '--no-log-file'),
    tool('orval', '--config', './orval.config.cjs'),
  ])
}, 240_000)
afterAll(() => rm(place, { recursive: true, force: true }))

test('clients by openapi-typescript, hey-api and orval compile, and reject requests that lack what is required', async () => {
  await copyFile(join(import.meta.dirname, 'cases.ts.txt'), join(place, 'cases.ts'))
  const compilerOptions = {
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
  }
  await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['cases.ts'] }))
  const tsc = join(ROOT, 'node_modules/typescript7/bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', place]).catch(
    (error: { stdout: string }) => error,
  )
  expect(stdout).toBe('')
}, 120_000)
