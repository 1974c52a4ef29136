import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type EmbeddedInternals,
  type EmbeddedOptions,
  type EmbeddedServer,
  findSystemPostgres,
  openEmbedded,
  openEmbeddedWith,
} from '@svc/embedded-postgres/embedded'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

// Far beyond what a test takes: it only ends a wait in vain.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const isRoot = process.getuid?.() === 0
const nobody = 65534
const system15 = findSystemPostgres().find(({ version }) => version.startsWith('15.'))
const require = createRequire(import.meta.url)
const embeddedModule = path.resolve(import.meta.dirname, '../src/embedded.ts')
const npmPackage = path.resolve(
  path.dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
  '..',
)

let scratch: string
let dataDir: string
const children: ChildProcess[] = []

beforeEach(() => {
  scratch = realpathSync(mkdtempSync(path.join(tmpdir(), 'embedded-')))
  chmodSync(scratch, 0o755)
  dataDir = path.join(scratch, 'data')
})

afterEach(async () => {
  for (const child of children.splice(0)) await killHard(child)
  for (const file of readdirSync(scratch, { recursive: true, encoding: 'utf8' })) {
    if (path.basename(file) !== 'postmaster.pid') continue
    const pid = pidIn(path.join(scratch, file))
    if (servesScratch(pid)) process.kill(pid, 'SIGKILL')
    await eventually(() => !servesScratch(pid))
  }
  rmSync(scratch, { recursive: true, force: true, maxRetries: 10 })
})

const pidIn = (file: string) => Number.parseInt(readFileSync(file, 'utf8'), 10)
const pidFile = () => path.join(dataDir, 'postgres/postmaster.pid')

/** A test may have put any process's id in the file: only a server of this test is ours to end. */
function servesScratch(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(scratch)
  } catch {
    return false
  }
}

/** A process that has ended counts as ended, also while the machine's first process has not noticed it. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

/** Waits for something that must come; the test's own limit ends a wait in vain. */
async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(5)
}

async function killHard(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

async function query<Row extends object>(
  server: Pick<EmbeddedServer, 'host' | 'port'>,
  sql: string,
): Promise<Row[]> {
  const client = new Client({ host: server.host, port: server.port, user: 'postgres', database: 'postgres' })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end().catch(() => {})
  }
}

const childProgram = `
  const { openEmbeddedWith } = await import(process.env.EMBEDDED_MODULE)
  const say = (what) => console.log(JSON.stringify(what))
  const [options, internals] = JSON.parse(process.env.EMBEDDED_ARGUMENTS)
  try {
    const server = await openEmbeddedWith(options, internals)
    say(server)
    process.stdin.once('data', async () => { say({ released: await server.release() }); process.exit(0) })
  } catch (error) { say({ error: error.message }); process.exit(1) }
`

interface Child {
  process: ChildProcess
  /** The next thing it says: the server it opened, its error, or how it released. */
  next(): Promise<Partial<EmbeddedServer> & { error?: string; released?: string }>
  release(): Promise<string | undefined>
}

/** Opens the server in a process of its own, as nobody where `asNobody` says so. */
function openInChild(
  options: EmbeddedOptions,
  { asNobody = false, ...internals }: EmbeddedInternals & { asNobody?: boolean } = {},
): Child {
  const tsx = require.resolve('tsx')
  const node = [process.execPath, '--import', `file://${tsx}`, '--input-type=module', '-e', childProgram]
  const user = asNobody ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] : []
  const [command = '', ...args] = [...user, ...node]
  const child = spawn(command, args, {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      EMBEDDED_MODULE: embeddedModule,
      EMBEDDED_ARGUMENTS: JSON.stringify([options, internals]),
    },
  })
  children.push(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next: Child['next'] = async () => {
    const line = await lines.next()
    if (line.done) throw new Error('the child ended without a word')
    return JSON.parse(line.value)
  }
  return {
    process: child,
    next,
    async release() {
      child.stdin.write('release\n')
      return (await next()).released
    },
  }
}

/** A copy of the npm package, without its library links when `links` is false. */
function copyPackage(to: string, links: boolean): string {
  cpSync(npmPackage, to, { recursive: true, verbatimSymlinks: true })
  if (!links) for (const link of packageLinks(to)) rmSync(link, { force: true })
  return to
}

const packageLinks = (dir: string) =>
  (JSON.parse(readFileSync(path.join(dir, 'native/pg-symlinks.json'), 'utf8')) as { target: string }[]).map(
    ({ target }) => path.join(dir, target),
  )

