import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { blocksOf, type Checkout, openCheckout, works } from '../harness/guides.ts'

let checkout: Checkout
beforeAll(async () => {
  checkout = await openCheckout()
})
afterAll(() => checkout?.close())

/** Runs a page twice, on the same data and a day later, and holds what it prints both times; nothing is left in the checkout. */
async function runTwice(file: string, holds: (printed: string) => void, env?: Record<string, string>) {
  const before = await readdir(checkout.folder)
  holds(await checkout.runGuide(file, env))
  await checkout.nextDay()
  holds(await checkout.runGuide(file, env))
  expect(await readdir(checkout.folder)).toEqual(before)
}

test(
  'the tutorial’s lines work as pasted, twice: token, code, image, payment, cancel, books',
  () =>
    runTwice('tutorial/first-token-and-qr-code.md', (reported) => {
      expect(reported).toContain('"outcome":"NOTIFIED"')
      expect(reported).toContain('"reason":"qr_code_used"')
      expect(reported).toContain('"status":"CANCELLED"')
      expect(reported).toContain('"reason":"qr_code_cancelled"')
      expect(reported).toContain('Valid: every UPI app should read it.')
      expect(reported).toContain('The books add up.')
      expect(reported).not.toContain('error_description')
    }),
  120_000,
)

test.each([
  'tutorial/gift-card.md',
  'guides/qr-codes.md',
  'guides/companies.md',
  'guides/spend-rules.md',
  'guides/test-clocks.md',
  'guides/coins.md',
  'guides/test-in-ci.md',
  'guides/coding-agents.md',
])(
  '%s shows the output of its commands, also when they run again on another day',
  async (guide) => {
    const blocks = await blocksOf(guide, 'sh')
    const shown = blocks.map(({ output = '' }) => output).join('')
    expect(shown).not.toBe('')
    await runTwice(guide, (printed) => expect(printed).toBe(shown))
  },
  120_000,
)

test(
  'an operator’s first day runs as printed, twice: doctor, a merchant, a payment, the books, the audit, a backup',
  () =>
    runTwice('tutorial/first-day.md', (printed) => {
      expect(printed).toMatch(/merchantId +mer_/)
      expect(printed).toMatch(/status +ACCEPTED/)
      expect(printed).toContain('The books add up.')
      expect(printed).toContain('All chains are whole')
    }),
  120_000,
)

test(
  'the guide to webhooks works as printed, twice: an event is triggered, read from the feed, and an endpoint registered',
  () =>
    runTwice('guides/webhooks.md', (printed) => {
      expect(printed).toContain('"type":"qr_code.credited"')
      expect(printed).toContain('"secret":"whsec_')
    }),
  120_000,
)

test('the guide to the command line runs as printed, twice: a card at once, sign in, create, pay, list, cancel, an encrypted order, complete, sign out', async () => {
  const folder = join(checkout.folder, 'data', 'config')
  const holds = (printed: string) => {
    expect(printed).toMatch(/^maskedNumber +\d+X+\d+$/m)
    expect(printed).toContain('as profile default')
    expect(printed).toMatch(/^NOTIFIED$/m)
    expect(printed).toMatch(/^status +CANCELLED$/m)
    expect(printed).toContain('Counter 2')
    expect(printed).toMatch(/^\d+X+\d+$/m)
    expect(printed).toContain('Removed profile cards')
  }
  await runTwice('guides/command-line.md', holds, { XDG_CONFIG_HOME: folder })
  await expect(readFile(join(folder, 'svc', 'profiles.json'))).rejects.toThrow('ENOENT')
}, 120_000)

const java = works('javac', '--version')
const go = works('go', 'version')
const php = works('php', '-r', 'exit(function_exists("openssl_encrypt") ? 0 : 1);')
const python = ['/usr/bin/python3', 'python3'].find((name) => works(name, '-c', 'import jwcrypto'))
const shell = works('jose', 'alg') && works('jq', '--version')

interface Program {
  readonly language: string
  readonly block: string
  readonly file: string
  /** Command and arguments before the file. */
  readonly with: readonly string[]
  readonly runs: boolean
  readonly needs: string
}

const PROGRAMS: readonly Program[] = [
  {
    language: 'TypeScript',
    block: 'ts',
    file: 'encrypt.mts',
    with: [process.execPath, '--import', 'tsx'],
    runs: true,
    needs: 'tsx',
  },
  { language: 'shell', block: 'sh', file: 'encrypt.sh', with: ['bash'], runs: shell, needs: 'jose and jq' },
  {
    language: 'Python',
    block: 'python',
    file: 'encrypt.py',
    with: [python ?? ''],
    runs: python !== undefined,
    needs: 'python3 with jwcrypto',
  },
  { language: 'Java', block: 'java', file: 'Encrypt.java', with: ['java'], runs: java, needs: 'a JDK' },
  { language: 'Go', block: 'go', file: 'encrypt.go', with: ['go', 'run'], runs: go, needs: 'go' },
  { language: 'PHP', block: 'php', file: 'encrypt.php', with: ['php'], runs: php, needs: 'php with openssl' },
]

const isProgram = (code: string) => code.startsWith('#!')

for (const { language, block, file, with: command, runs, needs } of PROGRAMS)
  test(`the guide’s program in ${language} issues a card with an encrypted request`, async ({ skip }) => {
    skip(!runs, `needs ${needs}`)
    const blocks = await blocksOf('guides/encrypt-a-request.md', block)
    const program = blocks.find(({ code }) => block !== 'sh' || isProgram(code))
    await writeFile(join(checkout.folder, file), program!.code)
    const before = await readdir(checkout.folder)
    for (let n = 0; n < 2; n++) {
      const reported = await checkout.run(command[0]!, [...command.slice(1), file])
      const response: Json = JSON.parse(reported.trim().split('\n').at(-1)!)
      expect(response, reported).toMatchObject({
        code: 0,
        payload: { maskedNumber: expect.stringMatching(/X/) },
      })
    }
    expect(await readdir(checkout.folder)).toEqual(before)
  })

test('the guide to encryption shows how to debug an encrypted request', async () => {
  const blocks = await blocksOf('guides/encrypt-a-request.md', 'sh')
  const printed = await checkout.bash(
    blocks
      .map(({ code }) => code)
      .filter((code) => !isProgram(code))
      .join('\n'),
  )
  expect(printed).toContain('"companyId"')
})

test('a client written from the specification alone performs its five operations, and finds each as specified', async () => {
  const program = fileURLToPath(new URL('../../lab/seed-client/perform.ts', import.meta.url))
  const printed = await checkout.run(process.execPath, ['--import', 'tsx', program, 'data/sandbox.json'])
  expect(printed).toBe('All five operations are as specified.\n')
})
