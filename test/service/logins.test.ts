import type { Finding } from '@svc/app/doctor/finding'
import { openInstallation } from '@svc/app/installation'
import { readConfig } from '@svc/contract/config'
import { Database } from '@svc/platform/db/database'
import { NotDurable } from '@svc/platform/db/durable'
import { openLog } from '@svc/platform/log'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { Client, payloadOf } from '../harness/client.ts'
import { Browser, PASSWORD } from '../harness/console.ts'
import { type GuideServer, openGuideServer } from '../harness/guide-logins.ts'
import { handedOver } from '../harness/handed-over.ts'
import { runCli, type ServiceProcess, startProcess } from '../harness/processes.ts'
import { tokenOf } from '../harness/service.ts'

type Env = Readonly<Record<string, string>>

let server: GuideServer
let service: ServiceProcess
/** Of a process that serves the API and the console. */
let env: Env

const without = (from: Env, ...names: string[]): Env =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)))
/** The URL of a login, in the database that the guide's lines created. */
const connect = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

beforeAll(async () => {
  server = await openGuideServer()
  env = without(server.env, 'DATABASE_OWNER_URL')
  service = await startProcess({ ...env, DRAIN_DELAY_MS: '0' })
}, 120_000)
afterAll(async () => {
  await service?.end('SIGTERM')
  await server?.close()
})

/** A command of the command line with these settings; what it prints as JSON. */
async function svc(settings: Env, ...args: string[]) {
  const { code, stdout, stderr } = await runHere(['admin', ...args, '--json'], settings)
  expect([args, code], stderr).toEqual([args, 0])
  return JSON.parse(stdout)
}

test('with the logins of the guide, API, console and command line work without the owner’s login', async () => {
  const shop = ['--name', 'Shop', '--vpa', 'shop@bank', '--mcc', '5411']
  for (const name of ['asha', 'meera']) await operatorOf(name)
  const signed = { ...env, SVC_OPERATOR: 'asha', SVC_OPERATOR_PASSWORD: PASSWORD }
  const { merchant: created } = await svc(signed, 'merchant', 'create', ...shop)
  expect((await svc(env, 'merchant', 'list')).map(({ vpa }: { vpa: string }) => vpa)).toEqual(['shop@bank'])
  const client = await Client.open(service.baseUrl)
  const { credential } = await handedOver(
    { svc: ([, ...args], _input, more) => svc({ ...signed, ...more }, ...args) },
    client,
    created.merchantId,
  )
  const token = await tokenOf(client, credential.secret)
  const merchant = client.with({ authorization: `Bearer ${token}` })
  expect(payloadOf(await merchant.post('/api/v0/qr-code', { qrName: 'Till' })).qrName).toBe('Till')

  const browser = new Browser({ client })
  expect((await browser.signIn('asha')).status).toBe(200)
  expect((await browser.get('/overview?range=hour')).status).toBe(200)
  // On behalf of the merchant: a command in a batch of the service, in the operator's name.
  const order = { merchantId: created.merchantId, qrCode: { qrName: 'Desk' } }
  const { qrCodeId } = (await browser.post('/qr-codes', order)).json
  const entries = await rowsOf(
    `select actor, tenant_id as tenant from audit_log where target = '${qrCodeId}'`,
  )
  expect(entries.rows).toEqual([{ actor: 'operator asha', tenant: created.merchantId }])
  expect(service.written()).not.toMatch(/"level":(?:50|60)/)
})

const rowsOf = async (text: string): Promise<pg.QueryResult> => {
  const owner = await connect(server.env['DATABASE_OWNER_URL']!)
  try {
    return await owner.query(`set search_path = svc`).then(() => owner.query(text))
  } finally {
    await owner.end()
  }
}

/** Puts an operator with the password of the tests in place: the command line reads passwords from its standard input. */
async function operatorOf(name: string): Promise<void> {
  const { hashPassword } = await import('@svc/console-api/identity/password')
  const hash = await hashPassword(PASSWORD)
  const client = await connect(env['DATABASE_OPERATOR_URL']!)
  try {
    await client.query('set role svc_operator')
    await client.query(
      `insert into svc.operators (operator_id, name, role, password_hash, created_at) values ($1, $2, 'admin', $3, now())`,
      [`opr_${name}`, name, hash],
    )
  } finally {
    await client.end()
  }
}

