import { type ExecFileException, execFile, execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { MASTER_KEY, newDatabase, type TestDatabase } from '../harness/service.ts'

// What the guides tell people to paste is pasted here, word for word, into a checkout beside a sandbox of its own.
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let db: TestDatabase
let checkout: string
let sandbox: ServiceProcess
beforeAll(async () => {
  db = await newDatabase()
  checkout = await mkdtemp(join(tmpdir(), 'svc-guides-'))
  for (const part of [
    'package.json',
    'node_modules',
    'scripts',
    'bin',
    'dist',
    'packages',
    'migrations',
    'docs',
  ])
    await symlink(join(ROOT, part), join(checkout, part))
  const env = { DATABASE_URL: db.url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: join(checkout, 'data') }
  sandbox = await startProcess(env)
})
afterAll(async () => {
  await sandbox?.end('SIGTERM')
  await rm(checkout, { recursive: true, force: true })
})

/** Code blocks of a guide in one language, each with the output block that follows it, if one does. */
async function blocksOf(file: string, language: string): Promise<{ code: string; output?: string }[]> {
  const text = await readFile(join(ROOT, 'docs', file), 'utf8')
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms)]
  return blocks
    .filter(([, of]) => of === language)
    .map(([, , code = '', output]) => (output === undefined ? { code } : { code, output }))
}

const works = (command: string, ...args: string[]): boolean => {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Runs a program in the checkout; fails with what it wrote when it does not end well. */
async function run(command: string, args: readonly string[]): Promise<string> {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, DATABASE_URL: db.url, SVC_MASTER_KEY: MASTER_KEY }
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd: checkout, env }, (error: ExecFileException | null, stdout, stderr) => {
      if (error) reject(new Error(`${command}: exit code ${error.code}\n${stdout}\n${stderr}`))
      else resolve(stdout)
    })
  })
}

const bash = (script: string): Promise<string> => run('bash', ['-euo', 'pipefail', '-c', script])

test('the tutorial’s lines work as they are pasted: token, code, image, payment, cancel, books', async () => {
  const lines = (await blocksOf('tutorial/first-token-and-qr-code.md', 'sh'))
    .map(({ code }) => code)
    .filter((code) => !code.includes('npm start'))
  const reported = await bash(lines.join('\n'))
  expect(reported).toContain('"outcome":"NOTIFIED"')
  expect(reported).toContain('"reason":"qr_code_used"')
  expect(reported).toContain('"status":"CANCELLED"')
  expect(reported).toContain('"reason":"qr_code_cancelled"')
  expect(reported).toContain('Valid: every UPI app should read it.')
  expect(reported).toContain('The books add up.')
})

test('the guide to QR codes shows what its lines print', async () => {
  const blocks = (await blocksOf('guides/qr-codes.md', 'sh')).filter(
    ({ code }) => !code.includes('npm start'),
  )
  const printed = await bash(blocks.map(({ code }) => code).join('\n'))
  const shown = blocks.map(({ output = '' }) => output).join('')
  expect(shown).not.toBe('')
  expect(printed).toBe(shown)
})

test('the guide to webhooks works as it is printed: an event is triggered, read from the feed, and an endpoint registered', async () => {
  const blocks = (await blocksOf('guides/webhooks.md', 'sh')).filter(({ code }) => !code.includes('vitest'))
  const printed = await bash(blocks.map(({ code }) => code).join('\n'))
  expect(printed).toContain('"type":"qr_code.credited"')
  expect(printed).toContain('"secret":"whsec_')
})

test.skipIf(!works('jq', '--version'))(
  'the guide to svc conformance makes credentials with which this server conforms',
  async () => {
    const make = (await blocksOf('guides/conformance.md', 'sh')).find(({ code }) =>
      code.includes('credentials.json'),
    )
    await bash(make!.code)
    const reported = await bash(
      `npm run -s svc -- conformance ${sandbox.baseUrl} --credentials credentials.json`,
    )
    expect(reported).toMatch(/Conforms in all that could be checked: [4-9]\d\d passed, 0 failed, 0 blocked/)
  },
  // Twenty commands, each a process of its own.
  300_000,
)

const java = works('javac', '--version')
const go = works('go', 'version')
const python = ['/usr/bin/python3', 'python3'].find((name) => works(name, '-c', 'import jwcrypto'))
const shell = works('jose', 'alg') && works('jq', '--version')

interface Program {
  readonly language: string
  readonly block: string
  readonly file: string
  /** Command and arguments before the file. */
  readonly with: readonly string[]
  readonly runs: boolean
}

const PROGRAMS: readonly Program[] = [
  {
    language: 'TypeScript',
    block: 'ts',
    file: 'seal.mts',
    with: [process.execPath, '--import', 'tsx'],
    runs: true,
  },
  { language: 'shell', block: 'sh', file: 'seal.sh', with: ['bash'], runs: shell },
  { language: 'Python', block: 'python', file: 'seal.py', with: [python ?? ''], runs: python !== undefined },
  { language: 'Java', block: 'java', file: 'Seal.java', with: ['java'], runs: java },
  { language: 'Go', block: 'go', file: 'seal.go', with: ['go', 'run'], runs: go },
]

for (const { language, block, file, with: command, runs } of PROGRAMS)
  test.skipIf(!runs)(`the guide’s program in ${language} issues a card by a sealed order`, async () => {
    const [first] = await blocksOf('guides/seal-a-request.md', block)
    await writeFile(join(checkout, file), first!.code)
    const reported = await run(command[0]!, [...command.slice(1), file])
    const response: Json = JSON.parse(reported.trim().split('\n').at(-1)!)
    expect(response, reported).toMatchObject({
      code: 0,
      payload: { maskedNumber: expect.stringMatching(/X/) },
    })
  })
