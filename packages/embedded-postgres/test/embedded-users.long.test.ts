import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { openEmbedded, openEmbeddedWith } from '@svc/embedded-postgres/embedded'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { copyPackage, packageLinks } from './package-copies.ts'
import { killHard, nobody, openInChild } from './processes.ts'
import { query } from './queries.ts'
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

const isRoot = process.getuid?.() === 0
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

  test('without user namespaces the server and its files belong to the user `nobody`', async () => {
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

  test('when no method works the error names each and says what to do', async () => {
    dataDir = path.join(lockedDir(), 'data')
    await expect(openEmbeddedWith({ dataDir }, { ways: ['setuid'] })).rejects.toThrow(
      /user 65534 may not enter .*ordinary user.*DATABASE_URL/,
    )
  })

  test('programs under a directory that only root may enter are copied to where the user `nobody` can run them', async () => {
    const packageDir = copyPackage(path.join(lockedDir(), 'package'), false)
    const server = await openEmbeddedWith({ dataDir, binaries: 'package' }, { packageDir, ways: ['setuid'] })
    expect(readdirSync(dataDir)).toContain(`native-${server.version}`)
    await server.release()
    const again = await openEmbeddedWith({ dataDir, binaries: 'package' }, { packageDir, ways: ['setuid'] })
    expect(again.how).toBe('started')
    await again.release()
  })
})

describe.runIf(isRoot)('as root, on a cluster that another user may own', () => {
  test('a cluster created by one method opens with the other, and back', async () => {
    const ways = ['unshare', 'setuid', 'unshare'] as const
    for (const [turn, way] of ways.entries()) {
      const server = await openEmbeddedWith({ dataDir }, { ways: [way] })
      expect(ownerOf(path.join(dataDir, 'postgres'))).toBe(way === 'setuid' ? nobody : 0)
      await query(server, `create table turn_${turn} ()`)
      expect(await query(server, `select from pg_tables where tablename like 'turn%'`)).toHaveLength(turn + 1)
      await server.release()
    }
  })

  test('a cluster created by an ordinary user stays that user’s', async () => {
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

  test('links that cannot be created in a read-only package are created in a copy', async () => {
    const packageDir = copyPackage(path.join(scratch, 'package'), false)
    const child = openInChild({ dataDir, binaries: 'package' }, { asNobody: true, packageDir })
    expect(await child.next()).toMatchObject({ how: 'created' })
    expect(packageLinks(packageDir).some(existsSync)).toBe(false)
    expect(await child.release()).toBe('stopped')
  })

  test('a data directory without write permission gets a clear error', async () => {
    chownSync(dataDir, 0, 0)
    chmodSync(dataDir, 0o755)
    const child = openInChild({ dataDir }, { asNobody: true })
    expect((await child.next()).error).toMatch(/Cannot write to the data directory .*EACCES, as user 65534/)
  })

  test('another user’s cluster gets a clear error', async () => {
    const server = await openEmbeddedWith({ dataDir: path.join(scratch, 'roots') }, { ways: ['unshare'] })
    const child = openInChild({ dataDir: path.join(scratch, 'roots') }, { asNobody: true })
    expect((await child.next()).error).toMatch(/belongs to user 0, and this process runs as user 65534/)
    await server.release()
  })
})
