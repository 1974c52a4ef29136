import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { build } from 'esbuild'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packSdk } from '../harness/packed-sdk.ts'
import { openService, type TestService } from '../harness/service.ts'
import { ROOT } from '../harness/sources.ts'

const TSC = join(ROOT, 'node_modules/typescript7/bin/tsc')
const run = promisify(execFile)

// The package as a registry would hand it out, installed offline: it depends on nothing.
let place: string
let tarball: string
let service: TestService

const projectOf = (type: 'module' | 'commonjs') => join(place, type)

async function newProject(type: 'module' | 'commonjs'): Promise<void> {
  const project = projectOf(type)
  await mkdir(project)
  await writeFile(join(project, 'package.json'), JSON.stringify({ type, private: true }))
  const npm = ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', tarball]
  await run('npm', npm, { cwd: project })
}

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'svc-sdk-formats-'))
  tarball = await packSdk(place)
  await Promise.all([newProject('module'), newProject('commonjs')])
  service = await openService()
}, 240_000)
afterAll(async () => {
  await service.close()
  await rm(place, { recursive: true, force: true })
})

const TYPED = `import { Svc, SvcError, type Event } from '@svc/sdk'
export const typeOf = (event: Event): string => event.type
export const made = (): Promise<string> =>
  Svc.merchant({ baseUrl: 'https://pay.example', apiKey: 'svc_test_x' }).qrCodes.create({ amount: 1 }).then((c) => c.qrCodeId)
Svc.partner({ baseUrl: '', partnerId: '', clientId: '', clientSecret: '' })
export const missing = (e: unknown): boolean => SvcError.is(e, 'qr_code_not_found')
`
const WITHOUT_PARTNER_ID = `import { Svc } from '@svc/sdk'
Svc.partner({ baseUrl: '', clientId: '', clientSecret: '' })
`

/** What the compiler reports of a program in a project; nothing when it compiles. Library types are checked too. */
async function compile(type: 'module' | 'commonjs', source: string, options: object): Promise<string> {
  const project = projectOf(type)
  await writeFile(join(project, 'program.ts'), source)
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    types: [],
    noEmit: true,
    ...options,
  }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
  const { stdout } = await run(process.execPath, [TSC, '-p', project]).catch(
    (error: { stdout: string }) => error,
  )
  return stdout
}

test.each([
  ['module', 'node16', { module: 'node16' }],
  ['commonjs', 'node16', { module: 'node16' }],
  ['module', 'nodenext', { module: 'nodenext' }],
  ['commonjs', 'nodenext', { module: 'nodenext' }],
  ['module', 'bundler', { module: 'esnext', moduleResolution: 'bundler' }],
] as const)(
  'in a %s project resolved by %s, a correct program compiles and one without partnerId does not',
  async (type, _, options) => {
    expect(await compile(type, TYPED, options)).toBe('')
    expect(await compile(type, WITHOUT_PARTNER_ID, options)).toMatch(
      /program\.ts\(2,13\): error TS2741: Property 'partnerId' is missing/,
    )
  },
)

const CALL = `const merchant = Svc.merchant({ baseUrl: process.env.BASE_URL, apiKey: process.env.API_KEY })
merchant.qrCodes.create({ qrName: 'Packed', amount: 249.5 }).then(({ amount, status }) => console.log(amount, status))
`

test.each([
  ['module', `import { Svc } from '@svc/sdk'\n`],
  ['commonjs', `const { Svc } = require('@svc/sdk')\n`],
] as const)('installed alone, the package creates a QR code from a %s program', async (type, head) => {
  const { apiKey } = await service.newMerchant()
  await writeFile(join(projectOf(type), 'program.js'), head + CALL)
  const env = { ...process.env, BASE_URL: service.baseUrl, API_KEY: apiKey }
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: projectOf(type), env })
  expect(stdout).toBe('249.5 ACTIVE\n')
})

test('publint and attw find no problem in the tarball', async () => {
  const publint = join(ROOT, 'node_modules/publint/src/cli.js')
  const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js')
  const linted = await run(process.execPath, [publint, 'run', tarball, '--strict'])
  expect(linted.stdout).toContain('All good!')
  const typed = await run(process.execPath, [attw, tarball, '--no-color', '--no-emoji'])
  expect(typed.stdout).toContain('No problems found')
}, 120_000)

test('the tarball has the licence, the licences of bundled packages, and source maps; no private flag', async () => {
  const packed = join(projectOf('module'), 'node_modules/@svc/sdk')
  const files = (await readdir(packed, { recursive: true })).sort()
  expect(files).toEqual([
    'LICENSE',
    'README.md',
    'dist',
    'dist/THIRD-PARTY-LICENCES.txt',
    'dist/index.cjs',
    'dist/index.cjs.map',
    'dist/index.d.cts',
    'dist/index.d.ts',
    'dist/index.js',
    'dist/index.js.map',
    'package.json',
  ])
  const manifest = JSON.parse(await readFile(join(packed, 'package.json'), 'utf8')) as object
  expect(manifest).not.toHaveProperty('private')
  expect(manifest).not.toHaveProperty('dependencies')
  const licences = await readFile(join(packed, 'dist/THIRD-PARTY-LICENCES.txt'), 'utf8')
  const map = JSON.parse(await readFile(join(packed, 'dist/index.js.map'), 'utf8')) as { sources: string[] }
  const bundled = map.sources.map((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1])
  for (const name of new Set(bundled)) if (name) expect(licences).toContain(`${name} `)
  const own = await readdir(join(projectOf('module'), 'node_modules'))
  expect(own.filter((name) => !name.startsWith('.'))).toEqual(['@svc'])
})

const BROWSER = `import { Svc, verifyWebhook } from '@svc/sdk'
globalThis.found = [
  verifyWebhook(WEBHOOK.body, WEBHOOK.headers, WEBHOOK.secret).type,
  verifyWebhook(new TextEncoder().encode(WEBHOOK.body), new Headers(WEBHOOK.headers), WEBHOOK.secret).type,
]
try {
  Svc.merchant({ baseUrl: 'https://pay.example', apiKey: 'svc_live_x' })
} catch (error) {
  globalThis.found.push(error.message)
}
`

test('a bundler for browsers finds nothing specific to Node in it; there webhooks verify and live keys are rejected', async () => {
  const project = projectOf('module')
  const stdin = { contents: BROWSER, resolveDir: project }
  const { outputFiles } = await build({
    stdin,
    bundle: true,
    format: 'iife',
    platform: 'browser',
    write: false,
  })
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
  const [id, at, body] = ['evt_1', new Date(), JSON.stringify({ type: 'qr_code.created' })]
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  }
  // The globals of a web page that the package may use: no process, no Buffer, no require.
  const page: Record<string, unknown> = { WEBHOOK: { body, headers, secret }, document: {} }
  for (const name of [
    'fetch',
    'Headers',
    'Request',
    'Response',
    'URL',
    'TextEncoder',
    'TextDecoder',
    'crypto',
  ])
    page[name] = globalThis[name as keyof typeof globalThis]
  page['window'] = page
  runInNewContext(outputFiles[0]?.text ?? '', page)
  expect(page['found']).toEqual([
    'qr_code.created',
    'qr_code.created',
    'apiKey must not be used in a browser, where every visitor can read it. Create the client on your server',
  ])
})
