import { copyFile, mkdtemp, open, readdir, readFile, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyBackup } from '@svc/app/backup/read-backup'
import { reconcileAll } from '@svc/console-api/faces/reconciliations'
import { findSystemPostgres, openEmbedded } from '@svc/embedded-postgres/embedded'
import { Secret } from '@svc/kernel/secret'
import { MasterKeys } from '@svc/platform/crypto/master-keys'
import { migrationNames } from '@svc/platform/db/migration-files'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { contentIn, contentOf, settled } from '../harness/backups.ts'
import { runHere } from '../harness/cli.ts'
import { Client, type Json, payloadOf } from '../harness/client.ts'
import { LONG } from '../harness/long.ts'
import { withoutNewest } from '../harness/older-schema.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { runCli, startProcesses } from '../harness/processes.ts'
import { newCode } from '../harness/qr-codes.ts'
import { asSuperuser, MASTER_KEY, newDatabase, openService, type TestService } from '../harness/service.ts'

// Minutes on a machine that does much else: each command is a process, or waits for one.
vi.setConfig({ testTimeout: 240_000 })

const KEYS = new MasterKeys([new Secret(MASTER_KEY)])

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-backup-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

let files = 0
const newFile = (): string => join(dir, `${files++}.tar`)
const envOf = ({ url }: { url: string }) => ({
  DATABASE_URL: url,
  SVC_MASTER_KEY: MASTER_KEY,
  DATA_DIR: dir,
})

async function svc(db: { url: string }, ...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await runHere(['admin', ...args, '--json'], envOf(db))
  expect(code, `svc ${args.join(' ')}: ${stderr}`).toBe(0)
  return JSON.parse(stdout)
}
async function refusal(db: { url: string }, args: string[], env = {}): Promise<string> {
  const { code, stderr } = await runHere(['admin', ...args], { ...envOf(db), ...env })
  expect(code, stderr).toBe(1)
  return stderr
}

/** A service with something in every corner of it. */
async function lively(): Promise<{ service: TestService; partner: TestPartner }> {
  const service = await openService()
  onTestFinished(() => service.close())
  const tenant = await service.as(await service.newMerchant())
  payloadOf(
    await tenant.post('/api/v0/webhook-endpoints', {
      url: 'http://127.0.0.1:34567/hook',
      headers: { 'x-a': 'b' },
      enabled: false,
    }),
  )
  for (const qrName of ['a b\\c', 'línea', '\u{1f600} \\N \\.'])
    await newCode(service, tenant, { qrName, customParams: { note: 'a\\nb "c"' } })
  const partner = await newPartner(service)
  const caller = await asPartner(service.client, partner)
  await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      createCard(caller, partner, { mobile: String(9_000_000_000 + i) }, { 'idempotency-key': `c${i}` }),
    ),
  )
  await settled(service.db)
  return { service, partner }
}

if (LONG)
  test('a backup under the load of several processes contains all that was acknowledged before it, and its books balance', async () => {
    const service = await openService()
    const db = service.db
    const partner = await newPartner(service, { fundsPaise: 1_000_000_000_00n })
    const processes = await startProcesses(2, { ...envOf(db) }, await mkdtemp(join(dir, 'p')))
    const acknowledged: string[] = []
    let writing = true
    const writers = processes.flatMap(({ baseUrl }) =>
      Array.from({ length: 8 }, async () => {
        const client = await asPartner(await Client.open(baseUrl), partner)
        while (writing)
          acknowledged.push(payloadOf(await createCard(client, partner, { loadAmount: 1 })).svcCardId)
      }),
    )
    while (acknowledged.length < 200) await new Promise((resolve) => setTimeout(resolve, 20))
    const before = [...acknowledged]
    const file = newFile()
    await svc(db, 'backup', file)
    const during = acknowledged.length - before.length
    writing = false
    await Promise.all(writers)
    for (const process of processes) await process.end('SIGTERM')
    const target = await newDatabase()
    const restored = await svc(target, 'restore', file)
    expect(restored.reconciliation.ok).toBe(true)
    const { rows } = await asSuperuser(target.database, (client) =>
      client.query('select svc_card_id from cards'),
    )
    const cards = new Set(rows.map((row) => row.svc_card_id))
    expect(before.filter((id) => !cards.has(id))).toEqual([])
    // Nobody waited for the backup.
    expect(during).toBeGreaterThan(0)

    // At rest, with the last that could write closed: the same rows, to the last byte, and the service works on them.
    await settled(db)
    await service.close()
    const still = newFile()
    await svc(db, 'backup', still)
    const copy = await newDatabase()
    await svc(copy, 'restore', still)
    expect(await contentIn(copy)).toEqual(await contentIn(db))
    const again = await openService({ db: copy })
    payloadOf(await createCard(await asPartner(again.client, partner), partner, { loadAmount: 1 }))
    expect((await reconcileAll(again.app.services.database)).ok).toBe(true)
    await again.close()
  })

