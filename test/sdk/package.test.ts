import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packSdk } from '../harness/packed-sdk.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { asSuperuser, MASTER_KEY, newDatabase, type TestDatabase } from '../harness/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const TSC = join(ROOT, 'node_modules/typescript7/bin/tsc')
const run = promisify(execFile)

// Somebody's project that has installed the packed SDK, and a sandbox beside it.
let place: string
let service: ServiceProcess
let db: TestDatabase

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'svc-sdk-'))
  const packed = join(place, 'node_modules/@svc/sdk')
  await mkdir(packed, { recursive: true })
  const tarball = await packSdk(place)
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', packed])
  for (const name of ['@types', 'undici-types', 'tsx'])
    await symlink(join(ROOT, 'node_modules', name), join(place, 'node_modules', name))
  await cp(join(ROOT, 'packages/sdk/examples'), join(place, 'examples'), { recursive: true })
  await cp(join(ROOT, 'test/sdk/types.ts'), join(place, 'types.ts'))
  await writeFile(join(place, 'package.json'), '{"type":"module"}')
  db = await newDatabase()
  await mkdir(join(place, 'data'))
  service = await startProcess({
    DATABASE_URL: db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    DATA_DIR: join(place, 'data'),
  })
}, 240_000)
afterAll(async () => {
  await service.end('SIGTERM')
  await rm(place, { recursive: true, force: true })
})

const example = async (name: string, ...args: string[]): Promise<string> => {
  const env = { ...process.env }
  delete env['DATA_DIR']
  const { stdout } = await run(process.execPath, ['--import', 'tsx', `examples/${name}.ts`, ...args], {
    cwd: place,
    env,
  })
  return stdout
}

test('the package contains what it needs and no sources', async () => {
  const files = await readdir(join(place, 'node_modules/@svc/sdk'), { recursive: true })
  expect(files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([])
  expect(files).toEqual(
    expect.arrayContaining(['README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts']),
  )
})

test('the types accept correct code and reject incorrect code, in a project with the strictest settings', async () => {
  const strict = {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    types: ['node'],
    noEmit: true,
  }
  const include = ['types.ts', 'examples']
  await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions: strict, include }))
  const { stdout } = await run(process.execPath, [TSC, '-p', place]).catch(
    (error: { stdout: string }) => error,
  )
  expect(stdout).toBe('')
})

test('the tour is under 40 lines, has no any, and covers the whole flow', async () => {
  const source = await readFile(join(ROOT, 'packages/sdk/examples/tour.ts'), 'utf8')
  expect(source.split('\n').length).toBeLessThan(40)
  expect(source).not.toMatch(/\bany\b|\bas\b|@ts-|!\./)
  const lines = (await example('tour')).trim().split('\n')
  expect(lines).toEqual([
    'paid      249.5 by asha@bank: ACCEPTED',
    'too late  REFUNDED, because qr_code_cancelled',
    expect.stringMatching(/^on record SBX\w+ REFUNDED$/),
    expect.stringMatching(/^on record SBX\w+ ACCEPTED$/),
    expect.stringMatching(/^card {6}\d{6}X{6}\d{4} holds 500 rupees$/),
    'employee  Ravi 500',
    'employee  Sunita 1500',
    'employee  Arjun 2500',
    'coins     referral.completed earns 100',
  ])
})

test('the example that issues a card creates one, however often it is run for an order', async () => {
  const first = await example('issue-a-card', '1042')
  expect(first).toMatch(/^issued card_\w+ \d{6}X{6}\d{4}, loaded with 500 rupees\n$/)
  expect(await example('issue-a-card', '1042')).toBe(first)
  const cardId = first.split(' ')[1]
  const { rows } = await asSuperuser(db.database, (client) =>
    client.query<{ svc_card_id: string }>(
      `select svc_card_id from cards where holder->>'mobile' = '9876543210'`,
    ),
  )
  expect(rows).toEqual([{ svc_card_id: cardId }])
})

test('the example that receives webhooks is notified of its payment', async () => {
  expect(await example('receive-webhooks')).toBe('249.5 rupees from asha@bank\n')
})

test('without a sandbox the SDK says how to start one', async () => {
  const program = `import { Svc } from '@svc/sdk'; await Svc.sandbox({ dataDir: 'nowhere' })`
  const failed = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: place }).catch(
    (error: { stderr: string }) => error.stderr,
  )
  expect(failed).toContain(
    'There is no nowhere/sandbox.json. Start a sandbox with `npm start`, or set DATA_DIR',
  )
})
