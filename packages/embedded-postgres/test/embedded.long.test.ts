import { existsSync } from 'node:fs'
import path from 'node:path'
import { type EmbeddedOptions, findSystemPostgres, openEmbedded } from '@svc/embedded-postgres/embedded'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { eventually } from './eventually.ts'
import { isRunning, killHard, openInChild } from './processes.ts'
import { query, useLocks } from './queries.ts'
import { newScratch, removeScratch } from './scratch.ts'

// Far beyond what a test takes: it only ends a wait in vain.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let scratch: string
let dataDir: string

beforeEach(() => {
  scratch = newScratch()
  dataDir = path.join(scratch, 'data')
})
afterEach(() => removeScratch(scratch))

const system15 = findSystemPostgres().find(({ version }) => version.startsWith('15.'))
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

  test('committed data is there after a stop and a start', async () => {
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
    expect(existsSync(path.join(dataDir, 'postgres/postmaster.pid'))).toBe(false)
  })

  test('a second release returns the same as the first', async () => {
    const server = await openEmbedded({ dataDir })
    expect(await Promise.all([server.release(), server.release()])).toEqual(['stopped', 'stopped'])
  })

  test('release leaves the server running for another process that uses it, and that process stops it', async () => {
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

  test('a process that exits no longer counts as a user', async () => {
    const server = await openEmbedded({ dataDir })
    const other = openInChild({ dataDir })
    await other.next()
    await killHard(other.process)
    await eventually(async () => (await useLocks(server)) === 1)
    expect(await server.release()).toBe('stopped')
  })

  test('opening while another process stops the server gives a working server', async () => {
    const first = await openEmbedded({ dataDir })
    const [outcome, second] = await Promise.all([first.release(), openEmbedded({ dataDir })])
    expect(second.how).toBe(outcome === 'stopped' ? 'started' : 'adopted')
    expect(await query(second, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(await second.release()).toBe('stopped')
  })
})

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
