import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newProgram } from '@svc/cli/program'
import type { Command } from 'commander'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { Client, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { runCli, startProcess } from '../harness/processes.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

// The service and the command line on one database, each a process of its own where that matters.
let service: TestService
let dataDir: string
let env: Record<string, string>

// Minutes on a machine that does much else: it runs many commands.
vi.setConfig({ testTimeout: 240_000 })

beforeAll(async () => {
  service = await openService()
  dataDir = await mkdtemp(join(tmpdir(), 'svc-cli-'))
  env = {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    DATA_DIR: dataDir,
  }
})
afterAll(async () => {
  await service.close()
  await rm(dataDir, { recursive: true, force: true })
})

async function svc(...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await runHere([...args, '--json'], env)
  expect(code, `svc ${args.join(' ')}: ${stderr}`).toBe(0)
  return JSON.parse(stdout)
}
const admin = (...args: string[]): Promise<Json> => svc('admin', ...args)
const refusal = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runHere(args, env)
  expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' })
  return stderr.trim()
}
const file = async (name: string, text: string): Promise<string> => {
  await writeFile(join(dataDir, name), text)
  return join(dataDir, name)
}

const PAID = ['--reference', 'AXIS-N 0042', '--reason', 'first float']

test('a partner that was onboarded on the command line issues a card with an order that it encrypted', async () => {
  const plan = ['--name', 'Gift House', '--product', 'incentive']
  const { partner, credential } = await admin('partner', 'create', ...plan)
  const { partnerId } = partner
  const { credentialId: clientId, secret: clientSecret } = credential
  const { companyId } = await admin('company', 'create', partnerId, '--name', 'Acme Industries')
  const person = ['--first-name', 'Asha', '--mobile', '9876543210']
  const { userId } = await admin('user', 'create', companyId, ...person)
  const { cardAccountId } = await admin(
    'card-account',
    'create',
    companyId,
    '--product',
    'incentive',
    '--denomination',
    '250',
  )
  expect(await admin('card-account', 'fund', cardAccountId, '--amount', '1000.50', ...PAID)).toMatchObject({
    balance: '1000.50',
  })
  const key = await file(
    'shared.jwk',
    JSON.stringify(await admin('partner', 'key', 'issue-shared', partnerId)),
  )
  const order = await file('order.json', JSON.stringify({ companyId, cardAccountId, userId }))
  const { jwe } = await svc('encrypt', order, '--key', key)
  const client = await asPartner(service.client, { clientId, clientSecret, partnerId } as TestPartner)
  const issued = payloadOf(await client.post('/api/v0/partner/svcCard', jwe))
  expect(issued).toMatchObject({ companyId, userId, companyName: 'Acme Industries', otbBalance: 250 })
  expect(await admin('card-account', 'list', companyId)).toMatchObject([{ cardAccountId, balance: 750.5 }])

  const published = await file(
    'jwks.json',
    await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).text(),
  )
  for (const alg of ['ECDH-ES+A256KW', 'RSA-OAEP-256']) {
    const encrypted = await svc('encrypt', order, '--key', published, '--alg', alg)
    expect(encrypted.alg).toBe(alg)
    payloadOf(await client.post('/api/v0/partner/svcCard', encrypted.jwe))
  }
  const encryptedResponse = await client.get(`/api/v0/partner/svcCard/${issued.svcCardId}`, {
    accept: 'application/jose',
  })
  expect(
    (await svc('decrypt', await file('answer.jwe', encryptedResponse.text), '--key', key)).body.payload,
  ).toEqual(issued)
  expect(await admin('reconcile')).toMatchObject({ ok: true })

  await admin('partner', 'disable', partnerId)
  await expect
    .poll(async () => (await client.get(`/api/v0/partner/svcCard/${issued.svcCardId}`)).status)
    .toBe(401)
  expect(await admin('partner', 'enable', partnerId)).toMatchObject({ status: 'active' })
})

