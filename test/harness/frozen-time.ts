import type { ConnectionClass } from '@svc/platform/db/database'
import pg from 'pg'
import { asSuperuser, newDatabase, openService, type TestDatabase, type TestService } from './service.ts'

/** Functions that stand before PostgreSQL's own of the same names on the search path of the service's connections. */
const FUNCTIONS = ['clock_timestamp', 'statement_timestamp', 'now']

const asFrozen = (options: string) => options.replace('search_path=svc', 'search_path=frozen,pg_catalog,svc')

class FrozenClient extends pg.Client {
  constructor(config: pg.ClientConfig) {
    super({ ...config, options: asFrozen(config.options ?? '') })
  }
}

export interface FrozenService extends TestService {
  /** From now on it is this instant, in milliseconds since 1970, for the process and for its database. */
  at(ms: number): Promise<void>
}

/** A service whose time stands still, and whose background work is only what a test starts. */
export async function openFrozenService(env: Record<string, string> = {}): Promise<FrozenService> {
  const db: TestDatabase = await newDatabase()
  await asSuperuser(db.database, async (admin) => {
    await admin.query('create schema frozen; create table frozen.instant (at timestamptz)')
    await admin.query('insert into frozen.instant select pg_catalog.clock_timestamp()')
    for (const name of FUNCTIONS)
      await admin.query(
        `create function frozen.${name}() returns timestamptz language sql volatile as 'select at from frozen.instant'`,
      )
    await admin.query('grant usage on schema frozen to public; grant select on frozen.instant to public')
  })
  const Client = FrozenClient as unknown as ConnectionClass
  const service = await openService({ env, db, Client, background: false })
  return {
    ...service,
    async at(ms) {
      service.clock.now = () => ms
      await asSuperuser(db.database, (admin) =>
        admin.query('update frozen.instant set at = $1', [new Date(ms)]),
      )
    },
  }
}