const engines: [string, Pick<EmbeddedOptions, 'binaries'>][] = [
  ['the npm package', { binaries: 'package' }],
  ...(system15
    ? [['PostgreSQL 15', { binaries: { binDir: system15.binDir } }] as (typeof engines)[number]]
    : []),
]

describe.each(engines)('with %s', (_, engine) => {
  test('an empty directory becomes a durable, local-only server', async () => {
    const server = await openEmbedded({ dataDir, ...engine })
    expect(server.how).toBe('created')
    const [row] = await query(
      server,
      `select current_setting('fsync') as fsync, current_setting('data_checksums') as checksums,
              current_setting('listen_addresses') as listen, current_setting('unix_socket_permissions') as mode,
              current_setting('jit') as jit, current_setting('max_connections') as connections,
              current_setting('server_encoding') as encoding, current_setting('server_version') as version,
              (select datcollate from pg_database where datname = 'postgres') as locale, session_user as who`,
    )
    expect(row).toEqual({
      fsync: 'on',
      checksums: 'on',
      listen: '',
      mode: '0700',
      jit: 'off',
      connections: '100',
      encoding: 'UTF8',
      version: expect.stringContaining(server.version),
      locale: 'C',
      who: 'postgres',
    })
    expect(await server.release()).toBe('stopped')
  })

  test('what was committed is there after a stop and a start', async () => {
    const first = await openEmbedded({ dataDir, ...engine })
    await query(first, 'create table kept as select 42 as kept_value')
    await first.release()
    const second = await openEmbedded({ dataDir, ...engine })
    expect(second.how).toBe('started')
    expect(await query(second, 'select kept_value from kept')).toEqual([{ kept_value: 42 }])
    await second.release()
  })

  test('a server whose postmaster was killed recovers on the next open', async () => {
    const first = await openEmbedded({ dataDir, ...engine })
    await query(first, 'create table kept as select 42 as kept_value')
    process.kill(first.pid, 'SIGKILL')
    const second = await openEmbedded({ dataDir, ...engine })
    expect(second.how).toBe('started')
    expect(second.pid).not.toBe(first.pid)
    expect(await query(second, 'select kept_value from kept')).toEqual([{ kept_value: 42 }])
    await first.release()
    expect(await second.release()).toBe('stopped')
  })
})

