import { expect, test } from 'vitest'
import { asSuperuser, newDatabase } from '../harness/service.ts'

const ENDPOINTS = 2_000

test('leasing finds the endpoints with something to deliver, and reads no other, however many there are', async () => {
  const db = await newDatabase()
  await asSuperuser(db.database, async (client) => {
    await client.query(`set search_path = svc; set session_replication_role = replica`)
    await client.query(
      `insert into webhook_endpoints
         (endpoint_id, tenant_id, url, description, types, enabled, header_names, created_at, modified_at)
       select 'whe_' || i, 'mer_' || i, 'https://hooks.example.com', '', '{}', i <> 3, '{}', now(), now()
       from generate_series(1, $1::int) i`,
      [ENDPOINTS],
    )
    // Due, due again, of a disabled endpoint, and due again only in an hour.
    await client.query(
      `insert into webhook_deliveries (endpoint_id, tenant_id, sequence, event_id, object_id, first, due_at)
       values ('whe_1', 'mer_1', 1, 'evt_1', 'x', true, now()), ('whe_1', 'mer_1', 2, 'evt_2', 'x', true, now()),
         ('whe_2', 'mer_2', 1, 'evt_3', 'x', false, now() - interval '1 second'),
         ('whe_3', 'mer_3', 1, 'evt_4', 'x', true, now()),
         ('whe_4', 'mer_4', 1, 'evt_5', 'x', false, now() + interval '1 hour')`,
    )
    await client.query('analyze webhook_endpoints, webhook_deliveries; begin')
    const { rows } = await client.query<{ id: string }>(
      `select endpoint_id as id from lease_webhook_endpoints('test', '{}', 60000, now(), 100) order by 1`,
    )
    expect(rows.map(({ id }) => id)).toEqual(['whe_1', 'whe_2'])
    const read = await client.query<{ rows: number }>(
      `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables
       where relname = 'webhook_endpoints'`,
    )
    expect(read.rows[0]!.rows).toBeLessThan(20)
    await client.query('rollback')
  })
})