test('each login of the guide has its role and no other, and cannot create temporary tables', async () => {
  const may = async (login: string) =>
    (
      await server.admin(`select rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as powers,
        array(select r from unnest(array['svc_owner', 'svc_service', 'svc_operator']) r
          where pg_has_role('${login}', r, 'member')) as roles from pg_roles where rolname = '${login}'`)
    ).rows[0]
  expect(await may('svc_migrator')).toEqual({ powers: false, roles: ['svc_owner'] })
  expect(await may('svc_app')).toEqual({ powers: false, roles: ['svc_service'] })
  expect(await may('svc_console')).toEqual({ powers: false, roles: ['svc_service', 'svc_operator'] })
  for (const name of ['DATABASE_URL', 'DATABASE_OPERATOR_URL']) {
    const client = await connect(env[name]!)
    await expect(client.query('create temp table t (n integer)')).rejects.toMatchObject({ code: '42501' })
    await client.end()
  }
})

test('in live mode the console is not served without the login of operators, and the message says what to do', async () => {
  for (const without_ of [
    without(server.env, 'DATABASE_OPERATOR_URL'),
    without(env, 'DATABASE_OPERATOR_URL'),
  ]) {
    const { code, stderr } = await runCli(['serve'], { ...without_, PORT: '0' })
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/DATABASE_OPERATOR_URL is required.*CONSOLE=off/s),
    ])
    expect(stderr).not.toContain('choose-')
  }
  const withoutConsole = { ...without(env, 'DATABASE_OPERATOR_URL'), CONSOLE: 'off', DRAIN_DELAY_MS: '0' }
  const api = await startProcess(withoutConsole)
  expect((await (await Client.open(api.baseUrl)).get('/readyz')).status).toBe(200)
  expect((await api.end('SIGTERM')).code).toBe(0)
})

test('a command of operators is rejected without their login, also when the owner’s is configured', async () => {
  for (const settings of [server.env, env]) {
    const { code, stderr } = await runHere(['admin', 'merchant', 'list'], {
      ...without(settings, 'DATABASE_OPERATOR_URL'),
      DATABASE_OPERATOR_URL: '',
    })
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/DATABASE_OPERATOR_URL is required in live mode/),
    ])
  }
})

/** What `svc admin doctor` finds that is not well, as `STATUS check`. */
async function doctor(settings: Env, ...args: string[]): Promise<{ code: number | null; found: string[] }> {
  const { code, stdout, stderr } = await runHere(['admin', 'doctor', ...args, '--json'], settings)
  const { findings } = JSON.parse(stdout || stderr) as { findings: Finding[] }
  const found = findings.filter(({ status }) => status !== 'PASS')
  return { code, found: found.map(({ status, check }) => `${status} ${check}`) }
}

test('svc admin doctor reports no failure on an installation set up as in the guide, also before its schema exists', async () => {
  const only = ['WARN replication', 'WARN rail_keys', 'WARN rail_keys', 'WARN rail_keys']
  expect(await doctor(server.env)).toEqual({ code: 0, found: only })
  expect(await doctor(server.env, '--preflight')).toEqual({ code: 0, found: only })
  await server.admin('create database unmigrated owner svc_migrator')
  const fresh = Object.fromEntries(
    Object.entries(server.env).map(([name, value]) => [name, value.replace(/\/svc$/, '/unmigrated')]),
  )
  expect(await doctor(fresh, '--preflight')).toEqual({ code: 0, found: only })
  expect(await doctor(fresh)).toMatchObject({
    code: 1,
    found: expect.arrayContaining(['FAIL schema', 'FAIL keys']),
  })
  await server.admin('drop database unmigrated')
})

test.each([
  ['grant svc_owner to svc_app', 'revoke svc_owner from svc_app', 'FAIL logins'],
  ['alter role svc_console superuser', 'alter role svc_console nosuperuser', 'FAIL logins'],
  ['revoke svc_operator from svc_console', 'grant svc_operator to svc_console', 'FAIL logins'],
  [
    'alter role svc_app set synchronous_commit = off',
    'alter role svc_app reset synchronous_commit',
    'FAIL durability',
  ],
  [
    `select pg_create_physical_replication_slot('left_behind', true)`,
    `select pg_drop_replication_slot('left_behind')`,
    'WARN replication_slots',
  ],
])('svc admin doctor detects what %s does', async (harm, repair, finding) => {
  await server.admin(harm)
  try {
    const { code, found } = await doctor(server.env)
    expect(found).toContain(finding)
    expect(code).toBe(finding.startsWith('FAIL') ? 1 : 0)
  } finally {
    await server.admin(repair)
  }
})

test('svc admin doctor detects a missing master key, a missing standby, and prints what to do', async () => {
  const other = { ...server.env, SVC_MASTER_KEY: Buffer.alloc(32, 9).toString('base64') }
  expect(await doctor(other)).toMatchObject({ code: 1, found: expect.arrayContaining(['FAIL keys']) })
  const rotating = {
    ...server.env,
    SVC_MASTER_KEY: `${other.SVC_MASTER_KEY},${server.env['SVC_MASTER_KEY']}`,
  }
  expect((await doctor(rotating)).found).toContain('WARN keys')
  const { code, stdout } = await runHere(['admin', 'doctor'], { ...server.env, REPLICATION: 'required' })
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^FAIL {2}replication .*REPLICATION=required/m)])
  expect(stdout).not.toContain('choose-')
})