describe('stopping', () => {
  test('release returns when the postmaster has ended and left its lock file', async () => {
    const server = await openEmbedded({ dataDir })
    await server.release()
    expect(isRunning(server.pid)).toBe(false)
    expect(existsSync(pidFile())).toBe(false)
  })

  test('a second release gives the first answer', async () => {
    const server = await openEmbedded({ dataDir })
    expect(await Promise.all([server.release(), server.release()])).toEqual(['stopped', 'stopped'])
  })

  test('release leaves the server to another process that uses it, and that one stops it', async () => {
    const server = await openEmbedded({ dataDir })
    const other = openInChild({ dataDir })
    expect((await other.next()).how).toBe('adopted')
    expect(await server.release()).toBe('left running')
    expect(isRunning(server.pid)).toBe(true)
    expect(await other.release()).toBe('stopped')
    expect(isRunning(server.pid)).toBe(false)
  })

  test('two opens in one process count as two', async () => {
    const [one, two] = [await openEmbedded({ dataDir }), await openEmbedded({ dataDir })]
    expect([one.how, two.how]).toEqual(['created', 'adopted'])
    expect(await one.release()).toBe('left running')
    expect(await two.release()).toBe('stopped')
  })

  test('a process that dies no longer counts as a user', async () => {
    const server = await openEmbedded({ dataDir })
    const other = openInChild({ dataDir })
    await other.next()
    await killHard(other.process)
    await eventually(async () => (await useLocks(server)) === 1)
    expect(await server.release()).toBe('stopped')
  })

  test('opening while another stops the server gives a working server', async () => {
    const first = await openEmbedded({ dataDir })
    const [outcome, second] = await Promise.all([first.release(), openEmbedded({ dataDir })])
    expect(second.how).toBe(outcome === 'stopped' ? 'started' : 'adopted')
    expect(await query(second, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(await second.release()).toBe('stopped')
  })
})

const useLocks = async (server: EmbeddedServer) =>
  (await query(server, `select 1 from pg_locks where locktype = 'advisory' and mode = 'ShareLock'`)).length

describe('crashes', () => {
  test('the server outlives a killed service and the next open adopts it', async () => {
    const service = openInChild({ dataDir })
    const first = await service.next()
    expect(first.how).toBe('created')
    process.kill(-(service.process.pid ?? 0), 'SIGKILL')
    await once(service.process, 'exit')
    const second = await openEmbedded({ dataDir })
    expect(second).toMatchObject({ how: 'adopted', pid: first.pid })
    expect(await second.release()).toBe('stopped')
  })

  test.each(['the service alone', 'the service and initdb'])(
    'creation broken off by a kill of %s is done again, and nothing is left over',
    async (victims) => {
      const service = openInChild({ dataDir })
      await eventually(() => unfinished().some((dir) => existsSync(path.join(dataDir, dir, 'PG_VERSION'))))
      process.kill(
        victims === 'the service alone' ? (service.process.pid ?? 0) : -(service.process.pid ?? 0),
        'SIGKILL',
      )
      await once(service.process, 'exit')
      expect(existsSync(path.join(dataDir, 'postgres'))).toBe(false)
      const server = await openEmbedded({ dataDir })
      expect(server.how).toBe('created')
      expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }])
      expect(unfinished()).toEqual([])
      await server.release()
    },
  )

  test.each([
    ['a process that has ended', () => 2 ** 22 + 1],
    ['a living process that is no server', stranger],
  ])('a lock file left by a crash that names %s does not stop the start', async (_, pid) => {
    const first = await openEmbedded({ dataDir })
    const content = readFileSync(pidFile(), 'utf8')
    const socketLock = path.join(first.host, '.s.PGSQL.5432.lock')
    const socketLockContent = readFileSync(socketLock, 'utf8')
    await first.release()
    const other = String(pid())
    writeFileSync(pidFile(), content.replace(/^\d+/, other))
    writeFileSync(socketLock, socketLockContent.replace(/^\d+/, other))
    for (const file of [pidFile(), socketLock]) {
      const { uid, gid } = statSync(path.dirname(file))
      chownSync(file, uid, gid)
      chmodSync(file, 0o600)
    }
    const second = await openEmbedded({ dataDir })
    expect(second.how).toBe('started')
    expect(await second.release()).toBe('stopped')
  })

  test('the start after a crash waits for a session that outlives the dead server', async () => {
    const first = await openEmbedded({ dataDir })
    const client = new Client({ host: first.host, user: 'postgres', database: 'postgres' })
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const session = rows[0]?.pid ?? 0
    process.kill(session, 'SIGSTOP')
    process.kill(first.pid, 'SIGKILL')
    const opening = openEmbedded({ dataDir })
    await eventually(() =>
      readFileSync(path.join(dataDir, 'postgres.log'), 'utf8').includes('shared memory block'),
    )
    process.kill(session, 'SIGCONT')
    const second = await opening
    expect(second.how).toBe('started')
    await first.release()
    expect(await second.release()).toBe('stopped')
  })

  test('a user whose session was ended by a crash of another session still counts', async () => {
    const server = await openEmbedded({ dataDir })
    const other = openInChild({ dataDir })
    await other.next()
    const client = new Client({ host: server.host, user: 'postgres', database: 'postgres' })
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()))
    process.kill(rows[0]?.pid ?? 0, 'SIGKILL')
    await ended
    await eventually(async () => (await useLocks(server).catch(() => 0)) === 2)
    expect(await server.release()).toBe('left running')
    expect(await other.release()).toBe('stopped')
  })
})

/** Not this process: PostgreSQL itself knows that its parent cannot be the old server. */
function stranger(): number {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  children.push(child)
  return child.pid ?? 0
}

const unfinished = () =>
  existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name.startsWith('postgres.unfinished-')) : []

describe('several processes at once', () => {
  test('of three that open an empty directory one creates, and all get the same working server', async () => {
    const opened = [1, 2, 3].map(() => openInChild({ dataDir }))
    const servers = await Promise.all(opened.map((child) => child.next()))
    expect(servers.map(({ how }) => how).sort()).toEqual(['adopted', 'adopted', 'created'])
    expect(new Set(servers.map(({ pid }) => pid)).size).toBe(1)
    for (const { host = '', port = 0 } of servers) {
      expect(await query({ host, port }, 'select 1 as one')).toEqual([{ one: 1 }])
    }
    const released: (string | undefined)[] = []
    for (const child of opened) released.push(await child.release())
    expect(released).toEqual(['left running', 'left running', 'stopped'])
  })

  test('of three that open a crashed cluster one starts it, and all get the same server', async () => {
    const crashed = await openEmbedded({ dataDir })
    process.kill(crashed.pid, 'SIGKILL')
    const servers = await Promise.all([1, 2, 3].map(() => openEmbedded({ dataDir })))
    expect(servers.map(({ how }) => how).sort()).toEqual(['adopted', 'adopted', 'started'])
    expect(new Set(servers.map(({ pid }) => pid)).size).toBe(1)
    await Promise.all([crashed, ...servers].map((server) => server.release()))
    expect(isRunning(servers[0]?.pid ?? 0)).toBe(false)
  })
})

