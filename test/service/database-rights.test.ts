import { randomBytes } from 'node:crypto'
import { connectionOptions } from '@svc/platform/db/connection-options'
import { migrate } from '@svc/platform/db/migrate'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { asLogin } from '../harness/as-login.ts'
import type { Client } from '../harness/client.ts'
import { DEFINER_CALLERS, type Login } from '../harness/definer-callers.ts'
import { newCode } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestMerchant, type TestService } from '../harness/service.ts'
import { SERVICE_UPDATES } from '../harness/service-updates.ts'

let service: TestService
let merchant: TestMerchant
let client: Client
let endpointId: string
const ENDPOINTS = '/api/v0/webhook-endpoints'

beforeAll(async () => {
  service = await openService()
  merchant = await service.newMerchant()
  client = await service.as(merchant)
  endpointId = (await client.post(ENDPOINTS, { url: 'https://example.com/x', types: ['qr_code.expired'] }))
    .json.payload.endpointId
})
afterAll(() => service.close())

const as = <T>(login: Login, work: (client: pg.Client) => Promise<T>): Promise<T> =>
  asLogin(service.db, login, work)

/** While temporary tables are allowed: each of the two defences holds without the other. */
async function withTemporaryTables(work: () => Promise<void>): Promise<void> {
  const { database } = service.db
  const set = (right: string) => asSuperuser(database, (db) => db.query(right))
  await set(`grant temporary on database ${database} to svc_service, svc_operator`)
  try {
    await work()
  } finally {
    await set(`revoke temporary on database ${database} from svc_service, svc_operator`)
  }
}

const rowsOf = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  (await asSuperuser(service.db.database, (db) => db.query<Row>(text, values))).rows

const DEFINERS = `select p.proname as name, pg_get_userbyid(p.proowner) as owner, p.proconfig as settings,
    array(select r from unnest(array['public', 'svc_service', 'svc_operator']) r
      where has_function_privilege(r, p.oid, 'execute')) as callers
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where p.prosecdef and n.nspname not in ('pg_catalog', 'information_schema') order by 1`

interface Definer {
  readonly name: string
  readonly owner: string
  readonly settings: string[] | null
  readonly callers: string[]
}

test('every SECURITY DEFINER function searches temporary schemas last', async () => {
  const definers = await rowsOf<Definer>(DEFINERS)
  expect(definers.length).toBeGreaterThan(15)
  for (const { name, owner, settings } of definers)
    expect([name, owner, settings]).toEqual([name, 'svc_owner', ['search_path=svc, pg_temp']])
})

test('each SECURITY DEFINER function is executable by the roles that call it, and by no other', async () => {
  const found = (await rowsOf<Definer>(DEFINERS)).map(({ name, callers }) => [name, callers])
  expect(Object.fromEntries(found)).toEqual(DEFINER_CALLERS)
})

test('the service’s login updates the columns that the program updates, and no others', async () => {
  const found = await rowsOf<{ name: string; columns: string[] }>(
    `select c.relname as name, case when has_table_privilege('svc_service', c.oid, 'update') then '{*}'
       else array_agg(a.attname::text order by a.attname) end as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'svc'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
       and has_column_privilege('svc_service', c.oid, a.attnum, 'update')
     group by c.oid, c.relname order by 1`,
  )
  const expected = Object.entries(SERVICE_UPDATES).map(([name, columns]) => [name, columns.toSorted()])
  expect(Object.fromEntries(found.map(({ name, columns }) => [name, columns]))).toEqual(
    Object.fromEntries(expected),
  )
})

test.each([
  ['whose a card is', `update cards set user_id = 'usr_other'`],
  ['who holds a card', `update cards set holder = '{}'`],
  ['the amount of a payment', 'update payments set amount_paise = 1'],
  ['the amount of a QR code', 'update qr_codes set amount_paise = 1'],
  ['the history of a card', `update card_changes set reason = ''`],
  ['an event', `update outbox set payload = '{}'`],
  ['a void of coins', `update coin_voids set reason = ''`],
])('the service’s login does not change %s', async (_, change) => {
  await as('svc_service', (db) => expect(db.query(change)).rejects.toMatchObject({ code: '42501' }))
})

