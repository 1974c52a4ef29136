import { Database, type DatabaseOptions } from '@svc/platform/db/database'
import { NotDurable } from '@svc/platform/db/durable'
import { openLog } from '@svc/platform/log'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { newDatabase } from '../harness/service.ts'
import { canReplicate, openPair, type Pair } from '../harness/standby.ts'

// A primary and a standby of their own; one test builds on the other, and the last one promotes the standby.
let pair: Pair
beforeAll(async () => {
  if (canReplicate) pair = await openPair()
})
afterAll(() => pair?.close())

const log = openLog('silent', { write: () => undefined })
const soon = { timeout: 20_000, interval: 50 }
const PORT = { name: 'test_port', text: `select current_setting('port')::int as port` }
const KEPT = { name: 'test_kept', text: 'select count(*)::int as count from batches' }
const WRITE = { name: 'test_write', text: `insert into batches values ('test ' || clock_timestamp())` }

/** Both servers in one URL, the standby first. */
const both = (target = 'read-write'): string => {
  const { primary, standby } = pair
  const hosts = encodeURIComponent(`${standby.host},${primary.host}`)
  return `postgresql://postgres@localhost/svc?host=${hosts}&port=${standby.port},${primary.port}&target_session_attrs=${target}`
}

function open(address: Database['address'], options: DatabaseOptions = {}): Database {
  const database = new Database(address, 4, log, options)
  onTestFinished(() => database.close())
  return database
}
const withReplica = (replicaWaitMs = 20_000) =>
  open({ url: both(), operatorUrl: both(), replicaUrl: both('standby') }, { replicaWaitMs })

const portOf = async (database: Database): Promise<unknown> =>
  ((await database.report((tx) => tx.query(PORT))) as { port: number }[])[0]?.port
const countOf = async (database: Database): Promise<unknown> =>
  ((await database.report((tx) => tx.query(KEPT))) as { count: number }[])[0]?.count
const write = (database: Database) => database.write(['t'], (tx) => tx.query(WRITE))

test.skipIf(!canReplicate)(
  'with REPLICATION=required a connection without synchronous standbys is rejected, and used once there are some',
  async () => {
    const readPort = () => open({ url: pair.primary.url }, { durable: 'required' }).directory(PORT)
    await expect(readPort()).rejects.toThrow(NotDurable)
    await expect(readPort()).rejects.toThrow(/synchronous_standby_names is empty/)
    await pair.primary.run(`alter system set synchronous_standby_names = '*'`)
    await pair.primary.run('select pg_reload_conf()')
    await vi.waitUntil(() => readPort().catch(() => undefined), soon)
  },
)

test.skipIf(!canReplicate)(
  'a report is read on the standby, a command on the primary, and the report contains what was committed before it',
  async () => {
    const database = withReplica()
    for (let round = 0; round < 20; round++) {
      const before = (await countOf(database)) as number
      await write(database)
      expect(await countOf(database)).toBe(before + 1)
    }
    expect(await portOf(database)).toBe(pair.standby.port)
    const [large] = (await database.readLarge(['t'], (tx) => tx.query(PORT), 'silence')) as { port: number }[]
    expect(large?.port).toBe(pair.standby.port)
    expect(database.replica?.reads).toMatchObject({ behind: 0, unavailable: 0 })
    expect(await database.directory(PORT)).toEqual([{ port: pair.primary.port }])
  },
)

test.skipIf(!canReplicate)('a report writes nothing, on whichever server it is read', async () => {
  await expect(withReplica().report((tx) => tx.query(WRITE))).rejects.toMatchObject({ code: '25006' })
})

test.skipIf(!canReplicate)(
  'while the standby lags, a report is read on the primary and contains what was committed before it',
  async () => {
    const database = withReplica(100)
    await pair.standby.run('select pg_wal_replay_pause()')
    onTestFinished(async () => void (await pair.standby.run('select pg_wal_replay_resume()')))
    const before = (await countOf(database)) as number
    await write(database)
    expect(await countOf(database)).toBe(before + 1)
    expect(await portOf(database)).toBe(pair.primary.port)
    expect(database.replica?.reads.behind).toBe(1)
  },
)

test.skipIf(!canReplicate)(
  'a report is not read on a server of another cluster, whatever its position in the log, but on the primary',
  async () => {
    const { url: replicaUrl } = await newDatabase()
    const { url } = pair.primary
    const database = open({ url, operatorUrl: url, replicaUrl })
    expect(await portOf(database)).toBe(pair.primary.port)
    expect(database.replica?.reads).toEqual({ replica: 0, behind: 0, unavailable: 1 })
  },
)

test.skipIf(!canReplicate)('a report that the standby aborts is read on the primary', async () => {
  const database = withReplica()
  const ports: unknown[] = []
  await database.report(async (tx) => {
    const [row] = (await tx.query(PORT)) as { port: number }[]
    ports.push(row?.port)
    if (ports.length === 1)
      await pair.standby.run(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svc svc_operator'`,
      )
    await tx.query(KEPT)
  })
  expect(ports).toEqual([pair.standby.port, pair.primary.port])
})

test.skipIf(!canReplicate)(
  'of several hosts the one that accepts writes is used, and the new primary after a failover, without a restart',
  async () => {
    const database = open({ url: both() })
    expect(await database.directory(PORT)).toEqual([{ port: pair.primary.port }])
    await write(database)
    await pair.primary.stop()
    await pair.standby.run('select pg_promote()')
    await vi.waitUntil(
      () =>
        write(database).then(
          () => true,
          () => false,
        ),
      soon,
    )
    expect(await database.directory(PORT)).toEqual([{ port: pair.standby.port }])
  },
)