describe('places', () => {
  test.each([
    ['too long for a socket', () => path.join(scratch, 'long-'.repeat(20))],
    ['with a comma and a quote', () => path.join(scratch, 'a,b"c')],
  ])('a directory whose path is %s gets its socket in a private directory elsewhere', async (_, dir) => {
    dataDir = dir()
    const first = await openEmbedded({ dataDir })
    expect(first.host.startsWith(dataDir)).toBe(false)
    expect(statSync(first.host).mode & 0o777).toBe(0o700)
    const second = await openEmbedded({ dataDir })
    expect(second).toMatchObject({ how: 'adopted', pid: first.pid, host: first.host })
    await first.release()
    expect(await second.release()).toBe('stopped')
    rmSync(first.host, { recursive: true })
  })

  test.runIf(isRoot)('a private socket directory that a stranger made first is refused', async () => {
    dataDir = path.join(scratch, 'long-'.repeat(20))
    const { host, release } = await openEmbedded({ dataDir })
    await release()
    chownSync(host, 12345, 12345)
    await expect(openEmbedded({ dataDir })).rejects.toThrow(/belongs to user 12345/)
    rmSync(host, { recursive: true })
  })

  test('a directory with other content in place of the cluster is left alone', async () => {
    mkdirSync(path.join(dataDir, 'postgres'), { recursive: true })
    writeFileSync(path.join(dataDir, 'postgres/letter.txt'), 'dear')
    await expect(openEmbedded({ dataDir })).rejects.toThrow(/holds no PostgreSQL cluster. Move it away/)
    expect(readdirSync(path.join(dataDir, 'postgres'))).toEqual(['letter.txt'])
  })

  test.runIf(system15)('a cluster of another major version is refused by both names', async () => {
    const made = await openEmbedded({ dataDir, binaries: { binDir: system15?.binDir ?? '' } })
    await made.release()
    await expect(openEmbedded({ dataDir, binaries: 'package' })).rejects.toThrow(
      /made by PostgreSQL 15, and .* PostgreSQL 18\..*pg_dumpall/s,
    )
    const system = await openEmbedded({ dataDir, binaries: 'system' })
    expect(system.version).toMatch(/^15\./)
    await system.release()
  })

  test('a file in place of the data directory is a clear error', async () => {
    writeFileSync(dataDir, '')
    await expect(openEmbedded({ dataDir })).rejects.toThrow(
      /Cannot write to the data directory .* choose another/,
    )
  })
})

describe('programs', () => {
  test('without the package the error says what to do', async () => {
    await expect(
      openEmbeddedWith({ dataDir, binaries: 'package' }, { packageDir: path.join(scratch, 'none') }),
    ).rejects.toThrow(/npm install.*DATABASE_URL/)
  })

  test.runIf(system15)('without the package the system’s PostgreSQL is used', async () => {
    const server = await openEmbeddedWith({ dataDir }, { packageDir: path.join(scratch, 'none') })
    expect(server.version).toBe(findSystemPostgres()[0]?.version)
    await server.release()
  })

  test('library links that a blocked install script did not make are made', async () => {
    const packageDir = copyPackage(path.join(scratch, 'package'), false)
    const server = await openEmbeddedWith({ dataDir, binaries: 'package' }, { packageDir })
    expect(packageLinks(packageDir).every(existsSync)).toBe(true)
    await server.release()
  })

  test('a setting that the server refuses is reported with the end of its log', async () => {
    await expect(openEmbedded({ dataDir, settings: { max_connections: 'many' } })).rejects.toThrow(
      /did not start .*invalid value for parameter "max_connections": "many"/s,
    )
    const server = await openEmbedded({ dataDir, settings: { max_connections: '20' } })
    expect(await query(server, 'show max_connections')).toEqual([{ max_connections: '20' }])
    await server.release()
  })
})

const ownerOf = (file: string) => statSync(file).uid
const lockedDir = () => {
  const dir = path.join(scratch, 'locked')
  mkdirSync(dir, { mode: 0o700 })
  return dir
}

