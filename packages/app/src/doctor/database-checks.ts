import { plannedProcesses } from '@svc/contract/process-settings'
import { CLUSTER, requireCluster } from '@svc/platform/db/cluster'
import { connectionsMax } from '@svc/platform/db/connection-counts'
import { connectionOptions, settingOf } from '@svc/platform/db/connection-options'
import { PARTITION_STATE, type PartitionState } from '@svc/platform/db/partitions'
import { requireSessions } from '@svc/platform/db/session'
import { ALWAYS, type Check, fail, pass, rowsOf, sizeOf, warn } from './finding.ts'

const STANDBYS = `select current_setting('synchronous_standby_names') as names, count(r.pid)::int as connected,
  count(*) filter (where r.sync_state in ('sync', 'quorum'))::int as synchronous,
  count(*) filter (where r.pid is not null and r.sync_state is null)::int as hidden
  from (select) as one left join pg_stat_replication r on true`

export const replication: Check = {
  name: 'replication',
  stages: ALWAYS,
  async examine({ config, connect }) {
    const [row] = await rowsOf<{ names: string; connected: number; synchronous: number; hidden: number }>(
      await connect('svc_service'),
      STANDBYS,
    )
    const { names, connected, synchronous, hidden } = row!
    if (names === '')
      return config.REPLICATION === 'required'
        ? [fail('synchronous_standby_names is empty, but REPLICATION=required')]
        : [
            warn(
              'no synchronous standby: if this server is lost, so are acknowledged writes; see the guide High availability',
            ),
          ]
    if (connected === 0)
      return [fail(`synchronous_standby_names is ${names}, but no standby is connected: commits wait`)]
    if (hidden > 0)
      return [
        pass(
          `${connected} standbys are connected; grant pg_monitor to the login to see which are synchronous`,
        ),
      ]
    if (synchronous === 0) return [fail(`none of ${connected} standbys is synchronous: commits wait`)]
    return [pass(`${synchronous} of ${connected} standbys are synchronous`)]
  },
}

export const standby: Check = {
  name: 'standby_for_reads',
  stages: ALWAYS,
  async examine({ address, config, connect }) {
    if (!config.DATABASE_READ_URL) return [pass('DATABASE_READ_URL is not set: reports read the primary')]
    const primary = await connect('svc_service')
    const [{ position } = { position: '' }] = await rowsOf<{ position: string }>(
      primary,
      'select pg_current_wal_lsn()::text as position',
    )
    try {
      const [own] = await rowsOf<{ cluster: string }>(primary, CLUSTER.text)
      await requireSessions(connectionOptions(address, undefined, 'replica'), settingOf('replica'))
      const client = await connect('replica')
      await requireCluster(client, own!.cluster)
      const [row] = await rowsOf<{ standby: boolean; behind: number | null }>(
        client,
        'select pg_is_in_recovery() as standby, pg_wal_lsn_diff($1::pg_lsn, pg_last_wal_replay_lsn())::float8 as behind',
        [position],
      )
      if (!row!.standby) return [warn('DATABASE_READ_URL leads to the primary')]
      return [pass(`the standby is ${sizeOf(Math.max(0, row!.behind ?? 0))} of write-ahead log behind`)]
    } catch (error) {
      return [
        warn(`DATABASE_READ_URL cannot be used, so reports read the primary: ${(error as Error).message}`),
      ]
    }
  },
}

/** A slot keeps write-ahead log for its reader, until the disk is full. */
const SLOTS = `select slot_name::text as name, active, coalesce(wal_status, '') as status,
  coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::float8 as bytes from pg_replication_slots order by 1`
const SLOT_BYTES_MAX = 1e9

export const slots: Check = {
  name: 'replication_slots',
  stages: ALWAYS,
  async examine({ connect }) {
    const rows = await rowsOf<{ name: string; active: boolean; status: string; bytes: number }>(
      await connect('svc_service'),
      SLOTS,
    )
    const findings = rows.flatMap(({ name, active, status, bytes }) => {
      if (status === 'lost')
        return [warn(`slot ${name} is lost; its standby has to be copied again: drop the slot`)]
      if (active && bytes <= SLOT_BYTES_MAX) return []
      const kept = `slot ${name} keeps ${sizeOf(bytes)} of write-ahead log${active ? '' : ' and nothing reads it'}`
      return [(bytes > SLOT_BYTES_MAX ? fail : warn)(`${kept}; drop it, or bring its reader back`)]
    })
    return findings.length > 0 ? findings : [pass(`${rows.length} slots, none of which keeps much`)]
  },
}