test('in live mode svc admin doctor warns of each rail without keys, whose notices the service rejects', async () => {
  const keys = 'a-key-of-the-rail-with-more-than-32-characters'
  const warned = async (settings: Env) => {
    const { code, stdout } = await runHere(['admin', 'doctor', '--preflight'], { ...server.env, ...settings })
    return [code, stdout.match(/(?<=^WARN {2}rail_keys +)\S+/gm) ?? []]
  }
  expect(await warned({})).toEqual([0, ['UPI_RAIL_KEYS', 'BANK_RAIL_KEYS', 'CARD_RAIL_KEYS']])
  expect(await warned({ UPI_RAIL_KEYS: keys })).toEqual([0, ['BANK_RAIL_KEYS', 'CARD_RAIL_KEYS']])
  expect(await warned({ UPI_RAIL_KEYS: keys, BANK_RAIL_KEYS: keys, CARD_RAIL_KEYS: keys })).toEqual([0, []])
})

const log = openLog('silent', { write: () => undefined })
const LOGINS = { DATABASE_URL: 'svc_app', DATABASE_OPERATOR_URL: 'svc_console' }

test.each(Object.entries(LOGINS))(
  'a login of %s on which commits may be lost is rejected, while the owner’s and all others are safe',
  async (name, login) => {
    const database = () =>
      new Database({ url: env['DATABASE_URL']!, operatorUrl: env['DATABASE_OPERATOR_URL']! }, 4, log, {
        durable: 'optional',
      })
    const query = async () => {
      const opened = database()
      const work = { name: '', text: 'select 1' }
      try {
        await (name === 'DATABASE_URL' ? opened.directory(work) : opened.operate((tx) => tx.query(work)))
      } finally {
        await opened.close()
      }
    }
    await query()
    await server.admin(`alter role ${login} in database svc set synchronous_commit = off`)
    await expect(query()).rejects.toThrow(NotDurable)
    await expect(query()).rejects.toThrow(/synchronous_commit is off/)
    await server.admin(`alter role ${login} in database svc reset synchronous_commit`)
    await query()
  },
)

test('a shorter retention applies once a process with the login of operators has stored it', async () => {
  const kept = async () =>
    (await rowsOf(`select keep::text from retention where what = 'events'`)).rows[0] as unknown
  const shorter = { ...env, EVENTS_DAYS: '10', DRAIN_DELAY_MS: '0' }
  const api = await startProcess({ ...without(shorter, 'DATABASE_OPERATOR_URL'), CONSOLE: 'off' })
  expect(api.written()).toMatch(/"kept":\["events"\].*DATABASE_OPERATOR_URL/)
  expect(await kept()).toEqual({ keep: '400 days' })
  await api.end('SIGTERM')
  const both = await startProcess(shorter)
  expect(await kept()).toEqual({ keep: '240:00:00' })
  await both.end('SIGTERM')
})

test('a process does not start on a login of the service on which commits may be lost', async () => {
  await server.admin('alter role svc_app set synchronous_commit = off')
  const opening = openInstallation(readConfig(server.env), log, () => undefined)
  await expect(opening).rejects.toThrow(/synchronous_commit is off/)
  await server.admin('alter role svc_app reset synchronous_commit')
})

test('a running process uses no new connection on which commits may be lost, and continues once it is safe again', async () => {
  const client = await Client.open(service.baseUrl)
  const closed = `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'svc_app'`
  await server.admin('alter role svc_app set synchronous_commit = off')
  await server.admin(closed)
  await expect.poll(async () => (await client.get('/readyz')).status, { timeout: 10_000 }).toBe(503)
  await expect.poll(() => service.written()).toContain('synchronous_commit is off')
  await server.admin('alter role svc_app reset synchronous_commit')
  await expect.poll(async () => (await client.get('/readyz')).status, { timeout: 10_000 }).toBe(200)
})

test('synchronous_commit=local is rejected where standbys are named, and allowed where none is', async () => {
  const named = await openGuideServer({ synchronous_commit: 'local' })
  try {
    const open = async () => {
      const installation = await openInstallation(readConfig(named.env), log, () => undefined)
      await installation.release()
    }
    await open()
    await named.admin(`alter system set synchronous_standby_names = 'a_standby'`)
    await named.admin('select pg_reload_conf()')
    const refused = () => open().catch((error: Error) => error.message)
    await expect.poll(refused, { timeout: 10_000 }).toMatch(/synchronous_commit is local/)
  } finally {
    await named.close()
  }
}, 120_000)