test('of the ledger an operator’s login locks accounts, and changes no balance and no floor', async () => {
  const found = await rowsOf(
    `select c.relname as table, a.attname as column
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.oid in ('ledger_accounts'::regclass, 'journals'::regclass, 'ledger_transfers'::regclass)
       and has_column_privilege('svc_operator', c.oid, a.attnum, 'update')`,
  )
  expect(found).toEqual([{ table: 'ledger_accounts', column: 'lock_only' }])
  await as('svc_operator', (db) =>
    expect(db.query('update ledger_accounts set floor = null')).rejects.toMatchObject({ code: '42501' }),
  )
})

test('a temporary table of the service’s login replaces no table in a function of the owner', async () => {
  await withTemporaryTables(() =>
    as('svc_service', async (db) => {
      await db.query(`
        create temp table taken_over (who text);
        create temp table minute_sums (minute timestamptz, what text, count bigint, amount bigint);
        create temp table retention (what text, keep interval, rows bigint);
        create function pg_temp.take_over() returns trigger language plpgsql as $$
          begin insert into pg_temp.taken_over values (current_user); return old; end $$;
        create trigger take_over before delete on minute_sums for each row execute function pg_temp.take_over();
        grant all on minute_sums, taken_over, retention to public;
        insert into minute_sums values ('2020-01-01', 'request', 1, 0);
        insert into retention values ('minute_sums', '1 second', null);
        select forget_minutes('infinity')`)
      expect((await db.query('select who from taken_over')).rows).toEqual([])
      expect((await db.query('select what from pg_temp.minute_sums')).rows).toEqual([{ what: 'request' }])
    }),
  )
})

test('a temporary audit_log of an operator’s login hides no change from the audit', async () => {
  await withTemporaryTables(() =>
    as('svc_operator', async (db) => {
      await db.query(`
        create temp table audit_log (like svc.audit_log including all);
        grant all on audit_log to public`)
      await db.query(`begin; set local svc.actor = 'operator mallory'`)
      await db.query(`update svc.merchants set name = 'Hidden' where merchant_id = $1`, [merchant.merchantId])
      await db.query('commit')
    }),
  )
  const entries = await rowsOf(`select actor, action from audit_log where target = $1 and action = $2`, [
    merchant.merchantId,
    'merchant.changed',
  ])
  expect(entries).toEqual([{ actor: 'operator mallory', action: 'merchant.changed' }])
})

test('in a migrated database neither login creates temporary tables, and the service detects whether there is disk space', async () => {
  const { host, port } = inject('postgres')
  const database = `rights_${randomBytes(4).toString('hex')}`
  await asSuperuser('postgres', (db) => db.query(`create database ${database}`))
  await migrate({ host, port, database })
  for (const login of ['svc_service', 'svc_operator'] as const) {
    const db = new pg.Client(connectionOptions({ host, port, database }, login))
    await db.connect()
    await expect(db.query('create temp table t (n integer)')).rejects.toMatchObject({ code: '42501' })
    await db.end()
  }
  const { database: opened } = service.app.services
  opened.noteFailure(Object.assign(new pg.DatabaseError('no space left', 0, 'error'), { code: '53100' }))
  await opened.commits.check()
  expect(await rowsOf(`select relname from pg_class where relname like 'room%'`)).toEqual([])
})

interface Kept {
  readonly keep: string
  /** A row of tenant $1 that is named after $2 and as old as $3. */
  readonly insert: string
  readonly forget: string
}