const AGES = `select age(datfrozenxid)::float8 as xids, mxid_age(datminmxid)::float8 as multixacts
  from pg_database where datname = current_database()`
const AGE_WARN = 500e6
const AGE_FAIL = 1.5e9

export const wraparound: Check = {
  name: 'wraparound',
  stages: ALWAYS,
  async examine({ connect }) {
    const [row] = await rowsOf<{ xids: number; multixacts: number }>(await connect('svc_service'), AGES)
    const oldest = Math.max(row!.xids, row!.multixacts)
    const detail = `the oldest transaction id is ${(oldest / 1e6).toFixed(1)} million back, of 2,100`
    if (oldest > AGE_FAIL) return [fail(`${detail}; run VACUUM FREEZE now`)]
    return [oldest > AGE_WARN ? warn(`${detail}; find out what holds autovacuum up`) : pass(detail)]
  },
}

const DEAD = `select relname::text as name, n_live_tup::float8 as live, n_dead_tup::float8 as dead
  from pg_stat_user_tables where schemaname = 'svc' and n_dead_tup > $1::float8 and n_dead_tup > $2::float8 * n_live_tup order by n_dead_tup desc limit 5`
const DEAD_MIN = 10_000
const DEAD_SHARE = 0.5

export const deadRows: Check = {
  name: 'dead_rows',
  stages: ['running'],
  async examine({ connect }) {
    const client = await connect('svc_service')
    const rows = await rowsOf<{ name: string; live: number; dead: number }>(client, DEAD, [
      DEAD_MIN,
      DEAD_SHARE,
    ])
    const [size] = await rowsOf<{ bytes: number }>(
      client,
      'select pg_database_size(current_database())::float8 as bytes',
    )
    if (rows.length === 0) return [pass(`no table is bloated; the database takes ${sizeOf(size!.bytes)}`)]
    return rows.map(({ name, live, dead }) =>
      warn(
        `table ${name} has ${dead} dead rows beside ${live}; check that autovacuum runs and that no transaction stays open`,
      ),
    )
  },
}

const OPEN = `select 'process ' || pid as who, extract(epoch from clock_timestamp() - xact_start)::int as seconds
    from pg_stat_activity where datname = current_database() and xact_start < clock_timestamp() - interval '5 minutes' and backend_type = 'client backend'
  union all select 'prepared transaction ' || gid, extract(epoch from clock_timestamp() - prepared)::int
    from pg_prepared_xacts where database = current_database() and prepared < clock_timestamp() - interval '5 minutes'`

export const longTransactions: Check = {
  name: 'long_transactions',
  stages: ['running'],
  async examine({ connect }) {
    const rows = await rowsOf<{ who: string; seconds: number }>(await connect('svc_service'), OPEN)
    if (rows.length === 0) return [pass('no transaction that can be seen is older than 5 minutes')]
    return rows.map(({ who, seconds }) =>
      warn(`${who} has been in a transaction for ${seconds} s: it holds up vacuum`),
    )
  },
}

const ROOM = `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
  (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`

export const connections: Check = {
  name: 'connections',
  stages: ALWAYS,
  async examine({ config, connect }) {
    const [row] = await rowsOf<{ most: number; used: number }>(await connect('svc_service'), ROOM)
    const { most, used } = row!
    const { length: processes } = plannedProcesses(config)
    const wanted = processes * connectionsMax(config.DATABASE_POOL_SIZE)
    const who = processes === 1 ? 'a process uses' : `the ${processes} processes of svc serve use`
    const detail = `${who} up to ${wanted} connections; ${used} of ${most} are in use`
    return [
      wanted > most
        ? fail(
            `${detail}; raise max_connections or lower DATABASE_POOL_SIZE${processes === 1 ? '' : ' or WORKERS'}`,
          )
        : used > 0.9 * most
          ? warn(detail)
          : pass(detail),
    ]
  },
}

/** The service creates them ahead of time (decision X26). */
export const partitions: Check = {
  name: 'partitions',
  stages: ['running'],
  async examine({ connect }) {
    const states = await rowsOf<PartitionState>(await connect('svc_service'), PARTITION_STATE.text)
    const findings = states.flatMap(({ name, missing, inDefault }) => [
      ...(missing > 0
        ? [warn(`${name} lacks ${missing} partitions for today and the days ahead: is a process running?`)]
        : []),
      ...(inDefault > 0
        ? [
            warn(
              `${inDefault} rows of ${name} are in ${name}_default: their ids are of days without a partition`,
            ),
          ]
        : []),
    ])
    return findings.length > 0 ? findings : [pass(`${states.length} tables have theirs for the days ahead`)]
  },
}
