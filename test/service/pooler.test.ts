import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { examine } from '@svc/app/doctor/doctor'
import { openInstallation } from '@svc/app/installation'
import { readConfig } from '@svc/contract/config'
import { Database } from '@svc/platform/db/database'
import { TransactionPooling } from '@svc/platform/db/session'
import { openLog } from '@svc/platform/log'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../harness/free-port.ts'
import { newDatabase, type TestDatabase } from '../harness/service.ts'

const isInstalled = ((): boolean => {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
const log = openLog('silent', { write: () => undefined })

/** PgBouncer in front of a database; returns the URL through it. */
async function throughPgBouncer(db: TestDatabase, mode: 'session' | 'transaction'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-pooler-'))
  await chmod(folder, 0o755)
  const port = await freePort()
  const users = join(folder, 'users.txt')
  await writeFile(users, '"postgres" ""\n')
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
* = host=${db.host} port=${db.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = 20
ignore_startup_parameters = extra_float_digits,options
`,
  )
  // PgBouncer refuses to be root, who may own the server's socket: in a user namespace root is called nobody.
  const { uid, gid } = await stat(join(db.host, `.s.PGSQL.${db.port}`))
  const asNobody = ['--user', '--map-user=65534', '--map-group=65534', 'pgbouncer']
  const child: ChildProcess =
    uid === 0
      ? spawn('unshare', [...asNobody, '-q', file], { stdio: 'ignore' })
      : spawn('pgbouncer', ['-q', file], { stdio: 'ignore', ...(process.getuid?.() === 0 && { uid, gid }) })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  const listens = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
  await vi.waitUntil(listens, { timeout: 20_000, interval: 50 })
  return `postgresql://postgres@127.0.0.1:${port}/${db.database}`
}

const open = (url: string, others: Record<string, string> = {}) =>
  openInstallation(readConfig({ DATABASE_URL: url, ...others }), log, () => undefined)

test.skipIf(!isInstalled)(
  'through PgBouncer in session mode each connection has the service’s role and settings',
  async () => {
    const db = await newDatabase()
    const url = await throughPgBouncer(db, 'session')
    await (await open(url)).release()
    const database = new Database({ url, operatorUrl: url }, 4, log)
    onTestFinished(() => database.close())
    const text = `select current_user::text as role, current_setting('search_path') as path, current_setting('lock_timeout') as wait`
    const sessionQuery = { name: 'test_session', text }
    const rows = await Promise.all(Array.from({ length: 12 }, () => database.directory(sessionQuery)))
    for (const [row] of rows) expect(row).toEqual({ role: 'svc_service', path: 'svc', wait: '2s' })
    expect(await database.operate((tx) => tx.query(sessionQuery))).toEqual([
      { role: 'svc_operator', path: 'svc', wait: '2s' },
    ])
  },
)

test.skipIf(!isInstalled)(
  'a pooler in transaction mode is rejected at the start, with what to set; a direct connection is not',
  async () => {
    const db = await newDatabase()
    const url = await throughPgBouncer(db, 'transaction')
    await expect(open(url)).rejects.toThrow(TransactionPooling)
    await expect(open(url)).rejects.toThrow(/pool_mode = session/)
    await (await open(db.url)).release()
  },
)

test.skipIf(!isInstalled)(
  'a pooler in transaction mode is rejected at the start for every login, and named by its setting',
  async () => {
    const db = await newDatabase()
    const url = await throughPgBouncer(db, 'transaction')
    for (const setting of ['DATABASE_OPERATOR_URL', 'DATABASE_OWNER_URL'])
      await expect(open(db.url, { [setting]: url })).rejects.toThrow(`${setting} leads through a pooler`)
    const throughSessions = await throughPgBouncer(db, 'session')
    await (await open(db.url, { DATABASE_OPERATOR_URL: throughSessions })).release()
  },
)

test.skipIf(!isInstalled)(
  'a report is not read through a pooler in transaction mode but on the primary; through one in session mode it is read',
  async () => {
    const db = await newDatabase()
    const readsThrough = async (mode: 'session' | 'transaction') => {
      const replicaUrl = await throughPgBouncer(db, mode)
      const database = new Database({ url: db.url, operatorUrl: db.url, replicaUrl }, 4, log)
      onTestFinished(() => database.close())
      const text = 'select current_user::text as role'
      expect(await database.report((tx) => tx.query({ name: 'test_role', text }))).toEqual([
        { role: 'svc_operator' },
      ])
      return database.replica!.reads
    }
    expect(await readsThrough('transaction')).toEqual({ replica: 0, behind: 0, unavailable: 1 })
    expect(await readsThrough('session')).toEqual({ replica: 1, behind: 0, unavailable: 0 })
  },
)

test.skipIf(!isInstalled)(
  'svc admin doctor fails for a login behind a pooler in transaction mode, and warns where reports are to be read through one',
  async () => {
    const db = await newDatabase()
    const url = await throughPgBouncer(db, 'transaction')
    const findingsOf = async (check: string, others: Record<string, string>) => {
      const config = readConfig({ DATABASE_URL: db.url, DATABASE_OPERATOR_URL: db.url, ...others })
      const address = {
        url: db.url,
        operatorUrl: config.DATABASE_OPERATOR_URL!.reveal(),
        ...(config.DATABASE_READ_URL && { replicaUrl: config.DATABASE_READ_URL.reveal() }),
      }
      const findings = await examine(config, address, 'preflight')
      return findings.filter((finding) => finding.check === check)
    }
    expect(await findingsOf('sessions', {})).toMatchObject([{ status: 'PASS' }, { status: 'PASS' }])
    expect(await findingsOf('sessions', { DATABASE_OPERATOR_URL: url })).toMatchObject([
      { status: 'PASS' },
      { status: 'FAIL', detail: expect.stringContaining('DATABASE_OPERATOR_URL leads through a pooler') },
    ])
    expect(await findingsOf('standby_for_reads', { DATABASE_READ_URL: url })).toMatchObject([
      { status: 'WARN', detail: expect.stringContaining('DATABASE_READ_URL leads through a pooler') },
    ])
  },
)