/** What is deleted by age, with the default rule, and the most that may be asked for. */
const KEPT: Record<string, Kept> = {
  idempotency_keys: {
    keep: '48 hours',
    insert: `insert into idempotency_keys (tenant_id, route, key, request_hash, status, response, created_at)
      values ($1, 'route', $2, '', 200, '', now() - $3::interval)`,
    forget: `select forget_old_rows('infinity', 'infinity')`,
  },
  batches: {
    keep: '1 hour',
    insert: `insert into batches (batch_id, created_at) select $2, now() - $3::interval where $1 <> ''`,
    forget: `select forget_old_rows('infinity', 'infinity')`,
  },
  webhook_attempts: {
    keep: '30 days',
    insert: `insert into webhook_attempts (attempt_id, endpoint_id, tenant_id, event_id, sequence, attempt, url, started_at,
        duration_ms, response_excerpt)
      select $2, endpoint_id, $1, 'evt_x', 1, 1, '', now() - $3::interval, 1, ''
      from webhook_endpoints where tenant_id = $1`,
    forget: `select forget_webhook_attempts('infinity')`,
  },
  request_log: {
    keep: '7 days',
    insert: `insert into request_log (request_id, tenant_id, at, operation, kind, method, path, status, duration_ms,
        address, body_bytes, objects)
      values ($2, $1, now() - $3::interval, 'x', 'read', 'GET', '/', 200, 1, '', 0, '{}')`,
    forget: `select forget_requests('~', 1000000)`,
  },
  minute_sums: {
    keep: '15 days',
    insert: `insert into minute_sums (minute, what, count) select now() - $3::interval, $2, 1 where $1 <> ''`,
    forget: `select forget_minutes('infinity')`,
  },
}

test.each(Object.entries(KEPT))(
  'the service’s login can delete from %s what the stored retention does not keep, and nothing else, whatever it requests',
  async (table, { keep, insert, forget }) => {
    for (const [id, age] of [
      ['kept row', `${keep} -1 minute`],
      ['old row', `${keep} 1 minute`],
    ])
      await rowsOf(insert, [merchant.merchantId, id, age])
    await as('svc_service', (db) => db.query(forget))
    const left = await rowsOf(
      `select substring(t::text from '(?:kept|old) row') as row from ${table} t where t::text ~ '(kept|old) row'`,
    )
    expect(left).toEqual([{ row: 'kept row' }])
  },
)

test('the service’s login cannot delete an event that the stored retention keeps, whatever it requests', async () => {
  for (let n = 0; n < 3; n++) await newCode(service, client)
  const feed = async () => (await client.get('/api/v0/events?after=0')).json.payload?.recordsCount
  await expect.poll(feed).toBe(3)
  await as('svc_service', (db) => db.query(`select forget_events('infinity')`))
  expect(await feed()).toBe(3)
})

test('the service’s login cannot change a retention rule', async () => {
  await as('svc_service', (db) =>
    expect(db.query(`update retention set keep = '0'`)).rejects.toMatchObject({ code: '42501' }),
  )
})

test('a change of a retention rule is audited, regardless of who makes it', async () => {
  await rowsOf(`update retention set keep = keep + interval '1 day' where what = 'events'`)
  const [entry] = await rowsOf(
    `select target, content::jsonb -> 'details' ->> 'keep' as keep from audit_log
     where action = 'retention.changed' order by sequence desc limit 1`,
  )
  expect(entry).toEqual({ target: 'events', keep: expect.stringMatching(/ days$/) })
})

test('the service’s login cannot add an entry to the audit', async () => {
  await as('svc_service', (db) =>
    expect(
      db.query(`select append_audit('operator asha', 'card.blocked', 'x', null, null, '{}', now())`),
    ).rejects.toMatchObject({ code: '42501' }),
  )
  expect(await rowsOf(`select from audit_log where actor = 'operator asha'`)).toEqual([])
})

test('the service’s login cannot put an operator’s name on the changes that it makes', async () => {
  await as('svc_service', async (db) => {
    await db.query(`begin; set local svc.tenants = '${merchant.merchantId}'; set local svc.actor = 'operator asha';
      set local svc.acted = '{"${endpointId}":{"actor":"operator asha"}}'`)
    await db.query(`update webhook_endpoints set enabled = false where endpoint_id = '${endpointId}'`)
    await db.query('commit')
  })
  const [entry] = await rowsOf(
    `select actor, action from audit_log where target = $1 order by sequence desc limit 1`,
    [endpointId],
  )
  expect(entry).toEqual({ actor: `tenant ${merchant.merchantId}`, action: 'webhook_endpoint.changed' })
})
