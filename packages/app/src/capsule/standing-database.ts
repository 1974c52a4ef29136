import { connectionOptions, type DatabaseAddress } from '@svc/platform/db/connection-options'
import type { ConnectionClass } from '@svc/platform/db/database'
import { DatabaseClient, type LocatedConfig } from '@svc/platform/db/server-locator'
import pg from 'pg'

/**
 * In place of the server's clock: a sequence, which every session reads as it is at that instant, also inside of a
 * transaction. Names without a schema lead here where `svc` comes before `pg_catalog` in the search path.
 */
const STANDING_CLOCK = `
set search_path = pg_catalog;
create sequence svc.capsule_time_ms;
create function svc.clock_timestamp() returns timestamptz language sql volatile
  as $$ select timestamptz 'epoch' + last_value * interval '1 millisecond' from svc.capsule_time_ms $$;
create function svc.statement_timestamp() returns timestamptz language sql stable as 'select svc.clock_timestamp()';
create function svc.transaction_timestamp() returns timestamptz language sql stable as 'select svc.clock_timestamp()';
create function svc.now() returns timestamptz language sql stable as 'select svc.clock_timestamp()';
create function svc.random() returns double precision language sql volatile as 'select 0.5::double precision';
grant select on sequence svc.capsule_time_ms to public;
do $$
declare
  f record;
begin
  for f in select p.oid::regprocedure as name from pg_proc p
    where p.pronamespace = 'svc'::regnamespace and 'search_path=svc' = any (p.proconfig)
  loop
    execute format('alter routine %s set search_path = svc, pg_catalog', f.name);
  end loop;
  for f in select d.adrelid::regclass as name, a.attname as col, pg_get_expr(d.adbin, d.adrelid) as value
    from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
    join pg_class c on c.oid = d.adrelid
    where c.relnamespace = 'svc'::regnamespace and a.attgenerated = ''
      and pg_get_expr(d.adbin, d.adrelid) ~ '\\m(clock_timestamp|now)\\(\\)'
  loop
    execute format('alter table %s alter %I set default %s', f.name, f.col,
      regexp_replace(f.value, '\\m(clock_timestamp|now)\\(\\)', 'svc.\\1()', 'g'));
  end loop;
end $$`

/** Connections of the service on which the standing clock is found before the server's own. */
export const StandingClient: ConnectionClass = class extends DatabaseClient {
  constructor(config: pg.ClientConfig) {
    const options = config.options?.replace('search_path=svc ', 'search_path=svc,pg_catalog ')
    super({ ...config, options } as LocatedConfig)
  }
}

/** The time of a database that stands still until it is set. */
export class StandingClock {
  readonly #client: pg.Client

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async install(address: DatabaseAddress): Promise<StandingClock> {
    const client = new DatabaseClient(connectionOptions(address, undefined))
    client.on('error', () => undefined)
    await client.connect()
    try {
      await client.query(STANDING_CLOCK)
      return new StandingClock(client)
    } catch (error) {
      await client.end()
      throw error
    }
  }

  async set(ms: number): Promise<void> {
    await this.#client.query(`select setval('svc.capsule_time_ms', $1)`, [ms])
  }

  close(): Promise<void> {
    return this.#client.end()
  }
}
