import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newProgram } from '../../src/cli/program.ts'
import { type Client, Client as HttpClient, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { runCli, type ServiceProcess, startProcess } from '../harness/processes.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

// The service and the command line on one database, each a process of its own where that matters.
let service: TestService
let dataDir: string
let env: Record<string, string>

// Minutes on a machine that does much else: processes start, and a rotation waits for every process.
vi.setConfig({ testTimeout: 240_000 })

beforeAll(async () => {
  service = await openService()
  dataDir = await mkdtemp(join(tmpdir(), 'svc-cli-'))
  env = {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    DATA_DIR: dataDir,
    COMMAND_TIMEOUT_MS: '1000',
  }
})
afterAll(async () => {
  await service.close()
  await rm(dataDir, { recursive: true, force: true })
})

interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** One at a time: in this process standard output and the environment are shared. */
let turn: Promise<unknown> = Promise.resolve()

/**
 * The program of the command line, in this process: the same code as `svc`, without the seconds that each process takes
 * to start. Some tests run it as the process that people run.
 */
function runHere(args: string[], settings = env): Promise<Run> {
  const run = async (): Promise<Run> => {
    const { stdout, stderr } = process
    const texts = { stdout: '', stderr: '' }
    const former = { ...process.env }
    const writes = [stdout, stderr].map((stream) => vi.spyOn(stream, 'write'))
    writes[0]!.mockImplementation((text) => ((texts.stdout += String(text)), true))
    writes[1]!.mockImplementation((text) => ((texts.stderr += String(text)), true))
    Object.assign(process.env, settings)
    try {
      await newProgram().parseAsync(args, { from: 'user' })
      return { code: 0, ...texts }
    } catch (error) {
      return { code: 1, stdout: texts.stdout, stderr: `${texts.stderr}${(error as Error).message}` }
    } finally {
      for (const write of writes) write.mockRestore()
      process.env = former
    }
  }
  const mine = turn.then(run)
  turn = mine.catch(() => undefined)
  return mine
}

async function svc(...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await runHere([...args, '--json'])
  expect(code, `svc ${args.join(' ')}: ${stderr}`).toBe(0)
  return JSON.parse(stdout)
}
const refusal = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runHere(args)
  expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' })
  return stderr.trim()
}
const file = async (name: string, text: string): Promise<string> => {
  await writeFile(join(dataDir, name), text)
  return join(dataDir, name)
}

test('a partner that was on-boarded by the command line issues a card with an order that it sealed', async () => {
  const { partnerId, clientId, clientSecret } = await svc(
    'partner',
    'create',
    '--name',
    'Gift House',
    '--product',
    'incentive',
  )
  const { companyId } = await svc('company', 'create', partnerId, '--name', 'Acme Industries')
  const { userId } = await svc('user', 'create', companyId, '--first-name', 'Asha', '--mobile', '9876543210')
  const { cardAccountId } = await svc(
    'card-account',
    'create',
    companyId,
    '--product',
    'incentive',
    '--denomination',
    '250',
  )
  expect(await svc('card-account', 'fund', cardAccountId, '--amount', '1000.50')).toMatchObject({
    balance: '1000.50',
  })
  const key = await file('shared.jwk', JSON.stringify(await svc('partner', 'key', 'issue-shared', partnerId)))
  const order = await file('order.json', JSON.stringify({ companyId, cardAccountId, userId }))
  const { jwe } = await svc('seal', order, '--key', key)
  const client = await asPartner(service.client, { clientId, clientSecret, partnerId } as TestPartner)
  const issued = payloadOf(await client.post('/api/v0/partner/svcCard', jwe))
  expect(issued).toMatchObject({ companyId, userId, companyName: 'Acme Industries', otbBalance: 250 })
  expect(await svc('card-account', 'list', companyId)).toMatchObject([
    { cardAccountId, balance: '750.50', cards: 1 },
  ])

  const published = await file(
    'jwks.json',
    await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).text(),
  )
  for (const alg of ['ECDH-ES+A256KW', 'RSA-OAEP-256']) {
    const sealed = await svc('seal', order, '--key', published, '--alg', alg)
    expect(sealed.alg).toBe(alg)
    payloadOf(await client.post('/api/v0/partner/svcCard', sealed.jwe))
  }
  const sealedAnswer = await client.get(`/api/v0/partner/svcCard/${issued.svcCardId}`, {
    accept: 'application/jose',
  })
  expect((await svc('open', await file('answer.jwe', sealedAnswer.text), '--key', key)).body.payload).toEqual(
    issued,
  )
  expect(await svc('reconcile')).toMatchObject({ ok: true })

  await svc('partner', 'disable', partnerId)
  await expect
    .poll(async () => (await client.get(`/api/v0/partner/svcCard/${issued.svcCardId}`)).status)
    .toBe(401)
  expect(await svc('partner', 'enable', partnerId)).toMatchObject({ status: 'active' })
})

