import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { openEmbedded } from '@svc/embedded-postgres/embedded'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { eventually } from './eventually.ts'
import { openInChild, unrelatedProcess } from './processes.ts'
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

const pidFile = () => path.join(dataDir, 'postgres/postmaster.pid')
const unfinished = () =>
  existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name.startsWith('postgres.unfinished-')) : []

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
  'creation interrupted by a kill of %s is repeated, and nothing is left over',
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
  ['a living process that is no server', unrelatedProcess],
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

test('the start after a crash waits for a session that outlives the crashed server', async () => {
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
