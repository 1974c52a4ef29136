import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { findSystemPostgres, openEmbedded, openEmbeddedWith } from '@svc/embedded-postgres/embedded'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { copyPackage, packageLinks } from './package-copies.ts'
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
const system15 = findSystemPostgres().find(({ version }) => version.startsWith('15.'))

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

  test.runIf(isRoot)('a private socket directory that another user created first is rejected', async () => {
    dataDir = path.join(scratch, 'long-'.repeat(20))
    const { host, release } = await openEmbedded({ dataDir })
    await release()
    chownSync(host, 12345, 12345)
    await expect(openEmbedded({ dataDir })).rejects.toThrow(/belongs to user 12345/)
    rmSync(host, { recursive: true })
  })

  test('a directory with other content in place of the cluster is left unchanged', async () => {
    mkdirSync(path.join(dataDir, 'postgres'), { recursive: true })
    writeFileSync(path.join(dataDir, 'postgres/letter.txt'), 'dear')
    await expect(openEmbedded({ dataDir })).rejects.toThrow(/holds no PostgreSQL cluster. Move it away/)
    expect(readdirSync(path.join(dataDir, 'postgres'))).toEqual(['letter.txt'])
  })

  test.runIf(system15)('a cluster of another major version is rejected, naming both versions', async () => {
    const made = await openEmbedded({ dataDir, binaries: { binDir: system15?.binDir ?? '' } })
    await made.release()
    await expect(openEmbedded({ dataDir, binaries: 'package' })).rejects.toThrow(
      /made by PostgreSQL 15, and .* PostgreSQL 18\..*pg_dumpall/s,
    )
    const system = await openEmbedded({ dataDir, binaries: 'system' })
    expect(system.version).toMatch(/^15\./)
    await system.release()
  })

  test('a file in place of the data directory gets a clear error', async () => {
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

  test('library links that a blocked install script did not create are created', async () => {
    const packageDir = copyPackage(path.join(scratch, 'package'), false)
    const server = await openEmbeddedWith({ dataDir, binaries: 'package' }, { packageDir })
    expect(packageLinks(packageDir).every(existsSync)).toBe(true)
    await server.release()
  })

  test('a setting that the server rejects is reported with the end of its log', async () => {
    await expect(openEmbedded({ dataDir, settings: { max_connections: 'many' } })).rejects.toThrow(
      /did not start .*invalid value for parameter "max_connections": "many"/s,
    )
    const server = await openEmbedded({ dataDir, settings: { max_connections: '20' } })
    expect(await query(server, 'show max_connections')).toEqual([{ max_connections: '20' }])
    await server.release()
  })
})