test('open says precisely why a seal does not open', async () => {
  const { partnerId } = await svc('partner', 'create', '--name', 'Sealer', '--product', 'incentive')
  const [first, second] = [
    await svc('partner', 'key', 'issue-shared', partnerId),
    await svc('partner', 'key', 'issue-shared', partnerId),
  ]
  const [key, other] = [
    await file('first.jwk', JSON.stringify(first)),
    await file('second.jwk', JSON.stringify(second)),
  ]
  const { jwe } = await svc('seal', await file('body.json', '{"a":1}'), '--key', key)
  expect(await refusal('open', await file('a.jwe', jwe), '--key', other)).toContain('unknown_kid')
  const parts = jwe.split('.')
  parts[4] = parts[4].startsWith('A') ? `B${parts[4].slice(1)}` : `A${parts[4].slice(1)}`
  expect(await refusal('open', await file('b.jwe', parts.join('.')), '--key', key)).toContain('(tag)')
  expect(await refusal('open', await file('c.jwe', 'hello'), '--key', key)).toContain('(not_jwe)')
  expect(await refusal('seal', await file('d.json', '[1]'), '--key', key)).toContain('JSON object')
  expect(await refusal('seal', await file('e.json', '{"a":1,"a":2}'), '--key', key)).toContain('not JSON')
  expect(await refusal('open', await file('f.jwe', jwe))).toContain('--key')
  expect((await svc('partner', 'key', 'retire', partnerId, first.kid)).retiredAt).toBeTruthy()
  expect(
    (await svc('partner', 'key', 'list', partnerId)).map((k: Json) => [k.kid, k.retiredAt !== null]),
  ).toEqual([
    [first.kid, true],
    [second.kid, false],
  ])
})

test('the operator changes cards by the rules of the API, in one history with the partner', async () => {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const { svcCardId } = payloadOf(await createCard(client, partner))
  expect((await svc('card', 'lock', svcCardId, '--reason', 'asked by phone')).cardStatus.name).toBe('L')
  expect(
    payloadOf(await client.patch(`/api/v0/partner/svcCard/${svcCardId}/status`, { status: 'UL' })).cardStatus
      .name,
  ).toBe('UL')
  expect((await svc('card', 'flags', 'set', svcCardId, '--pos-admin', 'off')).posAllowedAdmin).toBe(false)
  const spent = await service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount: 1, channel: 'pos' })
  expect(spent).toMatchObject({ status: 422, error: 'channel_not_allowed' })
  expect((await svc('card', 'kyc', 'set', svcCardId, 'UPLOADED')).kycStatus).toEqual({
    name: 'UPLOADED',
    label: 'Uploaded',
  })
  expect(await refusal('card', 'kyc', 'set', svcCardId, 'NOT_UPLOADED')).toContain('PENDING')
  expect(await refusal('card', 'activate', svcCardId)).toContain('virtual')
  expect((await svc('card', 'block', svcCardId, '--reason', 'lost')).cardStatus.name).toBe('BL')
  expect(await refusal('card', 'unlock', svcCardId)).toContain('final')
  const changes: Json[] = payloadOf(await client.get(`/api/v0/partner/svcCard/${svcCardId}/history`)).data
  expect(changes.map(({ actor, field, to }) => `${actor} ${field} ${to}`)).toEqual([
    'operator cardStatus BL',
    'operator kycStatus UPLOADED',
    'operator posAllowedAdmin false',
    'partner cardStatus UL',
    'operator cardStatus L',
  ])
  expect(await svc('card', 'history', svcCardId)).toEqual(changes)
  expect(await svc('card', 'show', svcCardId)).toEqual(
    payloadOf(await client.get(`/api/v0/partner/svcCard/${svcCardId}`)),
  )
  const { stdout } = await runHere(['card', 'show', svcCardId])
  expect(stdout).toMatch(/^cardStatus +BL$/m)
})

