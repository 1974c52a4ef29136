import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runHere } from '../harness/cli.ts'
import type { Json } from '../harness/client.ts'
import { openSandbox, type SandboxService } from '../harness/conformance.ts'

// Profiles `cards` of a partner and `default` of a merchant.
let from: SandboxService
let folder: string
const run = (...args: string[]) => runHere(args, { XDG_CONFIG_HOME: join(folder, 'config') })

beforeAll(async () => {
  from = await openSandbox()
  folder = await mkdtemp(join(tmpdir(), 'svc-tenants-'))
  const credentials = join(folder, 'sandbox.json')
  await writeFile(credentials, JSON.stringify(from.sandbox))
  const login = ['login', '--base-url', from.sandbox.baseUrl, '--credentials', credentials]
  await run(...login, '--as', 'incentivePartner', '--profile', 'cards')
  await run(...login)
})
afterAll(async () => {
  await from?.service.close()
  await rm(folder, { recursive: true, force: true })
})

async function svc(...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await run(...args, '--json')
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}

test('svc cards create issues a card with an encrypted order; a repeat of its reference returns the same card', async () => {
  const { companyName, ...first } = await svc('cards', 'create', '--profile', 'cards', '--reference', 'cli-1')
  expect(first).toMatchObject({
    maskedNumber: expect.stringContaining('X'),
    companyId: from.sandbox.incentivePartner.companyId,
  })
  const { svcCardId } = await svc('cards', 'create', '--profile', 'cards', '--reference', 'cli-1')
  expect(svcCardId).toBe(first.svcCardId)
  const { cardAccountId } = from.sandbox.incentivePartner
  const named = await svc(
    'cards',
    'create',
    '--profile',
    'cards',
    '--account',
    cardAccountId,
    '--first-name',
    'Asha',
  )
  expect(named).toMatchObject({ cardAccountId, companyName, firstName: 'Asha' })
})

test('svc cards transactions and statement show what happened on a card of the profile', async () => {
  const profile = ['--profile', 'cards']
  const { svcCardId } = await svc('cards', 'create', ...profile, '--amount', '300')
  const load = { svcCardId, kind: 'load', amount: 300, balance: 300 }
  expect(await svc('cards', 'transactions', svcCardId, ...profile)).toEqual([expect.objectContaining(load)])
  expect(await svc('cards', 'transactions', svcCardId, '--kind', 'capture', ...profile)).toEqual([])
  expect((await svc('cards', 'transactions', '--limit', '1', ...profile))[0]).toMatchObject(load)
  expect(await svc('cards', 'statement', svcCardId, ...profile)).toMatchObject({
    openingBalance: 0,
    closingBalance: 300,
    lines: [load],
  })
  const printed = await run('cards', 'statement', svcCardId, '--from', '2026-01-01', ...profile)
  expect(printed.stdout).toContain('load')
})

test('svc api sends a compact JWE as it is, also where JSON is asked for', async () => {
  const { companyId, cardAccountId, sharedKey } = from.sandbox.incentivePartner
  const order = join(folder, 'order.json')
  const key = join(folder, 'shared.jwk')
  await writeFile(order, JSON.stringify({ companyId, cardAccountId }))
  await writeFile(key, JSON.stringify(sharedKey))
  for (const header of [[], ['--header', 'content-type: application/json']]) {
    const jwe = join(folder, 'order.jwe')
    await writeFile(jwe, (await run('encrypt', order, '--key', key)).stdout)
    const sent = await svc(
      'api',
      'post',
      '/api/v0/partner/svcCard',
      '--data',
      `@${jwe}`,
      '--profile',
      'cards',
      ...header,
    )
    expect(sent.payload.maskedNumber).toContain('X')
  }
})

test('a command for one kind of tenant with the profile of the other is refused before anything is sent, and says what to do', async () => {
  const sent = vi.spyOn(globalThis, 'fetch')
  for (const [profile, kind, ...args] of [
    ['cards', 'merchant', 'qr', 'create'],
    ['cards', 'merchant', 'qr', 'list'],
    ['cards', 'merchant', 'payments', 'show', 'pay_1'],
    ['default', 'partner', 'cards', 'create'],
    ['default', 'partner', 'cards', 'show', 'card_1'],
    ['default', 'partner', 'coins', 'balance', 'usr_1'],
  ] as const) {
    const { code, stderr } = await run(...args, '--profile', profile)
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`This command is for a ${kind}, and the profile ${profile}`),
    ])
    expect(stderr).toContain('svc login --profile')
  }
  expect(sent).not.toHaveBeenCalled()
  sent.mockRestore()
})

test('with no profile kept, commands are demo tenants of the sandbox whose file is in DATA_DIR', async () => {
  const config = { XDG_CONFIG_HOME: await mkdtemp(join(folder, 'fresh-')), DATA_DIR: folder }
  const card = await runHere(['cards', 'create'], config)
  expect([card.code, card.stderr]).toEqual([
    0,
    expect.stringContaining('as the demo tenant incentivePartner of the sandbox'),
  ])
  expect(card.stdout).toMatch(/^maskedNumber +\d+X+\d+$/m)
  expect((await runHere(['qr', 'list', '--json'], config)).code).toBe(0)
  expect((await runHere(['api', 'get', '/api/v0/partner/companies'], config)).code).toBe(0)
  const chosen = await runHere(['qr', 'list', '--profile', 'none'], config)
  expect([chosen.code, chosen.stderr]).toEqual([4, expect.stringContaining('Not signed in')])
})
