import type pg from 'pg'
import type { Json } from './client.ts'
import { asSuperuser, type TestDatabase } from './service.ts'

// A service that runs writes of itself how it fares.
const RESTLESS = ['^minute_sums$', '^request_log']

/** What a restore ends, it enters in the audit: the login did it, no operator. */
const BEFORE_THE_RESTORE = `where t.actor not like 'role %' and t.action <> 'access.ended'`

/** A digest of the rows of every table that a backup holds and that nobody is writing. */
export async function contentOf(client: pg.ClientBase): Promise<Json> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'svc'::regnamespace and relkind = 'r'
       and relname not in ('installation', 'migrations', 'webhook_leases', 'alert_watch', 'audit_heads') and relname !~ all ($1) order by relname`,
    [RESTLESS],
  )
  const content: Record<string, string> = {}
  for (const { name } of tables) {
    // A restore retires the keys that signed tokens.
    const row = name === 'keyring' ? `(to_jsonb(t) - 'retired_at')::text` : 't::text'
    const { rows } = await client.query<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(md5(${row}), '' order by ${row})), '') as digest
       from svc.${name} t ${name === 'audit_log' ? BEFORE_THE_RESTORE : ''}`,
    )
    content[name] = rows[0]!.digest
  }
  return content
}
export const contentIn = (db: TestDatabase) => asSuperuser(db.database, contentOf)

/** Until every event has its number and is in its feed's tree: then nothing changes by itself. */
export const settled = (db: TestDatabase): Promise<void> =>
  asSuperuser(db.database, async (client) => {
    for (let left = 1; left > 0; ) {
      const waiting = await client.query(
        `select from unnumbered_events
         union all select from event_counters where proven_sequence < last_sequence`,
      )
      left = waiting.rows.length
    }
  })