test('as a process it prints only what was asked for, and ends with 1 on a mistake', async () => {
  const listed = await runCli(['keys', 'list', '--json'], env)
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(listed.stdout)).toEqual(await svc('keys', 'list'))
  const mistaken = await runCli(['card', 'show', 'card_nope'], env)
  expect(mistaken).toEqual({ code: 1, stdout: '', stderr: 'There is no card card_nope\n' })
})

test('mistakes are told in a line that says what to do', async () => {
  expect(await refusal('card', 'show', 'card_nope')).toContain('There is no card')
  expect(await refusal('company', 'create', 'par_nope', '--name', 'X')).toContain('svc partner list')
  expect(await refusal('user', 'create', 'com_nope', '--mobile', '123')).toContain('10 digits')
  expect(await refusal('card-account', 'fund', 'acc_nope', '--amount', '1.001')).toContain('two decimals')
  expect(await refusal('keys', 'rotate', 'session')).toContain('card_number')
  expect(await refusal('partner', 'create', '--name', ' ', '--product', 'incentive')).toContain('--name')
  const { partnerId } = await svc('partner', 'create', '--name', 'Registrar', '--product', 'incentive')
  const broken = await file('broken.jwk', '{"kty":"EC","kid":"a"}')
  expect(await refusal('partner', 'key', 'register-public', partnerId, broken)).toContain('cannot serve')
})

test('every command for partners, cards, seals and keys has help with an example', () => {
  const groups = ['partner', 'company', 'user', 'card-account', 'card', 'seal', 'open', 'keys']
  const leaves = (command: Command): Command[] =>
    command.commands.length > 0 ? command.commands.flatMap(leaves) : [command]
  const chosen = newProgram().commands.filter((command) => groups.includes(command.name()))
  expect(chosen).toHaveLength(groups.length)
  for (const command of chosen.flatMap(leaves)) {
    let help = ''
    command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp()
    expect(help, command.name()).toMatch(/^ {2}.*svc /m)
  }
})

const statesOf = async (purpose: string): Promise<Json[]> =>
  (await svc('keys', 'list')).filter((key: Json) => key.purpose === purpose)

test('card numbers are sealed anew under a new key while cards are issued; no card fails, the former key is unused and retired', async () => {
  const processes: ServiceProcess[] = [await startProcess(env), await startProcess(env)]
  const partner = await newPartner(service)
  const clients: Client[] = await Promise.all(
    processes.map(async ({ baseUrl }) => asPartner(await HttpClient.open(baseUrl), partner)),
  )
  const [former] = await statesOf('card_number')
  let rotated = false
  const rotation = runCli(['keys', 'rotate', 'card_number', '--json'], env).finally(() => (rotated = true))
  const issue = async (client: Client): Promise<number> => {
    let issued = 0
    for (; !rotated; issued++) payloadOf(await createCard(client, partner, { loadAmount: 1 }))
    return issued
  }
  const counts = await Promise.all(clients.map(issue))
  const { stdout, stderr } = await rotation
  expect(stderr).toContain('rows sealed anew')
  const done = JSON.parse(stdout)
  expect(Math.min(...counts)).toBeGreaterThan(0)
  expect(done).toMatchObject({ retired: former.keyId, kept: '' })
  expect(done.resealed).toBeGreaterThan(0)
  expect(await statesOf('card_number')).toMatchObject([
    { keyId: former.keyId, state: 'retired', rows: 0 },
    { keyId: done.keyId, state: 'seals' },
  ])
  for (const process of processes) expect((await process.end('SIGTERM')).code).toBe(0)
  const { keyring, database } = service.app.services
  await keyring.refresh()
  const cards = await database.operate((tx) =>
    tx.query<{ svc_card_id: string; number_sealed: Buffer; number_digest: Buffer }>({
      name: 'test_numbers',
      text: 'select svc_card_id, number_sealed, number_digest from cards',
    }),
  )
  expect(cards.length).toBeGreaterThanOrEqual(counts[0]! + counts[1]!)
  for (const { svc_card_id: id, number_sealed: sealed, number_digest: digest } of cards) {
    expect(sealed.toString('latin1').startsWith(done.keyId)).toBe(true)
    expect(keyring.digest('card_number_digest', keyring.open('card_number', sealed, id).toString())).toEqual(
      digest,
    )
  }
})