describe.runIf(isRoot)('as root', () => {
  test('in a user namespace the server works under a directory that only root may enter, and root owns its files', async () => {
    dataDir = path.join(lockedDir(), 'data')
    const server = await openEmbeddedWith({ dataDir }, { ways: ['unshare'] })
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(ownerOf(path.join(dataDir, 'postgres/PG_VERSION'))).toBe(0)
    expect(await server.release()).toBe('stopped')
  })

  test('without user namespaces the server and its files belong to nobody', async () => {
    const server = await openEmbeddedWith({ dataDir }, { ways: ['setuid'] })
    expect(ownerOf(path.join(dataDir, 'postgres/PG_VERSION'))).toBe(nobody)
    expect(ownerOf(`/proc/${server.pid}`)).toBe(nobody)
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }])
    process.kill(server.pid, 'SIGKILL')
    const again = await openEmbeddedWith({ dataDir }, { ways: ['setuid'] })
    expect(again.how).toBe('started')
    await server.release()
    expect(await again.release()).toBe('stopped')
  })

  test('where no way works the error names each and says what to do', async () => {
    dataDir = path.join(lockedDir(), 'data')
    await expect(openEmbeddedWith({ dataDir }, { ways: ['setuid'] })).rejects.toThrow(
      /user 65534 may not enter .*ordinary user.*DATABASE_URL/,
    )
  })

  test('a cluster made in one way opens in the other, and back', async () => {
    const ways = ['unshare', 'setuid', 'unshare'] as const
    for (const [turn, way] of ways.entries()) {
      const server = await openEmbeddedWith({ dataDir }, { ways: [way] })
      expect(ownerOf(path.join(dataDir, 'postgres'))).toBe(way === 'setuid' ? nobody : 0)
      await query(server, `create table turn_${turn} ()`)
      expect(await query(server, `select from pg_tables where tablename like 'turn%'`)).toHaveLength(turn + 1)
      await server.release()
    }
  })

  test('a cluster made by an ordinary user stays that user’s', async () => {
    mkdirSync(dataDir)
    chownSync(dataDir, nobody, nobody)
    const theirs = openInChild({ dataDir }, { asNobody: true })
    expect(await theirs.next()).toMatchObject({ how: 'created' })
    await theirs.release()
    const server = await openEmbedded({ dataDir })
    expect(server.how).toBe('started')
    expect(ownerOf(`/proc/${server.pid}`)).toBe(nobody)
    await server.release()
    const again = openInChild({ dataDir }, { asNobody: true })
    expect(await again.next()).toMatchObject({ how: 'started' })
    expect(await again.release()).toBe('stopped')
  })

  test('programs under a directory that only root may enter are copied to where nobody can run them', async () => {
    const packageDir = copyPackage(path.join(lockedDir(), 'package'), false)
    const server = await openEmbeddedWith({ dataDir, binaries: 'package' }, { packageDir, ways: ['setuid'] })
    expect(readdirSync(dataDir)).toContain(`native-${server.version}`)
    await server.release()
    const again = await openEmbeddedWith({ dataDir, binaries: 'package' }, { packageDir, ways: ['setuid'] })
    expect(again.how).toBe('started')
    await again.release()
  })
})

describe.runIf(isRoot)('as an ordinary user', () => {
  beforeEach(() => {
    mkdirSync(dataDir, { mode: 0o700 })
    chownSync(dataDir, nobody, nobody)
  })

  test('the server is created, adopted after a kill, and stopped', async () => {
    const first = openInChild({ dataDir }, { asNobody: true })
    const { how, pid } = await first.next()
    expect([how, ownerOf(path.join(dataDir, 'postgres'))]).toEqual(['created', nobody])
    await killHard(first.process)
    const second = openInChild({ dataDir }, { asNobody: true })
    expect(await second.next()).toMatchObject({ how: 'adopted', pid })
    expect(await second.release()).toBe('stopped')
  })

  test('links that cannot be made in a read-only package are made in a copy', async () => {
    const packageDir = copyPackage(path.join(scratch, 'package'), false)
    const child = openInChild({ dataDir, binaries: 'package' }, { asNobody: true, packageDir })
    expect(await child.next()).toMatchObject({ how: 'created' })
    expect(packageLinks(packageDir).some(existsSync)).toBe(false)
    expect(await child.release()).toBe('stopped')
  })

  test('a data directory that may not be written is a clear error', async () => {
    chownSync(dataDir, 0, 0)
    chmodSync(dataDir, 0o755)
    const child = openInChild({ dataDir }, { asNobody: true })
    expect((await child.next()).error).toMatch(/Cannot write to the data directory .*EACCES, as user 65534/)
  })

  test('somebody else’s cluster is a clear error', async () => {
    const server = await openEmbeddedWith({ dataDir: path.join(scratch, 'roots') }, { ways: ['unshare'] })
    const child = openInChild({ dataDir: path.join(scratch, 'roots') }, { asNobody: true })
    expect((await child.next()).error).toMatch(/belongs to user 0, and this process runs as user 65534/)
    await server.release()
  })
})
