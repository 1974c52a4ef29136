import { createSecretKey, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { hashPassword } from '@svc/console-api/identity/password'
import { newId } from '@svc/contract/id-kinds'
import type { JweKey } from '@svc/jwe/keys'
import { CuttingProxy } from '../../test/harness/cutting-proxy.ts'
import type { Target } from './caller.ts'
import { makePlace, type Place } from './file-system.ts'
import { type Environment, Member, svc } from './members.ts'
import { Receiver } from './receiver.ts'
import { DatabaseServer } from './server.ts'

export interface Merchant {
  readonly merchantId: string
  readonly apiKey: string
}

export interface Partner {
  readonly partnerId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly sharedKey: JweKey
  readonly companyId: string
  readonly cardAccountId: string
  /** Holders of coins: one for each group of callers. */
  readonly userIds: readonly string[]
}

/** The database of a run, past everything that breaks. */
export type Server = Pick<DatabaseServer, 'query' | 'connect'>

/** What any run is made on: a database, processes of the service, and its tenants. */
export interface AnyBed {
  readonly server: Server
  readonly members: readonly Member[]
  /** Where callers send: by default to the members themselves. */
  readonly front?: readonly Target[]
  readonly receiver: Receiver
  readonly railKey: string
  readonly merchants: readonly Merchant[]
  readonly partner: Partner
  /** Runs a command of the command line on this installation. */
  readonly operate: (...args: string[]) => Promise<unknown>
  /** The same on what else serves these tenants: the other cell. */
  readonly alsoOperate?: readonly ((...args: string[]) => Promise<unknown>)[]
  close(): Promise<void>
}

/** One PostgreSQL and a proxy before it. */
export interface Bed extends AnyBed {
  readonly place: Place
  readonly server: DatabaseServer
  readonly proxy: CuttingProxy
}

export interface BedOptions {
  readonly processes: number
  readonly groups: number
  /** Of another version than this one. */
  readonly program?: string
  /** Of the service, besides those of every run. */
  readonly settings?: Environment
  /** Whether tenants have webhooks: by default they have. */
  readonly webhooks?: boolean
}

/** Live mode with three logins and several processes, set up as `docs/guides/operate.md` says. */
export async function makeBed({
  processes,
  groups,
  program,
  settings,
  webhooks = true,
}: BedOptions): Promise<Bed> {
  const place = await makePlace()
  const undo: (() => Promise<unknown>)[] = [() => place.remove()]
  const close = async () => {
    for (const step of undo.reverse()) await step()
    undo.length = 0
  }
  try {
    const server = await DatabaseServer.open(join(place.directory, 'data'))
    undo.push(() => server.close())
    await makeLogins(server)
    const proxy = await CuttingProxy.open(server)
    undo.push(() => proxy.close())
    const receiver = await Receiver.open(place.logs)
    undo.push(() => receiver.close())
    const railKey = randomBytes(24).toString('hex')
    const { host, port } = server
    const past = `localhost/svc?host=${encodeURIComponent(host)}&port=${port}`
    const env = {
      SVC_MODE: 'live',
      SVC_MASTER_KEY: randomBytes(32).toString('base64'),
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      APPROVAL_ABOVE_RUPEES: 'none',
    }
    const operator = {
      ...env,
      ...loginUrls((login) => `postgresql://${login}@${past}`),
      DATABASE_OWNER_URL: `postgresql://svc_migrator@${past}`,
    }
    await svc(operator, 'admin', 'migrate')
    const operate = await inOperatorsName(server, operator)
    const tenants = await makeTenants(operate, server, webhooks ? receiver : undefined, groups)
    const memberEnv: Environment = {
      ...env,
      ...loginUrls((login) => `postgresql://${login}@127.0.0.1:${proxy.port}/svc`),
      UPI_RAIL_KEYS: railKey,
      PUBLIC_URL: 'https://svc.example.com',
      RATE_LIMIT_PER_SECOND: '0',
      NODE_EXTRA_CA_CERTS: receiver.certificate,
      ...settings,
    }
    const members: Member[] = []
    undo.push(() => Promise.all(members.map((member) => member.stop())))
    for (let n = 0; n < processes; n++)
      members.push(await Member.open(memberEnv, join(place.logs, `process-${n}`), program))
    return { place, server, proxy, members, receiver, railKey, ...tenants, operate, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The settings of a process that serves everything, by the URL of a login. */
export const loginUrls = (url: (login: string) => string) => ({
  DATABASE_URL: url('svc_app'),
  DATABASE_OPERATOR_URL: url('svc_console'),
  DATABASE_RAIL_URL: url('svc_notices'),
})

/** The logins of `docs/guides/operate.md`, and the database. */
export async function makeLogins(server: Server, password = 'lab'): Promise<void> {
  const client = await server.connect('postgres')
  await client.query(
    'create role svc_owner; create role svc_service; create role svc_operator; create role svc_rail',
  )
  for (const login of ['svc_migrator', 'svc_app', 'svc_console', 'svc_notices'])
    await client.query(`create role ${login} login password '${password}'`)
  await client.query('grant svc_owner to svc_migrator; grant svc_service to svc_app')
  await client.query('grant svc_service, svc_operator to svc_console; alter role svc_console noinherit')
  await client.query('grant svc_service, svc_rail to svc_notices')
  await client.query('create database svc owner svc_migrator')
  await client.end()
}

type Operate = AnyBed['operate']

const SHOW_SECRETS = /^(?:merchant|partner|webhook) create |^partner key issue-shared /

/** Runs `svc admin` in the name of a new operator, who enters money without a second person. Nothing serves links yet. */
export async function inOperatorsName(server: Server, env: Environment): Promise<Operate> {
  const password = randomBytes(12).toString('hex')
  const operator = [newId('opr', Date.now(), randomBytes), await hashPassword(password)]
  const client = await server.connect('svc')
  await client.query(
    `insert into svc.operators (operator_id, name, role, password_hash, created_at) values ($1, 'lab', 'operator', $2, now())`,
    operator,
  )
  await client.end()
  const named = { ...env, SVC_OPERATOR: 'lab', SVC_OPERATOR_PASSWORD: password }
  // In live mode secrets of tenants are handed over by the portal, which does not run yet.
  const showing = { ...named, SVC_MODE: 'sandbox' }
  return (...args) => svc(SHOW_SECRETS.test(args.join(' ')) ? showing : named, 'admin', ...args)
}

export async function makeTenants(
  operate: Operate,
  server: Server,
  receiver: Receiver | undefined,
  groups: number,
): Promise<{ merchants: Merchant[]; partner: Partner }> {
  const made = async (...args: string[]) => (await operate(...args)) as Record<string, string>
  const registered = async (...args: string[]) => {
    const made = (await operate(...args)) as Record<string, Record<string, string>>
    return { ...made['merchant'], ...made['partner'], ...made['credential'] }
  }
  const hear = async (tenantId: string) => {
    if (!receiver) return
    const { secret } = await made('webhook', 'create', tenantId, '--url', receiver.url(tenantId))
    receiver.expect(tenantId, secret!)
  }
  const merchants: Merchant[] = []
  for (const name of ['corner', 'harbour']) {
    const args = ['--name', name, '--vpa', `${name}.shop@bank`, '--mcc', '5411']
    const { merchantId, secret } = await registered('merchant', 'create', ...args)
    merchants.push({ merchantId: merchantId!, apiKey: secret! })
    await hear(merchantId!)
  }
  const plan = ['--name', 'Chaos Cards', '--product', 'incentive']
  const {
    partnerId,
    credentialId: clientId,
    secret: clientSecret,
  } = await registered('partner', 'create', ...plan)
  await hear(partnerId!)
  const { kid, alg, enc, k } = await made('partner', 'key', 'issue-shared', partnerId!)
  const { companyId } = await made('company', 'create', partnerId!, '--name', 'Acme Industries')
  const { cardAccountId } = await made('card-account', 'create', companyId!, '--product', 'incentive')
  const PAID = ['--reference', 'CHAOS0000001', '--reason', 'float of the run']
  await made('card-account', 'fund', cardAccountId!, '--amount', '1000000', ...PAID)
  // One by one through the command line they would take longer than the rest.
  const users = await server.query<{ user_id: string }>(
    `insert into users (user_id, partner_id, company_id, first_name, created_at)
     select 'usr_' || lpad(n::text, 26, '0'), $1, $2, 'Asha', now() from generate_series(1, $3::int) n returning user_id`,
    [partnerId, companyId, groups],
  )
  const sharedKey = { kid, alg, enc, key: createSecretKey(Buffer.from(k!, 'base64url')) } as JweKey
  return {
    merchants,
    partner: {
      partnerId: partnerId!,
      clientId: clientId!,
      clientSecret: clientSecret!,
      sharedKey,
      companyId: companyId!,
      cardAccountId: cardAccountId!,
      userIds: users.map((user) => user.user_id),
    },
  }
}