test('open reports precisely why an encrypted request does not decrypt', async () => {
  const plan = ['--name', 'Encrypting', '--product', 'incentive']
  const { partnerId } = (await admin('partner', 'create', ...plan)).partner
  const [first, second] = [
    await admin('partner', 'key', 'issue-shared', partnerId),
    await admin('partner', 'key', 'issue-shared', partnerId),
  ]
  const [key, other] = [
    await file('first.jwk', JSON.stringify(first)),
    await file('second.jwk', JSON.stringify(second)),
  ]
  const { jwe } = await svc('encrypt', await file('body.json', '{"a":1}'), '--key', key)
  expect(await refusal('decrypt', await file('a.jwe', jwe), '--key', other)).toContain('unknown_kid')
  const parts = jwe.split('.')
  parts[4] = parts[4].startsWith('A') ? `B${parts[4].slice(1)}` : `A${parts[4].slice(1)}`
  expect(await refusal('decrypt', await file('b.jwe', parts.join('.')), '--key', key)).toContain('(tag)')
  expect(await refusal('decrypt', await file('c.jwe', 'hello'), '--key', key)).toContain('(not_jwe)')
  expect(await refusal('encrypt', await file('d.json', '[1]'), '--key', key)).toContain('JSON object')
  expect(await refusal('encrypt', await file('e.json', '{"a":1,"a":2}'), '--key', key)).toContain('not JSON')
  expect(await refusal('decrypt', await file('f.jwe', jwe))).toContain('--key')
  expect((await admin('partner', 'key', 'retire', partnerId, first.kid)).retiredOn).toBeTruthy()
  expect(
    (await admin('partner', 'key', 'list', partnerId)).jweKeys.map((k: Json) => [k.kid, 'retiredOn' in k]),
  ).toEqual([
    [first.kid, true],
    [second.kid, false],
  ])
})

test('the operator changes cards by the rules of the API, in one history with the partner', async () => {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const { svcCardId } = payloadOf(await createCard(client, partner))
  expect((await admin('cards', 'lock', svcCardId, '--reason', 'asked by phone')).cardStatus.name).toBe('L')
  // By the name that the console's has, without the reason, which may name a person (decision O7).
  const audited = await asSuperuser(service.db.database, (db) =>
    db.query("select action, content::jsonb -> 'details' as details from audit_log where target = $1", [
      svcCardId,
    ]),
  )
  expect(audited.rows).toEqual([{ action: 'card.status_changed', details: { status: 'L' } }])
  expect(
    payloadOf(await client.patch(`/api/v0/partner/svcCard/${svcCardId}/status`, { status: 'UL' })).cardStatus
      .name,
  ).toBe('UL')
  const why = ['--reason', 'asked by phone']
  const closed = await admin('cards', 'flags', 'set', svcCardId, '--pos-admin', 'off', ...why)
  expect(closed.posAllowedAdmin).toBe(false)
  const spent = await service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount: 1, channel: 'pos' })
  expect(spent).toMatchObject({ status: 422, error: 'channel_not_allowed' })
  expect((await admin('cards', 'kyc', 'set', svcCardId, 'UPLOADED', ...why)).kycStatus).toEqual({
    name: 'UPLOADED',
    label: 'Uploaded',
  })
  expect(await refusal('admin', 'cards', 'kyc', 'set', svcCardId, 'NOT_UPLOADED', ...why)).toContain(
    'PENDING',
  )
  expect(await refusal('admin', 'cards', 'activate', svcCardId, ...why)).toContain('virtual')
  expect((await admin('cards', 'block', svcCardId, '--reason', 'lost')).cardStatus.name).toBe('BL')
  expect(await refusal('admin', 'cards', 'unlock', svcCardId, ...why)).toContain('final')
  const changes: Json[] = payloadOf(await client.get(`/api/v0/partner/svcCard/${svcCardId}/history`)).data
  expect(changes.map(({ actor, field, to }) => `${actor} ${field} ${to}`)).toEqual([
    'operator cardStatus BL',
    'operator kycStatus UPLOADED',
    'operator posAllowedAdmin false',
    'partner cardStatus UL',
    'operator cardStatus L',
  ])
  expect(await admin('cards', 'history', svcCardId)).toEqual(changes)
  expect((await admin('cards', 'show', svcCardId)).card).toEqual(
    payloadOf(await client.get(`/api/v0/partner/svcCard/${svcCardId}`)),
  )
  const { stdout } = await runHere(['admin', 'cards', 'show', svcCardId], env)
  expect(stdout).toMatch(/^cardStatus +BL$/m)
})