test('a rotation of the published keys: new tokens and seals use the new ones, old ones go on until they are retired', async () => {
  const partner = await newPartner(service)
  const before = await asPartner(service.client, partner)
  const oldKeys = await file(
    'old-jwks.json',
    await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).text(),
  )
  const order = await file(
    'o.json',
    JSON.stringify({ companyId: partner.companyId, cardAccountId: partner.cardAccountId }),
  )
  const [rsa, signing] = await Promise.all([
    svc('keys', 'rotate', 'seal_rsa'),
    svc('keys', 'rotate', 'token_signing'),
  ])
  expect([rsa.retired, signing.retired]).toEqual(['', ''])
  await service.app.services.keyring.refresh()
  const after = await asPartner(service.client, partner)
  const jwks: Json[] = JSON.parse(await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).text()).keys
  expect(jwks.filter(({ alg }) => alg === 'RSA-OAEP-256')).toHaveLength(2)
  const sealOld = async () => (await svc('seal', order, '--key', oldKeys, '--alg', 'RSA-OAEP-256')).jwe
  payloadOf(await after.post('/api/v0/partner/svcCard', await sealOld()))
  payloadOf(
    await before.get(`/api/v0/partner/svcCard/${payloadOf(await createCard(before, partner)).svcCardId}`),
  )
  expect(await refusal('keys', 'retire', rsa.keyId)).toContain('the key that seals')

  await svc('keys', 'retire', rsa.kept)
  await svc('keys', 'retire', signing.kept)
  await service.app.services.keyring.refresh()
  expect(await after.post('/api/v0/partner/svcCard', await sealOld())).toMatchObject({
    status: 400,
    error: 'seal_rejected',
  })
  expect((await before.get('/api/v0/partner/svcCard/x')).status).toBe(401)
  expect((await after.get('/api/v0/partner/svcCard/x')).status).toBe(404)
})

test('the sandbox’s own keys seal and open without a file', async () => {
  const sandbox = await mkdtemp(join(tmpdir(), 'svc-sandbox-'))
  const running = await startProcess({ ...env, DATA_DIR: sandbox })
  try {
    const demo = JSON.parse(await readFile(join(sandbox, 'sandbox.json'), 'utf8'))
    const { partnerId, clientId, clientSecret, companyId, cardAccountId } = demo.rewardsPartner
    const client = await asPartner(await HttpClient.open(running.baseUrl), {
      partnerId,
      clientId,
      clientSecret,
    } as TestPartner)
    const order = await file('demo.json', JSON.stringify({ companyId, cardAccountId }))
    for (const alg of ['A256KW', 'ECDH-ES+A256KW', 'RSA-OAEP-256']) {
      const { code, stdout, stderr } = await runHere(
        ['seal', order, '--sandbox', '--partner', 'rewardsPartner', '--alg', alg],
        { ...env, DATA_DIR: sandbox },
      )
      expect(code, stderr).toBe(0)
      const answer = await client.post('/api/v0/partner/svcCard', stdout.trim(), {
        accept: 'application/jose',
      })
      const opened = await runHere(
        ['open', await file('demo.jwe', answer.text), '--sandbox', '--partner', 'rewardsPartner'],
        { ...env, DATA_DIR: sandbox },
      )
      expect(JSON.parse(opened.stdout).payload.companyId).toBe(companyId)
    }
  } finally {
    await running.end('SIGTERM')
    await rm(sandbox, { recursive: true, force: true })
  }
})