test('a backup with any byte changed, or incomplete, is rejected before anything is changed', async () => {
  const { service } = await lively()
  const file = newFile()
  await svc(service.db, 'backup', file)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await readdir(dir)).filter((name) => name.endsWith('.part'))).toEqual([])
  const { size } = await stat(file)
  const damaged = newFile()
  const places = [
    0,
    100,
    511,
    512,
    size - 1,
    size - 1_024,
    size - 1_025,
    size - 1_536,
    size - 2_048,
    size - 2_049,
  ]
  // The name of the key that signed it.
  const name = (await readFile(file)).lastIndexOf('mk_')
  for (let i = 3; i < 15; i++) places.push(name + i)
  for (let i = 0; i < 100; i++) places.push(Math.floor(Math.random() * size))
  await copyFile(file, damaged)
  const handle = await open(damaged, 'r+')
  for (const place of places) {
    const byte = Buffer.alloc(1)
    await handle.read(byte, 0, 1, place)
    await handle.write(Buffer.of(byte[0]! ^ (1 << (place % 8))), 0, 1, place)
    await expect(verifyBackup(damaged, KEYS), `byte ${place} of ${size}`).rejects.toThrow()
    await handle.write(byte, 0, 1, place)
  }
  await handle.write('some damage', size >> 1)
  const target = await newDatabase()
  const previous = await contentIn(target)
  expect(await refusal(target, ['backup', 'verify', damaged])).toContain('is not sound')
  expect(await refusal(target, ['restore', damaged])).toContain('Nothing was changed')
  for (const length of [0, 1_000, size - 1_024, size - 1, size - 512]) {
    await copyFile(file, damaged)
    await truncate(damaged, length)
    expect(await refusal(target, ['restore', damaged]), String(length)).toContain('Nothing was changed')
  }
  await handle.close()
  expect(await contentIn(target)).toEqual(previous)
  expect((await svc(target, 'backup', 'verify', file)).sound).toBe(true)
})

if (LONG)
  test('a restore that is killed midway leaves the previous data, and can be run again', async () => {
    const { service } = await lively()
    const { db } = service
    const file = newFile()
    await svc(db, 'backup', file)
    const tenant = await service.as(await service.newMerchant())
    await newCode(service, tenant)
    await settled(db)
    const previous = await contentIn(db)
    const waiting = () =>
      asSuperuser(db.database, async (client) => {
        const { rows } = await client.query(
          `select from pg_stat_activity where datname = current_database() and query like 'lock table svc_former%'`,
        )
        return rows.length > 0
      })
    // Everything is filled in when the restore waits for a reader of the previous data.
    await asSuperuser(db.database, async (reader) => {
      await reader.query('begin; lock table tenants in access share mode')
      const env = envOf(db)
      const kill = new AbortController()
      const run = runCli(['admin', 'restore', file, '--replace'], env, kill)
      while (!(await waiting())) await new Promise((resolve) => setTimeout(resolve, 20))
      kill.abort()
      expect((await run).code).not.toBe(0)
      await reader.query('commit')
    })
    expect(await contentIn(db)).toEqual(previous)
    const { rows } = await asSuperuser(db.database, (client) =>
      client.query(`select nspname from pg_namespace where nspname like 'svc%'`),
    )
    expect(rows).toEqual([{ nspname: 'svc' }])
    await newCode(service, tenant)
    expect((await svc(db, 'restore', file, '--replace')).reconciliation.ok).toBe(true)
    expect((await contentIn(db)).qr_codes).not.toEqual(previous.qr_codes)
  })

