import { execFile } from 'node:child_process'
import { createSecretKey, type KeyObject } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { decryptJwe } from '@svc/jwe/jwe'
import { signWebhook, verifyWebhook, verifyWebhookByKey } from '@svc/sdk'
import { compactVerify, createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet } from 'jose'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { blocksOf, works } from '../harness/guides.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { MASTER_KEY, newDatabase } from '../harness/service.ts'
import { ROOT } from '../harness/sources.ts'

// `clients/`: each language against the same list of scenarios and the same table of vectors.
const exec = promisify(execFile)
const CLIENTS = join(ROOT, 'clients')
const CODE_LINES_MAX = 300

interface Language {
  readonly file: string
  readonly needs: string
  readonly runs: boolean
  /** The program of a folder in which the client is. */
  readonly run: (folder: string, program: string, args: readonly string[]) => Promise<string>
}

const python = ['/usr/bin/python3', 'python3'].find((name) => works(name, '-c', 'import cryptography'))
const quiet = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
const printed = async (command: string, args: readonly string[], cwd: string): Promise<string> =>
  (await exec(command, args, { cwd, env: quiet, timeout: 120_000 })).stdout

const LANGUAGES: Readonly<Record<string, Language>> = {
  python: {
    file: 'python/svc_client.py',
    needs: 'python3 with cryptography',
    runs: python !== undefined,
    run: (folder, program, args) => printed(python ?? '', [join(folder, `${program}.py`), ...args], place),
  },
  java: {
    file: 'java/Svc.java',
    needs: 'a JDK of version 17',
    runs: works('javac', '-version'),
    async run(folder, program, args) {
      const classes = await mkdtemp(join(place, 'classes-'))
      await exec('javac', ['-d', classes, join(folder, 'Svc.java'), join(folder, `${program}.java`)])
      return printed('java', ['-cp', classes, program, ...args], place)
    },
  },
  php: {
    file: 'php/Svc.php',
    needs: 'PHP with openssl and sodium',
    runs: works('php', '-r', 'exit(function_exists("sodium_crypto_scalarmult") ? 0 : 1);'),
    run: (folder, program, args) => printed('php', [join(folder, `${program}.php`), ...args], place),
  },
}
const SCENARIOS: Readonly<Record<string, string>> = {
  python: 'run_scenarios',
  java: 'RunScenarios',
  php: 'run-scenarios',
}
const NAMES = Object.keys(LANGUAGES)

interface Case {
  readonly name: string
  readonly valid: boolean
}
interface Vectors {
  readonly sharedKey: { readonly kid: string; readonly k: string }
  readonly encryption: readonly { readonly name: string; readonly order: object }[]
  readonly receiptKeys: JSONWebKeySet['keys']
  readonly receipts: readonly (Case & { readonly receipt: string })[]
  readonly webhooks: readonly (Case & {
    readonly now: number
    readonly secrets: readonly string[]
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  })[]
}

let place: string
let service: ServiceProcess
let vectors: Vectors
let scenarios: readonly Case[]
const runs = new Map<string, Promise<string>>()
beforeAll(async () => {
  vectors = JSON.parse(await readFile(join(CLIENTS, 'vectors.json'), 'utf8'))
  scenarios = JSON.parse(await readFile(join(CLIENTS, 'scenarios.json'), 'utf8'))
  place = await mkdtemp(join(tmpdir(), 'svc-clients-'))
  const { url } = await newDatabase()
  const data = join(place, 'data')
  service = await startProcess({ DATABASE_URL: url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: data })
  // One after the other: each moves the clock of the same merchant, and would end the new token of another.
  let before: Promise<unknown> = Promise.resolve()
  for (const [name, { runs: isHere, run }] of Object.entries(LANGUAGES)) {
    const args = [join(CLIENTS, name), SCENARIOS[name]!, [join(data, 'sandbox.json'), CLIENTS]] as const
    const running = before.then(() => (isHere ? run(...args) : ''))
    before = running.catch(() => undefined)
    runs.set(name, running)
    runs.get(name)!.catch(() => undefined)
  }
}, 120_000)
afterAll(async () => {
  await Promise.allSettled(runs.values())
  await service.end('SIGTERM')
  await rm(place, { recursive: true, force: true })
})
afterEach(() => void vi.useRealTimers())