test('as a process it prints only what was requested, and exits with 1 on a mistake', async () => {
  const listed = await runCli(['admin', 'keys', 'list', '--json'], env)
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(listed.stdout)).toEqual(await admin('keys', 'list'))
  const mistaken = await runCli(['admin', 'cards', 'show', 'card_nope'], env)
  expect(mistaken).toEqual({ code: 1, stdout: '', stderr: 'Card not found. List: svc admin cards list\n' })
})

test('mistakes are reported in one line that says what to do', async () => {
  expect(await refusal('admin', 'cards', 'show', 'card_nope')).toContain('Card not found')
  expect(await refusal('admin', 'company', 'create', 'par_nope', '--name', 'X')).toContain(
    'svc admin partner list',
  )
  expect(await refusal('admin', 'user', 'create', 'com_nope', '--mobile', '123')).toContain('10 digits')
  expect(
    await refusal(
      'admin',
      'card-account',
      'fund',
      'acc_nope',
      '--amount',
      '1.001',
      '--reference',
      'AXISN42',
      '--reason',
      'x',
    ),
  ).toContain('two decimals')
  expect(await refusal('admin', 'keys', 'rotate', 'session')).toContain('card_number')
  expect(await refusal('admin', 'partner', 'create', '--name', ' ', '--product', 'incentive')).toContain(
    '--name',
  )
  const { partner } = await admin('partner', 'create', '--name', 'Registrar', '--product', 'incentive')
  const broken = await file('broken.jwk', '{"kty":"EC","kid":"a"}')
  expect(await refusal('admin', 'partner', 'key', 'register-public', partner.partnerId, broken)).toContain(
    'cannot serve',
  )
})

test('every command for partners, cards, encryption and keys has help with an example', async () => {
  const groups = ['partner', 'company', 'user', 'card-account', 'cards', 'keys']
  const leaves = (command: Command): Command[] =>
    command.commands.length > 0 ? command.commands.flatMap(leaves) : [command]
  const { commands } = await newProgram()
  const administration = commands.find((command) => command.name() === 'admin')?.commands ?? []
  const chosen = [
    ...administration.filter((command) => groups.includes(command.name())),
    ...commands.filter((command) => ['encrypt', 'decrypt'].includes(command.name())),
  ]
  expect(chosen).toHaveLength(groups.length + 2)
  for (const command of chosen.flatMap(leaves)) {
    let help = ''
    command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp()
    expect(help, command.name()).toMatch(/^ {2}.*svc /m)
  }
})

test('the sandbox’s own keys encrypt and decrypt without a file', async () => {
  const sandbox = await mkdtemp(join(tmpdir(), 'svc-sandbox-'))
  const running = await startProcess({ ...env, DATA_DIR: sandbox })
  try {
    const demo = JSON.parse(await readFile(join(sandbox, 'sandbox.json'), 'utf8'))
    const { partnerId, clientId, clientSecret, companyId, cardAccountId } = demo.rewardsPartner
    const client = await asPartner(await Client.open(running.baseUrl), {
      partnerId,
      clientId,
      clientSecret,
    } as TestPartner)
    const order = await file('demo.json', JSON.stringify({ companyId, cardAccountId }))
    for (const alg of ['A256KW', 'ECDH-ES+A256KW', 'RSA-OAEP-256']) {
      const { code, stdout, stderr } = await runHere(
        ['encrypt', order, '--sandbox', '--partner', 'rewardsPartner', '--alg', alg],
        { ...env, DATA_DIR: sandbox },
      )
      expect(code, stderr).toBe(0)
      const response = await client.post('/api/v0/partner/svcCard', stdout.trim(), {
        accept: 'application/jose',
      })
      const opened = await runHere(
        ['decrypt', await file('demo.jwe', response.text), '--sandbox', '--partner', 'rewardsPartner'],
        { ...env, DATA_DIR: sandbox },
      )
      expect(JSON.parse(opened.stdout).payload.companyId).toBe(companyId)
    }
  } finally {
    await running.end('SIGTERM')
    await rm(sandbox, { recursive: true, force: true })
  }
})
