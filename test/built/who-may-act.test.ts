import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROLES } from '@svc/console-api/identity/permissions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { Client, type Json } from '../harness/client.ts'
import { Browser } from '../harness/console.ts'
import { type Live, openLive } from '../harness/live.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { acceptLink, administrationCommands, PASSWORD } from './administration.ts'

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

/** Arguments with which a command comes as far as asking who calls. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'operator invite': ['puppet'],
  'operator password-link': ['asha'],
  'operator revoke-invitation': ['puppet'],
  'operator disable': ['meera'],
  'operator enable': ['meera'],
  'operator role': ['meera', 'viewer'],
  'operator unlink': ['meera'],
  'operator remove-passkeys': ['meera'],
  'operator reset-second-factor': ['meera'],
  'operator approve': ['apv_1'],
  'operator reject': ['apv_1'],
  'member invite': ['mer_1', 'puppet@shop.example'],
  'member hand-over': ['mer_1', 'puppet@shop.example'],
  'member link': ['mer_1', 'asha@shop.example'],
  'member disable': ['mer_1', 'asha@shop.example'],
  'member enable': ['mer_1', 'asha@shop.example'],
  'member role': ['mer_1', 'asha@shop.example', 'admin'],
  'member reset-second-factor': ['mer_1', 'asha@shop.example'],
  'merchant create': ['--name', 'Puppet', '--vpa', 'puppet.shop@bank', '--mcc', '5411'],
  'key issue': ['mer_1'],
  'key limit': ['mer_1', 'key_1', '--address', '', '--scope', ''],
  'key roll': ['mer_1', 'key_1'],
  'key revoke': ['mer_1', 'key_1'],
  'partner create': ['--name', 'Puppet', '--product', 'incentive'],
  'partner client issue': ['par_1'],
  'partner client limit': ['par_1', 'cli_1', '--address', '', '--scope', ''],
  'partner client roll': ['par_1', 'cli_1'],
  'partner client revoke': ['par_1', 'cli_1'],
  'partner key issue-shared': ['par_1'],
  'partner key register-public': ['par_1', 'JWK'],
  'partner key retire': ['par_1', 'sk_1'],
  'tenant close': ['mer_1', '--reason', 'leaves'],
}
/** Tenants and their credentials, of which live mode shows no secret: as in the console, those who manage tenants. */
const MANAGES = /^(?:merchant|key|partner) /

/** What those are refused with who did not sign in, and who may only look. */
const ADMINISTER = ['only a signed-in administrator', 'This needs the role admin'] as const
const REFUSALS: Readonly<Record<string, readonly [string, string]>> = {
  member: ['in live mode this is done in an operator’s name', 'This needs one of the roles operations,'],
}

const READS = 'reads'
const STOPS = 'stops what may be stolen: in an emergency, by the account of the machine'
const MONEY = 'asks for an operator who moves money'
const DATA = 'records of a tenant: they permit no sign-in'
/** Why a command does not ask for an administrator: by its name, or by its group. */
const OTHERS: Readonly<Record<string, string>> = {
  'operator list': READS,
  'operator invitations': READS,
  'operator requests': READS,
  'member list': READS,
  'merchant list': READS,
  'merchant show': READS,
  'qr-code': READS,
  'merchant link': 'coin configurations that a merchant may read',
  'merchant disable': STOPS,
  'merchant enable': 'undoes a stop; its credentials are those of before',
  'key list': READS,
  'partner list': READS,
  'partner show': READS,
  'partner settings': READS,
  'partner update': DATA,
  'partner disable': STOPS,
  'partner enable': 'undoes a stop; its credentials are those of before',
  'partner client list': READS,
  'partner key list': READS,
  migrate: 'by the login that owns the database',
  backup: 'by the login that owns the database',
  'end-access': 'by the login that owns the database; gives no access',
  restore: 'by the login that owns the database; ends all sessions and links',
  doctor: READS,
  audit: READS,
  reconcile: READS,
  invariants: READS,
  alerts: 'a note on an alert',
  tenant: READS,
  'tenant move': 'by the login that owns the databases of the cells',
  webhook: 'where a tenant’s events go, and the secret by which it checks them: they permit no sign-in',
  keys: 'data keys, with the master key',
  company: DATA,
  user: DATA,
  coins: READS,
  cards: MONEY,
  'card-account': MONEY,
  'spend-rules': 'what cards may be used for: they move no money',
  payments: MONEY,
  refund: MONEY,
  dispute: MONEY,
  notice: MONEY,
  'change-request': MONEY,
  settlement: MONEY,
  tax: MONEY,
  events: READS,
  cell: 'by the login that owns the databases of the cells',
  directory: READS,
  'bank-account': MONEY,
  calendar: MONEY,
  statement: MONEY,
  suspense: MONEY,
  payout: MONEY,
  books: MONEY,
  journal: MONEY,
  'opening-balances': MONEY,
  approval: MONEY,
}

const commands = (await administrationCommands()).map((command) => command.replace('admin ', ''))

test.each(commands)(
  'svc admin %s asks for a signed-in administrator or manager of tenants, or is listed with a reason',
  async (command) => {
    const args = ARGUMENTS[command]
    const [group] = command.split(' ')
    if (!args) {
      const isWhoMayAct = ['operator', 'member', 'key', 'partner', 'merchant'].includes(group!)
      expect(OTHERS[command] ?? (isWhoMayAct ? undefined : OTHERS[group!]), command).toBeDefined()
      return
    }
    const file = join(live.folder, 'puppet.jwk')
    await writeFile(file, '{}')
    const given = args.map((each) => (each === 'JWK' ? file : each))
    const words = [...command.split(' '), ...given]
    const [unsignedOne, stranger] = MANAGES.test(command)
      ? ['in an operator’s name', 'one of the roles operations, operator, admin']
      : ['only a signed-in administrator', 'the role admin']
    expect(await refused(words)).toContain(unsignedOne)
    expect(await refused(words, as('vera'))).toContain(`This needs ${stranger}`)
  },
)
