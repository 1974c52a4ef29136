import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AuditAnchors } from '@svc/console-api/audit-anchors'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asLogin } from '../harness/as-login.ts'
import { runHere } from '../harness/cli.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { onceAwaited } from '../harness/lock-wait.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
let admin: Browser
let dataDir: string
beforeAll(async () => {
  service = await openService()
  admin = await signedIn(service, 'admin')
  dataDir = await mkdtemp(join(tmpdir(), 'svc-audit-'))
  for (let i = 0; i < 5; i++) await service.newMerchant()
})
afterAll(async () => {
  await service.close()
  await rm(dataDir, { recursive: true, force: true })
})

/** `svc admin audit verify`, and whether its exit code says that something is wrong. */
async function verify(...args: string[]) {
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: dataDir }
  const { code, stdout, stderr } = await runHere(['admin', 'audit', 'verify', '--json', ...args], env)
  return { failed: code === 1, stderr, verdict: JSON.parse(stdout || 'null') }
}

/** What somebody does who owns the whole database; undone afterwards. */
async function tamper(how: (db: pg.Client) => Promise<unknown>, then: () => Promise<void>): Promise<void> {
  await asSuperuser(service.db.database, async (db) => {
    const columns = 'sequence, content, previous_hash, hash'
    await db.query(`create table audit_kept as select ${columns} from audit_log;
      create table heads_kept as select * from audit_heads; set session_replication_role = replica`)
    try {
      await how(db)
      await then()
    } finally {
      await db.query(`delete from audit_log; insert into audit_log (${columns}) select ${columns} from audit_kept;
        delete from audit_heads; insert into audit_heads select * from heads_kept;
        drop table audit_kept, heads_kept`)
    }
  })
}

const FORGED = `replace(content, 'merchant.created', 'merchant.deleted')`

/** What is done to the second entry of a merchant's chain, the entry that is found by it, and what is said of that. */
const TAMPERINGS = [
  [
    'changed',
    (at: string) => `update audit_log set content = ${FORGED} where sequence = ${at}`,
    0,
    'was changed: its hash does not fit',
  ],
  [
    'changed and hashed anew',
    (at: string) =>
      `update audit_log set content = ${FORGED}, hash = sha256(previous_hash || convert_to(${FORGED}, 'UTF8')) where sequence = ${at}`,
    1,
    'does not follow from the entry before',
  ],
  ['removed', (at: string) => `delete from audit_log where sequence = ${at}`, 0, /^is missing; the next is/],
  [
    'moved',
    (at: string) => `update audit_log set sequence = -1 where sequence = ${at}`,
    0,
    'was moved: it says that it is another number',
  ],
] as const

test.each(TAMPERINGS)(
  'an entry that was %s is detected, by the command line and by the console, and named',
  async (_, how, offset, problem) => {
    const { rows } = await asSuperuser(service.db.database, (db) =>
      db.query<{ sequence: string; tenantId: string; number: string }>(
        `select sequence, tenant_id as "tenantId", number from audit_log l where action = 'merchant.created'
           and exists (select from audit_log n where n.chain = l.chain and n.number = l.number + 1) order by 1`,
      ),
    )
    const { sequence, tenantId, number } = rows[2]!
    const found = Number(number) + offset
    await tamper(
      (db) => db.query(how(sequence)),
      async () => {
        const { failed, verdict } = await verify()
        expect([failed, verdict.whole, verdict.tenantId, verdict.number]).toEqual([
          true,
          false,
          tenantId,
          found,
        ])
        expect(verdict.problem).toMatch(problem)
        await admin.post('/audit/verification')
        await expect
          .poll(async () => (await admin.get('/audit/verification')).json)
          .toMatchObject({ running: false, state: 'broken', brokenAt: found, tenantId })
      },
    )
    expect(await verify()).toMatchObject({ failed: false, verdict: { whole: true } })
  },
)

/** What the service does every five minutes, and when it ends. */
const anchored = () =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query('select number, hash from anchor_audit()')
    return `${rows[0].number}:${rows[0].hash.toString('hex')}`
  })

test('truncating the end of a tenant’s chain, or deleting it, is detected by an anchor in the installation’s chain', async () => {
  await anchored()
  const { merchantId } = await service.newMerchant()
  await admin.send('PATCH', `/merchants/${merchantId}`, { disabled: true })
  for (const [cut, number] of [
    ['number > 1', 2],
    ['true', 1],
  ] as const) {
    const remove = (db: pg.Client) =>
      db.query(`delete from audit_log where tenant_id = '${merchantId}' and ${cut}`)
    if (number === 2) await tamper(remove, async () => expect((await verify()).failed).toBe(false))
    await anchored()
    await tamper(remove, async () => {
      expect(await verify()).toMatchObject({ failed: true, verdict: { tenantId: merchantId, number } })
    })
  }
  expect((await verify()).failed).toBe(false)
})

test('truncating the end of the installation’s chain is detected by an anchor that the service logged', async () => {
  await service.newMerchant()
  const anchor = await anchored()
  const number = Number(anchor.split(':')[0])
  await tamper(
    (db) => db.query(`delete from audit_log where chain = '' and number >= ${number}`),
    async () => {
      expect((await verify()).failed).toBe(false)
      const cut = await verify('--anchor', anchor)
      expect(cut).toMatchObject({ failed: true, verdict: { whole: false, number } })
      expect(cut.verdict.tenantId).toBeUndefined()
    },
  )
  expect((await verify('--anchor', anchor)).failed).toBe(false)
  expect((await verify('--anchor', 'not an anchor')).stderr).toMatch(/must look like/)
})