test.each(NAMES)(
  'the client for %s passes every scenario, verifies what is genuine alone, and encrypts what the service decrypts',
  async (name) => {
    const { needs, runs: isHere } = LANGUAGES[name]!
    if (!isHere) return console.log(`The client for ${name} is not run: it needs ${needs}.`)
    const lines = (await runs.get(name)!).trimEnd().split('\n')
    const jwes = lines.filter((line) => line.startsWith('jwe ')).map((line) => line.slice(4))
    const all = [...scenarios, ...vectors.webhooks, ...vectors.receipts]
    expect(lines.filter((line) => !line.startsWith('jwe '))).toEqual(all.map((each) => `ok ${each.name}`))
    const key: KeyObject = createSecretKey(Buffer.from(vectors.sharedKey.k, 'base64url'))
    const { kid } = vectors.sharedKey
    const find = (named: string) =>
      named === kid ? ({ kid, alg: 'A256KW', enc: 'A256GCM', key } as const) : undefined
    const orders = await Promise.all(
      jwes.map(async (jwe) => (await decryptJwe(jwe, find)).plaintext.toString()),
    )
    expect(orders.map((text) => JSON.parse(text))).toEqual(vectors.encryption.map(({ order }) => order))
    expect(new Set(jwes.map((jwe) => jwe.split('.')[2])).size).toBe(jwes.length)
  },
  120_000,
)

test('the SDK and jose decide the same of every vector, and its first webhook is what the SDK signs', async () => {
  for (const { name, now, secrets, headers, body, valid } of vectors.webhooks) {
    vi.useFakeTimers({ now: now * 1_000, toFake: ['Date'] })
    const raw = Buffer.from(body, 'base64')
    const verified = await Promise.allSettled(
      secrets.map(async (secret) =>
        secret.startsWith('whpk_')
          ? verifyWebhookByKey(raw, headers, [secret])
          : verifyWebhook(raw, headers, secret),
      ),
    )
    expect(
      verified.some(({ status }) => status === 'fulfilled'),
      name,
    ).toBe(valid)
  }
  vi.useRealTimers()
  const keys = createLocalJWKSet({ keys: vectors.receiptKeys })
  for (const { name, receipt, valid } of vectors.receipts) {
    const isGenuine = compactVerify(receipt, keys, { algorithms: ['EdDSA'] }).then(
      () => decodeProtectedHeader(receipt).typ === 'svc-receipt',
      () => false,
    )
    expect(await isGenuine, name).toBe(valid)
  }
  const { now, secrets, headers, body } = vectors.webhooks[0]!
  const text = Buffer.from(body, 'base64').toString()
  const signed = signWebhook(JSON.parse(text), secrets[0]!, new Date(now * 1_000))
  expect(signed.body).toBe(text)
  expect(headers['webhook-signature']).toContain(signed.headers['webhook-signature'])
})

test('each client is one file of the version of this release, under its licence, small enough to read', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  expect(await readdir(CLIENTS)).toEqual([
    'README.md',
    'java',
    'php',
    'python',
    'scenarios.json',
    'vectors.json',
  ])
  for (const { file } of Object.values(LANGUAGES)) {
    const text = await readFile(join(CLIENTS, file), 'utf8')
    const served = await fetch(`${service.baseUrl}/docs/clients/${basename(file)}`)
    expect(await served.text(), file).toBe(text)
    expect(text.slice(0, 300), file).toContain(`in one file, version ${version}: copy it into your project`)
    expect(text.slice(0, 300), file).toContain('SPDX-License-Identifier: MIT')
    expect(text, file).toMatch(new RegExp(`VERSION = ["']${version.replaceAll('.', '\\.')}["']`))
    // Without blank lines, comments and lone brackets.
    const code = text.split('\n').filter((line) => !/^\s*(?:(?:#|\/\/|\/?\*).*|[\])};,{]*)$/.test(line))
    expect(code.length, file).toBeLessThanOrEqual(CODE_LINES_MAX)
  }
})

test.each(NAMES)(
  'the example of the guide in %s runs as it is printed, beside the copied file',
  async (name) => {
    const { needs, runs: isHere, file, run } = LANGUAGES[name]!
    if (!isHere) return console.log(`The example in ${name} is not run: it needs ${needs}.`)
    const [{ code, output } = { code: '' }] = await blocksOf('guides/clients.md', name)
    const folder = await mkdtemp(join(place, 'example-'))
    await cp(join(CLIENTS, file), join(folder, file.split('/')[1]!))
    await writeFile(join(folder, `Example.${file.split('.')[1]}`), code)
    expect(await run(folder, 'Example', [])).toBe(output)
  },
  120_000,
)
