import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { MASTER_KEY, newDatabase } from '../harness/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PROGRAMS = join(import.meta.dirname, 'clients')
const run = promisify(execFile)
const tool = (name: string, ...args: string[]) =>
  run(join(ROOT, 'node_modules/.bin', name), args, { cwd: place })

const CAST = /(?<!\*) as (?!const\b)|: any\b|@ts-/

let place: string
let service: ServiceProcess
let plain: string

const documentOf = async (query: string): Promise<string> =>
  (await fetch(`${service.baseUrl}/openapi.json${query}`)).text()

/** Generates clients from the document that a service has for them, as its users do, and compiles programs with them. */
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'svc-clients-'))
  const db = await newDatabase()
  service = await startProcess({ DATABASE_URL: db.url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: place })
  plain = await documentOf('?plain')
  await writeFile(join(place, 'openapi.json'), plain)
  await symlink(join(ROOT, 'node_modules'), join(place, 'node_modules'))
  await writeFile(join(place, 'package.json'), '{"type":"module"}')
  const output = { target: './orval.ts', client: 'fetch', mode: 'single', headers: true }
  await writeFile(
    join(place, 'orval.config.cjs'),
    `module.exports = ${JSON.stringify({ svc: { input: './openapi.json', output } })}`,
  )
  await Promise.all([
    tool('openapi-typescript', 'openapi.json', '-o', 'openapi-typescript.ts'),
    tool('openapi-ts', '-i', 'openapi.json', '-o', 'hey', '-s', '--no-log-file'),
    tool('orval', '--config', './orval.config.cjs'),
  ])
  for (const file of await readdir(PROGRAMS))
    await copyFile(join(PROGRAMS, file), join(place, file.replace(/\.txt$/, '')))
}, 300_000)
afterAll(async () => {
  await service?.end('SIGTERM')
  await rm(place, { recursive: true, force: true })
})

test('/openapi.json?plain is the stored document, but for the address of the installation, however often it is read', async () => {
  const stored = await readFile(join(ROOT, 'docs/reference/openapi.json'), 'utf8')
  const { baseUrl } = service
  expect(JSON.parse(plain.replaceAll(baseUrl, 'http://127.0.0.1:8080'))).toEqual(JSON.parse(stored))
  const { apiKey } = JSON.parse(await readFile(join(place, 'sandbox.json'), 'utf8')).merchant
  expect(await documentOf('')).not.toBe(plain)
  expect(await documentOf('?plain')).toBe(plain)
  expect(plain).not.toContain(apiKey)
  expect(plain).not.toContain('x-scalar-secret')
})

test('every operation has one JSON success, and other forms of it stand beside that', () => {
  const { paths }: Json = JSON.parse(plain)
  const several = Object.values<Json>(paths)
    .flatMap((methods) => Object.values<Json>(methods))
    .filter(({ responses }) => Object.keys(responses['200'].content ?? {}).length !== 1)
    .map(({ operationId }) => operationId)
  expect(several).toEqual([])
  expect(paths['/api/v0/partner/svcCard'].post.responses['200']['x-other-content']).toHaveProperty([
    'application/jose',
    'schema',
    'contentSchema',
  ])
})

test('clients by openapi-typescript, hey-api and orval compile, and reject requests that lack what is required', async () => {
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
  const include = (await readdir(PROGRAMS)).map((file) => file.replace(/\.txt$/, ''))
  await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
  const tsc = join(ROOT, 'node_modules/typescript7/bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', place]).catch(
    (error: { stdout: string }) => error,
  )
  expect(stdout).toBe('')
}, 120_000)

test.each(['openapi-fetch', 'hey-api', 'orval-fetch'])(
  'a program with the client of %s does the whole job without a cast: code, payment, cancel, events, card, search, lock',
  async (program) => {
    expect(await readFile(join(PROGRAMS, `${program}.ts.txt`), 'utf8')).not.toMatch(CAST)
    const sandbox = await readFile(join(place, 'sandbox.json'), 'utf8')
    await writeFile(join(place, 'sandbox.mjs'), `globalThis.SANDBOX = ${sandbox}`)
    const args = ['--import', 'tsx', '--import', './sandbox.mjs', `${program}.ts`]
    const { stdout } = await run(process.execPath, args, { cwd: place })
    const { card, found, events, ...rest } = JSON.parse(stdout)
    expect(rest).toEqual({
      payments: 1,
      cancelled: 'CANCELLED',
      locked: 'Locked',
      failure: 'NOT_FOUND_ERROR',
    })
    expect(card).toMatch(/X{6}/)
    expect(found).toBe(card)
    expect(events).toBeGreaterThan(1)
  },
  120_000,
)