test('an anchor is durable before the service logs it', async () => {
  await asSuperuser(service.db.database, async (db) => {
    await db.query(`create table anchor_commits (setting text);
      create function note_commit() returns trigger language plpgsql security definer set search_path = svc, pg_temp
        as $$ begin insert into anchor_commits values (current_setting('synchronous_commit')); return null; end $$;
      create trigger noted after update on audit_heads for each statement execute function note_commit()`)
    try {
      const logged: object[] = []
      const log = Object.assign(Object.create(service.app.services.log), {
        info: (facts: object) => logged.push(facts),
      })
      const { loop } = new AuditAnchors({ ...service.app.services, log })
      loop.start()
      await loop.stop()
      expect(logged).toEqual([{ anchor: expect.stringMatching(/^\d+:[0-9a-f]{64}$/) }])
      const { rows } = await db.query('select distinct setting from anchor_commits')
      expect(rows).toEqual([{ setting: 'on' }])
    } finally {
      await db.query(
        'drop trigger noted on audit_heads; drop function note_commit; drop table anchor_commits',
      )
    }
  })
})

test('a transaction that is audited waits only for others of its tenant', async () => {
  const [own, other] = [await service.newMerchant(), await service.newMerchant()]
  const disable = ({ merchantId }: { merchantId: string }) =>
    admin.send('PATCH', `/merchants/${merchantId}`, { disabled: true })
  const waiting = await asSuperuser(service.db.database, async (db) => {
    await db.query('begin')
    await db.query(`select append_audit('test', 'test.held', 'x', '${own.merchantId}', null, '{}', now())`)
    expect((await disable(other)).status).toBe(200)
    const held = disable(own)
    await onceAwaited(db, 'rollback')
    return held
  })
  expect(waiting.status).toBe(200)
  expect((await verify()).failed).toBe(false)
})

test('the service’s login cannot change or remove an entry, and no login can by mistake', async () => {
  await asSuperuser(service.db.database, async (db) => {
    for (const sql of [`update audit_log set hash = ''`, 'delete from audit_log', 'truncate audit_log'])
      await expect(db.query(sql)).rejects.toThrow(/append-only/)
    for (const role of ['svc_service', 'svc_operator']) {
      await db.query(`set role ${role}`)
      await expect(
        db.query(`insert into audit_log (sequence, content, previous_hash, hash) values (1, '{}', '', '')`),
      ).rejects.toThrow(/permission denied/)
      await db.query('reset role')
    }
  })
})

test('every change by an operator is audited with who, what, when and why; reading adds no entry', async () => {
  const { name } = (await admin.get('/session')).json.operator
  const count = async () => (await admin.get('/audit?limit=1')).json.total.count
  const before = await count()
  for (const path of ['/merchants', '/cards', '/requests', '/audit', '/overview?range=hour', '/operators'])
    expect((await admin.get(path)).status).toBe(200)
  expect(await count()).toBe(before)
  const { merchantId } = (
    await admin.post('/merchants', { name: 'Audited', vpa: 'audited@bank', mcc: '5411' })
  ).json.merchant
  await admin.send('PATCH', `/merchants/${merchantId}`, { disabled: true })
  const { data } = (await admin.get(`/audit?target=${merchantId}`)).json
  expect(data.map(({ action, actor }: { action: string; actor: string }) => [action, actor])).toEqual([
    ['tenant.disabled', `operator ${name}`],
    ['merchant.created', `operator ${name}`],
  ])
})

/** What the audit says of a tenant's state, in order. */
const statesOf = (tenantId: string) =>
  asSuperuser(service.db.database, async (db) => {
    const text = `select actor, action from audit_log where tenant_id = $1 and action like 'tenant.%' order by sequence`
    return (await db.query<{ actor: string; action: string }>(text, [tenantId])).rows
  })

test('a step of a closing that an operator takes with psql is entered, under the name that is given, else the login’s', async () => {
  const { merchantId } = await service.newMerchant()
  const set = (change: string, by = '') =>
    asLogin(service.db, 'svc_operator', (db) =>
      db.query(`begin; ${by && `set local svc.actor = '${by}';`}
        update tenants set ${change} where tenant_id = '${merchantId}'; commit`),
    )
  await set('disabled_at = now(), closing_at = now()')
  await set('closed_at = now()')
  await set('closed_at = null', 'operator mallory')
  await set('closed_at = now()', 'operator mallory')
  await set('closing_at = null, closed_at = null')
  expect(await statesOf(merchantId)).toEqual([
    { actor: 'role svc_operator', action: 'tenant.disabled' },
    { actor: 'role svc_operator', action: 'tenant.closing' },
    { actor: 'role svc_operator', action: 'tenant.closed' },
    { actor: 'operator mallory', action: 'tenant.reopened' },
    { actor: 'operator mallory', action: 'tenant.closed' },
    { actor: 'role svc_operator', action: 'tenant.changed' },
  ])
})

test('a closing that begins and ends in the console is entered once for each step', async () => {
  const { merchantId } = await service.newMerchant()
  expect((await admin.post(`/tenants/${merchantId}/closing`, { reason: 'moves away' })).status).toBe(200)
  expect((await admin.send('PATCH', `/merchants/${merchantId}`, { disabled: false })).status).toBe(200)
  const actions = (await statesOf(merchantId)).map(({ action }) => action)
  expect(actions.toSorted()).toEqual(['tenant.closing', 'tenant.disabled', 'tenant.enabled'])
})
