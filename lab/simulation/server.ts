import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbedded } from '@svc/embedded-postgres/embedded'
import { Secret } from '@svc/kernel/secret'
import { Keyring } from '@svc/platform/crypto/keyring'
import { MasterKeys } from '@svc/platform/crypto/master-keys'
import { Database } from '@svc/platform/db/database'
import { migrate } from '@svc/platform/db/migrate'
import { openLog } from '@svc/platform/log'
import pg from 'pg'

const TEMPLATE = 'simulation'
export const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
export const masterKeys = (): MasterKeys => new MasterKeys([new Secret(MASTER_KEY)])

/** Not the disk is simulated but the way to it: this server need not survive anything itself. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  jit: 'off',
  max_connections: '50',
  shared_buffers: '128MB',
}

/** In place of the server's clock: a time that the simulation sets for each transaction. */
const SIMULATED_CLOCK = `
create function svc.sim_now() returns timestamptz language sql volatile
  as $$ select coalesce(nullif(current_setting('sim.now', true), ''), '2026-01-01')::timestamptz $$;
grant execute on function svc.sim_now() to public;
do $$
declare
  f record;
begin
  for f in select pg_get_functiondef(p.oid) as text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = 'svc' and p.prosrc ~ '(clock_timestamp|[^_]now)\\(\\)' and p.proname <> 'sim_now'
  loop
    execute regexp_replace(f.text, '\\m(clock_timestamp|now)\\(\\)', 'svc.sim_now()', 'g');
  end loop;
end $$;
alter table svc.batches alter created_at set default svc.sim_now();
alter table svc.keyring alter created_at set default svc.sim_now(), alter effective_at set default svc.sim_now();
-- What is checked after every step is looked up by what it is about.
create index on svc.ledger_transfers (debit_account_id);
create index on svc.ledger_transfers (credit_account_id);
create index on svc.outbox (object_id);
`

export interface SimulationServer {
  readonly host: string
  readonly port: number
  /** Makes an empty, migrated database with a keyring, in place of the one before. */
  newDatabase(name: string, previous: string | undefined): Promise<void>
  close(): Promise<void>
}

/** A PostgreSQL of its own for one process of the simulation. Real time must still go on when it is started. */
export async function startServer(): Promise<SimulationServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-simulation-'))
  const server = await openEmbedded({ dataDir, settings: SETTINGS })
  const { host, port } = server
  const superuser = async <T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ host, port, user: 'postgres', database })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
  await superuser('postgres', (client) => client.query(`create database ${TEMPLATE}`))
  await migrate({ host, port, database: TEMPLATE })
  const database = new Database({ host, port, database: TEMPLATE }, 4, openLog('fatal', process.stderr))
  await Keyring.open(database, masterKeys())
  await database.close()
  await superuser(TEMPLATE, (client) => client.query(SIMULATED_CLOCK))
  await superuser(TEMPLATE, (client) =>
    client.query(`update svc.keyring set effective_at = '2025-01-01', created_at = '2025-01-01'`),
  )
  return {
    host,
    port,
    newDatabase: (name, previous) =>
      superuser('postgres', async (client) => {
        if (previous) await client.query(`drop database if exists ${previous}`)
        await client.query(`create database ${name} template ${TEMPLATE}`)
      }),
    async close() {
      await server.release()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