test('a restore reports what prevents it: data, another master key, a newer schema; an older schema is migrated', async () => {
  const { service } = await lively()
  const { db } = service
  const file = newFile()
  await svc(db, 'backup', file)
  const previous = await contentIn(db)
  expect(await refusal(db, ['restore', file])).toContain('--replace')
  const other = { SVC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
  const target = await newDatabase()
  const unopened = await refusal(target, ['restore', file], other)
  expect(unopened).toContain('wrapped by master key')
  expect(unopened).toContain('Nothing was changed')
  expect(await refusal(target, ['backup', file])).toContain('there already')
  expect(await contentIn(db)).toEqual(previous)

  const names = await migrationNames()
  const newest = names.at(-1)
  await asSuperuser(db.database, (client) =>
    client.query(`insert into migrations values ('9999_from_the_future')`),
  )
  const newer = newFile()
  await svc(db, 'backup', newer)
  expect(await refusal(target, ['restore', newer])).toContain('9999_from_the_future')
  await asSuperuser(db.database, (client) =>
    client.query(`delete from migrations where name = '9999_from_the_future'`),
  )

  const older = await newDatabase()
  await withoutNewest(older.database)
  const old = newFile()
  const taken = await svc(older, 'backup', old)
  expect(taken.schema).toBe(names.at(-2))
  await svc(target, 'restore', old, '--replace')
  const { rows } = await asSuperuser(target.database, (client) =>
    client.query(
      'select (select max(name) from migrations) as newest, (select count(*)::int from installation) as epochs',
    ),
  )
  expect(rows).toEqual([{ newest, epochs: 1 }])
})

test('after a restore the service’s roles have their permissions, and no more', async () => {
  const { service } = await lively()
  const { db } = service
  // It makes the partitions of the days to come.
  await service.close()
  const rights = () =>
    asSuperuser(db.database, async (client) => {
      const { rows } = await client.query(
        `select c.relname, c.relrowsecurity, c.relowner::regrole::text as owner, c.relacl::text[] as rights,
           array(select a.attname || ' ' || a.attacl::text from pg_attribute a where a.attrelid = c.oid and a.attacl is not null order by 1) as columns,
           array(select p.polname || ' ' || p.polroles::regrole[]::text || ' ' || coalesce(pg_get_expr(p.polqual, p.polrelid), '')
             from pg_policy p where p.polrelid = c.oid order by 1) as policies
         from pg_class c where c.relnamespace = 'svc'::regnamespace and c.relkind in ('r', 'p', 'S') order by 1`,
      )
      const functions = await client.query(
        `select proname, proacl::text[] as rights, prosecdef, proconfig from pg_proc where pronamespace = 'svc'::regnamespace order by 1`,
      )
      return [...rows, ...functions.rows]
    })
  const previous = await rights()
  const file = newFile()
  await svc(db, 'backup', file)
  await svc(db, 'restore', file, '--replace')
  expect(await rights()).toEqual(previous)
})

const fifteen = findSystemPostgres().find(({ version }) => version.startsWith('15'))
const isEighteen = process.env['TEST_POSTGRES'] === 'package'

if (LONG)
  test.skipIf(!fifteen || !isEighteen)(
    'a backup of PostgreSQL 18 is restored on 15, and one of 15 on 18',
    async () => {
      const { service } = await lively()
      const { db } = service
      const eighteen = newFile()
      await svc(db, 'backup', eighteen)
      const server = await openEmbedded({
        dataDir: await mkdtemp(join(dir, '15-')),
        binaries: { binDir: fifteen!.binDir },
      })
      onTestFinished(async () => void (await server.release()))
      const admin = new pg.Client({
        host: server.host,
        port: server.port,
        user: 'postgres',
        database: 'postgres',
      })
      await admin.connect()
      await admin.query('create database old')
      await admin.end()
      const url = `postgresql://postgres@localhost/old?host=${encodeURIComponent(server.host)}&port=${server.port}`
      await svc({ url }, 'restore', eighteen)
      const there = new pg.Client({
        host: server.host,
        port: server.port,
        user: 'postgres',
        database: 'old',
        options: '-c search_path=svc',
      })
      // It is still there when its server stops.
      there.on('error', () => undefined)
      await there.connect()
      expect(await contentOf(there)).toEqual(await contentIn(db))
      await there.end()
      const back = newFile()
      expect((await svc({ url }, 'backup', back)).postgres).toMatch(/^15/)
      const target = await newDatabase()
      await svc(target, 'restore', back)
      expect(await contentIn(target)).toEqual(await contentIn(db))
    },
  )
