import { operationOf } from '@svc/cli/operation-command'
import { ROLES } from '@svc/console-api/identity/permissions'
import type { Argument, Command, Option } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { Client, type Json } from '../harness/client.ts'
import { Browser } from '../harness/console.ts'
import { type Live, openLive } from '../harness/live.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { acceptLink, administrationLeaves, PASSWORD } from './administration.ts'

// Live mode with the logins of docs/guides/operate.md: what one person does alone to become two. One test builds on the other.
let live: Live
let service: ServiceProcess
let client: Client
let settings: Record<string, string>
let unsigned: Record<string, string>
beforeAll(async () => {
  live = await openLive()
  settings = { ...live.settings, APPROVER_COOLING_DAYS: '7' }
  const {
    SVC_OPERATOR: _name,
    SVC_OPERATOR_PASSWORD: _password,
    SVC_OPERATOR_CODE: _code,
    ...rest
  } = settings
  unsigned = rest
  service = await startProcess({ ...settings, NODE_EXTRA_CA_CERTS: live.receiver.certificate })
  client = await Client.open(service.baseUrl)
})
afterAll(async () => {
  await service?.end('SIGTERM')
  await live?.close()
})

const run = (args: readonly string[], env = unsigned) => runHere(['admin', ...args, '--json'], env)
const as = (name: string) => ({ ...unsigned, SVC_OPERATOR: name, SVC_OPERATOR_PASSWORD: PASSWORD })
const done = async (args: readonly string[], env = unsigned): Promise<Json> => {
  const { code, stderr, stdout } = await run(args, env)
  expect(code, `svc admin ${args.join(' ')}\n${stderr}`).toBe(0)
  return JSON.parse(stdout)
}
const refused = async (args: readonly string[], env = unsigned): Promise<string> => {
  const { code, stderr } = await run(args, env)
  expect(code, `svc admin ${args.join(' ')}`).toBe(1)
  return stderr
}
const names = async (): Promise<string[]> =>
  (await done(['operator', 'list'])).map(({ name }: { name: string }) => name)
const signedIn = async (name: string): Promise<Browser> => {
  const browser = new Browser({ client })
  expect((await browser.signIn(name, PASSWORD)).status).toBe(200)
  return browser
}
const idOf = async (name: string): Promise<string> =>
  (await done(['operator', 'list'])).find((each: Json) => each.name === name).operatorId
const tokenOf = ({ link }: Json): string => link.split('#')[1]
const open = (link: Json, password = PASSWORD) =>
  new Browser({ client }).post('/invitation/accept', { token: tokenOf(link), password })

test('the first administrator is invited by the login that owns the database alone, and all operators are alerted', async () => {
  const invite = ['operator', 'invite', 'asha', '--role', 'admin']
  expect(await refused(invite)).toContain('There is no administrator yet')
  const { DATABASE_OWNER_URL: owner, ...others } = unsigned
  expect(await refused([...invite, '--as-owner'], others)).toContain('needs the login that owns the database')
  const operators = { ...others, DATABASE_OWNER_URL: others['DATABASE_OPERATOR_URL']! }
  expect(await refused([...invite, '--as-owner'], operators)).toContain('needs the login that owns')
  expect(owner).toBeDefined()
  for (const name of ['asha', 'meera'])
    await acceptLink(client, await done(['operator', 'invite', name, '--role', 'admin', '--as-owner']))
  const alerts = () => live.server.query("select from alerts where kind = 'owner_acted'")
  await expect.poll(alerts, { timeout: 60_000 }).toHaveLength(1)
})

test('a finance person alone makes no second operator by the command line', async () => {
  const invited = await done(['operator', 'invite', 'farid', '--role', 'finance'], as('asha'))
  await done(['operator', 'approve', invited.approvalId], as('meera'))
  await acceptLink(client, invited)
  const before = await names()
  const create = ['operator', 'create', 'puppet', '--role', 'finance', '--password-stdin']
  expect((await run(create, as('farid'))).code).not.toBe(0)
  const invite = ['operator', 'invite', 'puppet', '--role', 'finance']
  expect(await refused(invite, as('farid'))).toContain('This needs the role admin')
  expect(await refused(invite)).toContain('only a signed-in administrator')
  // Nor by saying that this installation is a sandbox, which nothing is opened as any more.
  const sandbox = { ...unsigned, SVC_MODE: 'sandbox' }
  for (const command of [invite, ['approval', 'approve', 'apv_1'], ['webhook', 'list']])
    expect(await refused(command, sandbox)).toContain('SVC_MODE: must be live')
  expect(await refused(['operator', 'password-link', 'meera'], as('farid'))).toContain(
    'This needs the role admin',
  )
  expect(await names()).toEqual(before)
})

