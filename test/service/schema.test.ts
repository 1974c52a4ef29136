import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrationNames } from '@svc/platform/db/migration-files'
import { beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { asSuperuser, MASTER_KEY, newDatabase, type TestDatabase } from '../harness/service.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await newDatabase()
})

/** Tables under row-level security, each with the column that its policy for tenants reads. */
const SECURED = `secured as (
  select c.oid as relation, d.refobjsubid as tenant
  from pg_class c
    left join pg_policy p on p.polrelid = c.oid and p.polname = 'tenant'
    left join pg_depend d on d.classid = 'pg_policy'::regclass and d.objid = p.oid
      and d.refclassid = 'pg_class'::regclass and d.refobjid = c.oid and d.refobjsubid > 0
  where c.relnamespace = 'svc'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relrowsecurity)`

async function rows(text: string): Promise<Record<string, unknown>[]> {
  return asSuperuser(db.database, async (admin) => (await admin.query(text)).rows)
}

test('the tenant is the first column of the primary key of every table of tenants', async () => {
  const others = await rows(
    `with ${SECURED}
     select s.relation::regclass::text as table, a.attname::text as first from secured s
       left join pg_constraint k on k.conrelid = s.relation and k.contype = 'p'
       left join pg_attribute a on a.attrelid = s.relation and a.attnum = k.conkey[1]
     where (k.conkey[1] = s.tenant) is not true order by 1`,
  )
  // The chain is the tenant, or the installation, which has no tenant.
  expect(others).toEqual([{ table: 'audit_log', first: 'chain' }])
})

test('every foreign key between two tables of tenants begins with the tenant on both sides', async () => {
  const others = await rows(
    `with ${SECURED}
     select r.conrelid::regclass::text as table, r.conname::text as reference
     from pg_constraint r join secured h on h.relation = r.conrelid join secured t on t.relation = r.confrelid
     where r.contype = 'f' and (r.conkey[1] = h.tenant and r.confkey[1] = t.tenant) is not true order by 1, 2`,
  )
  expect(others).toEqual([])
})

test('a table that names a tenant is a table of tenants', async () => {
  const unsecured = await rows(
    `select c.relname::text as table from pg_class c
     where c.relnamespace = 'svc'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and not c.relrowsecurity
       and exists (select from pg_attribute a where a.attrelid = c.oid and a.attnum > 0
         and a.attname in ('tenant_id', 'merchant_id', 'partner_id')) order by 1`,
  )
  expect(unsecured).toEqual([{ table: 'tenants' }])
})

test('a database and a backup of a version before the baseline are rejected, and nothing is changed', async () => {
  const db = await newDatabase()
  const previous = '0001_platform'
  const rename = (from: string, to: string) =>
    asSuperuser(db.database, (admin) =>
      admin.query('update migrations set name = $2 where name = $1', [from, to]),
    )
  const [first] = await migrationNames()
  await rename(first!, previous)
  const dir = await mkdtemp(join(tmpdir(), 'svc-earlier-'))
  const file = join(dir, 'earlier.tar')
  const env = { DATABASE_URL: db.url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: dir }
  try {
    for (const args of [['admin', 'migrate'], ['serve']]) {
      const { code, stderr } = await runHere(args, { ...env, PORT: '0' })
      expect([args, code]).toEqual([args, 1])
      expect(stderr).toMatch(
        /unreleased version \(0001_platform\).*Back it up with the version that wrote it .* a new DATA_DIR/,
      )
    }
    const examined = await runHere(['admin', 'doctor'], env)
    expect(examined.stdout).toMatch(/schema.*unreleased version \(0001_platform\)/s)
    expect((await runHere(['admin', 'backup', file], env)).code).toBe(0)
    await rename(previous, first!)
    const restored = await runHere(['admin', 'restore', file], env)
    expect(restored.code).toBe(1)
    expect(restored.stderr).toContain('only that version can restore it. Nothing was changed')
  } finally {
    await rm(dir, { recursive: true })
  }
})

test.each([
  ['a login', (url: string) => url.replace('//postgres@', '//no_such_login@')],
  ['a database', (url: string) => url.replace(/test_\w+/, 'no_such_database')],
])(
  'a server without any %s has no missing migrations either: it is named, with the setting',
  async (_, wrong) => {
    const DATABASE_URL = wrong(db.url)
    expect(DATABASE_URL).not.toBe(db.url)
    for (const option of ['--status', '--dry-run']) {
      const { code, stdout, stderr } = await runHere(['admin', 'migrate', option], { DATABASE_URL })
      expect([code, stdout, stderr]).toEqual([
        1,
        '',
        expect.stringMatching(
          /^The database refuses the connection: .* stand in DATABASE_URL, or the setting/,
        ),
      ])
    }
  },
)