test('an administrator alone neither sets the password of a colleague nor signs in as them', async () => {
  const asha = await signedIn('asha')
  const id = await idOf('farid')
  const set = await asha.send('POST', `/operators/${id}/password`, { password: 'known to asha alone' }).catch(
    // The document has no such operation.
    () => ({ status: 404 }),
  )
  expect(set.status).toBe(404)
  expect((await run(['operator', 'reset-password', 'farid', '--password-stdin'], as('asha'))).code).not.toBe(
    0,
  )
  const made = await asha.post(`/operators/${id}/link`, {})
  const byCommand = await done(['operator', 'password-link', 'farid'], as('asha'))
  expect((await open(made.json, 'known to asha alone')).error).toBe('invitation_revoked')
  expect((await open(byCommand, 'known to asha alone')).error).toBe('invitation_not_approved')
  const { approvalId } = byCommand
  const approve = `/operators/requests/${approvalId}/approve`
  expect((await asha.post(approve)).error).toBe('approval_same_person')
  expect(await refused(['operator', 'approve', approvalId], as('asha'))).toContain('cannot approve it')
  await signedIn('farid')

  expect((await (await signedIn('meera')).post(approve)).json).toMatchObject({
    status: 'approved',
    name: 'farid',
  })
  expect((await open(byCommand, PASSWORD)).status).toBe(200)
  // Who has made the link counts as the same person for a while, wherever two are needed.
  const waiting = await done(['operator', 'role', 'farid', 'admin'], as('asha'))
  expect(waiting).toMatchObject({ role: 'finance', approvalId: expect.any(String) })
  await done(['operator', 'approve', waiting.approvalId], as('meera'))
  const again = await done(['operator', 'password-link', 'meera'], as('asha'))
  expect(await refused(['operator', 'approve', again.approvalId], as('farid'))).toContain(
    'APPROVER_COOLING_DAYS',
  )
  await done(['operator', 'reject', again.approvalId], as('meera'))
  expect((await open(again)).error).toBe('invitation_revoked')
})

test('no operator who may more than look is made, promoted or loses a way to sign in by one administrator alone', async () => {
  const asha = await signedIn('asha')
  const acting = ROLES.filter((role) => !['viewer', 'auditor'].includes(role))
  expect(acting.length).toBeGreaterThan(4)
  for (const role of acting) {
    const invited = await asha.post('/operators/invitations', { name: `puppet.${role}`, role })
    expect(invited.json, role).toMatchObject({ status: 'waiting', approvalId: expect.any(String) })
    expect((await open(invited.json)).error).toBe('invitation_not_approved')
  }
  await acceptLink(client, (await asha.post('/operators/invitations', { name: 'vera', role: 'viewer' })).json)
  const id = await idOf('vera')
  const waiting = [
    await asha.send('PATCH', `/operators/${id}`, { role: 'operator' }),
    await asha.send('DELETE', `/operators/${id}/passkeys`),
    await asha.send('DELETE', `/operators/${id}/second-factor`),
    await asha.send('DELETE', `/operators/${id}/identity`),
  ]
  expect(waiting.map(({ status, json }) => [status, typeof json.approvalId])).toEqual(
    waiting.map(() => [200, 'string']),
  )
  expect((await (await signedIn('vera')).get('/session')).json.operator.role).toBe('viewer')
  const { data } = (await asha.get('/operators/requests')).json
  expect(data.map(({ kind }: Json) => kind).sort()).toEqual([
    'identity',
    ...acting.map(() => 'link'),
    'passkeys',
    'role',
    'second_factor',
  ])
  // Less needs one person: a disabled operator is out at once, and who only looks is back.
  const disabled = await asha.send('PATCH', `/operators/${id}`, { disabled: true })
  expect([disabled.json.status, disabled.json.approvalId]).toEqual(['disabled', undefined])
  const enabled = await asha.send('PATCH', `/operators/${id}`, { disabled: false })
  expect([enabled.json.status, enabled.json.approvalId]).toEqual(['active', undefined])
})

const READS = 'reads'
const MONEY = 'asks for an operator who moves money'
const OWNER = 'by the login that owns the database'
/** Commands that run no operation of the console, by name or group: who may give them. */
const WRITTEN: Readonly<Record<string, string>> = {
  migrate: OWNER,
  backup: OWNER,
  restore: OWNER,
  'end-access': OWNER,
  cell: OWNER,
  'tenant move': OWNER,
  doctor: READS,
  events: READS,
  reconcile: READS,
  invariants: READS,
  audit: READS,
  directory: READS,
  keys: 'data keys, with the master key',
  // Files of banks and the network, in and out, and what is printed of the books.
  refund: MONEY,
  dispute: MONEY,
  settlement: MONEY,
  calendar: MONEY,
  'bank-account': MONEY,
  statement: MONEY,
  payout: MONEY,
  books: MONEY,
  tax: MONEY,
  'opening-balances': MONEY,
}
/** Lists and records of nouns. */
const LISTS = new Set(['list', 'show', 'invitations', 'requests', 'history', 'exceptions', 'returns'])

/** A text that an option or argument accepts. */
const accepted = ({ argChoices, parseArg }: Pick<Option | Argument, 'argChoices' | 'parseArg'>): string =>
  argChoices?.[0] ??
  ['x', '1', '2026-11-27', '2026-10'].find((text) => {
    try {
      parseArg?.(text, undefined as never)
      return true
    } catch {
      return false
    }
  })!

/** The words of a command, with what it must be given. */
const wordsOf = (name: string, { options, registeredArguments }: Command): string[] => [
  ...name.split(' ').slice(1),
  ...registeredArguments.filter(({ required }) => required).map(accepted),
  ...options
    .filter(({ mandatory }) => mandatory)
    .flatMap((option) => [option.long!, ...(option.isBoolean() ? [] : [accepted(option)])]),
]

const leaves = await administrationLeaves()

test.each(leaves)('%s asks who acts where its operation does, or is listed', async (name, command) => {
  const operation = operationOf(command)
  if (!operation) {
    const [, group = '', verb = ''] = name.split(' ')
    expect(
      WRITTEN[`${group} ${verb}`] ?? WRITTEN[group] ?? LISTS.has(name.split(' ').at(-1)!),
      name,
    ).toBeTruthy()
    return
  }
  const words = wordsOf(name, command)
  const { method, permission = 'view', stepUp = false } = operation
  if (permission !== 'view') expect(await refused(words, as('vera'))).toContain('This needs')
  const isAsked = stepUp || (permission === 'administer' && method !== 'GET')
  if (isAsked) expect(await refused(words)).toContain('Set SVC_OPERATOR and SVC_OPERATOR_PASSWORD')
})
