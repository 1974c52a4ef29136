import { type Config, ConfigError } from '@svc/contract/config'
import { hasCluster, openEmbedded } from '@svc/embedded-postgres/embedded'
import { newRsaKey } from '@svc/jwe/keys'
import type { KeyProvider } from '@svc/platform/crypto/key-provider'
import { MasterKeys } from '@svc/platform/crypto/master-keys'
import {
  connectionOptions,
  type DatabaseAddress,
  type Login,
  settingOf,
} from '@svc/platform/db/connection-options'
import { sqlState } from '@svc/platform/db/database'
import { type Replication, requireDurable } from '@svc/platform/db/durable'
import { migrate } from '@svc/platform/db/migrate'
import { DatabaseClient } from '@svc/platform/db/server-locator'
import { requireSessions } from '@svc/platform/db/session'
import type { Log } from '@svc/platform/log'
import { keyProviderOf } from './key-provider.ts'

/** A database that is ready for the service, and the keys that open its keyring. */
export interface Installation {
  readonly address: DatabaseAddress
  readonly masterKeys: MasterKeys
  readonly keyProvider: KeyProvider
  /** What is used, in words for people. */
  readonly database: string
  /** On its way since the database server was asked for, where the database is new. */
  readonly rsaKey?: Promise<Buffer> | undefined
  /** Lets go of the embedded server, which stops when no other process uses it. */
  release(): Promise<void>
}

type Opened = Omit<Installation, 'masterKeys' | 'keyProvider'>

/** `as it is`: for a backup before an update, by the newer program. */
export type SchemaWanted = 'newest' | 'as it is'

/** The database, as it is: nothing is checked, created or migrated in the operator's PostgreSQL. */
export const openAddress = (
  config: Config,
  log: Log,
  onProgress: (message: string) => void,
): Promise<Opened> | Opened =>
  config.DATABASE_URL ? ownDatabase(config) : embeddedDatabase(config, log, onProgress)

/** Opens the operator's PostgreSQL, or the embedded one, and brings it to the newest schema. */
export async function openInstallation(
  config: Config,
  log: Log,
  onProgress: (message: string) => void,
  schema: SchemaWanted = 'newest',
): Promise<Installation> {
  const opened = await openAddress(config, log, onProgress)
  try {
    await requireAllSessions(opened.address)
    if (config.SVC_MODE === 'live') await refuseUnsafe(config.DATABASE_URL!.reveal(), config.REPLICATION)
    const run = schema === 'newest' ? await migrate(opened.address) : []
    if (config.SVC_MODE === 'sandbox') await refuseLive(opened.address)
    const keyProvider = keyProviderOf(config)
    if (run.length > 0) log.info({ migrations: run }, 'the schema was brought up to date')
    return {
      ...opened,
      keyProvider,
      masterKeys: new MasterKeys(await keyProvider.masterKeys()),
    }
  } catch (error) {
    await opened.release()
    throw error
  }
}

/** Who chooses the mode of a command would else choose by which rules money moves (decision R10). */
async function refuseLive(address: DatabaseAddress): Promise<void> {
  const client = new DatabaseClient(connectionOptions(address, undefined))
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rows } = await client.query<{ live: boolean }>(
      'select administrators_by_two as live from svc.approval_limit',
    )
    if (rows[0]?.live)
      throw new ConfigError([
        'SVC_MODE: must be live, since a process in live mode has worked on this database',
      ])
  } catch (error) {
    // Of a schema from before there was this rule, which is backed up as it is.
    if (!['42P01', '42703', '3F000'].includes(sqlState(error) ?? '')) throw error
  } finally {
    await client.end()
  }
}

/** Of each login with a URL. What leads to standbys, which may be down, is checked before it is read (`Replica`). */
async function requireAllSessions(address: DatabaseAddress): Promise<void> {
  if (!('url' in address)) return
  const { url, operatorUrl, ownerUrl, railUrl } = address
  const loginOf = new Map<string, Login | undefined>()
  if (ownerUrl !== undefined) loginOf.set(ownerUrl, undefined)
  if (operatorUrl !== undefined) loginOf.set(operatorUrl, 'svc_operator')
  if (railUrl !== undefined) loginOf.set(railUrl, 'svc_rail')
  loginOf.set(url, 'svc_service')
  const checks = [...loginOf.values()].map((login) =>
    requireSessions(connectionOptions(address, undefined, login), settingOf(login)),
  )
  const failed = (await Promise.allSettled(checks)).find(({ status }) => status === 'rejected')
  if (failed) throw (failed as PromiseRejectedResult).reason
}

function ownDatabase(config: Config): Opened {
  const url = config.DATABASE_URL!.reveal()
  const operatorUrl =
    config.DATABASE_OPERATOR_URL?.reveal() ?? (config.SVC_MODE === 'sandbox' ? url : undefined)
  const ownerUrl = config.DATABASE_OWNER_URL?.reveal()
  const railUrl = config.DATABASE_RAIL_URL?.reveal()
  const replicaUrl = config.DATABASE_READ_URL?.reveal()
  const address = {
    url,
    ...(operatorUrl !== undefined && { operatorUrl }),
    ...(ownerUrl !== undefined && { ownerUrl }),
    ...(railUrl !== undefined && { railUrl }),
    ...(replicaUrl !== undefined && { replicaUrl }),
  }
  return { address, database: 'PostgreSQL at DATABASE_URL', release: async () => undefined }
}

const DATABASE = 'svc'
const WATCH_MS = 500

async function embeddedDatabase(
  config: Config,
  log: Log,
  onProgress: (message: string) => void,
): Promise<Opened> {
  const options = { dataDir: config.DATA_DIR, onProgress }
  // Not awaited: it is made beside the cluster, and takes up to a second.
  const rsaKey = hasCluster(config.DATA_DIR) ? undefined : newRsaKey()
  let server = await openEmbedded(options)
  const address = { host: server.host, port: server.port, database: DATABASE }
  await createDatabase(address)
  // A server that dies is started again; until it is back, commands wait and reads get 503.
  let reopening: Promise<void> | undefined
  const watch = setInterval(() => {
    if (reopening || isAlive(server.pid)) return
    // Unhandled, it ends the process: another database in its place would be empty.
    if (!hasCluster(config.DATA_DIR)) {
      clearInterval(watch)
      throw new Error(
        `The database in ${config.DATA_DIR} was deleted while the service ran. Start again to begin with an empty one.`,
      )
    }
    log.warn({ pid: server.pid }, 'the embedded PostgreSQL ended; starting it again')
    reopening = openEmbedded(options)
      .then(async (next) => {
        const old = server
        server = next
        // It marks the server of this data directory as used, whichever runs: the new one would never stop.
        await old.release()
      })
      .catch((error: unknown) => log.error({ err: error }, 'the embedded PostgreSQL did not start'))
      .finally(() => (reopening = undefined))
  }, WATCH_MS)
  watch.unref()
  return {
    address,
    database: `embedded PostgreSQL ${server.version} in ${config.DATA_DIR}`,
    rsaKey,
    async release() {
      clearInterval(watch)
      await reopening
      await server.release()
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives, as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function createDatabase(address: { host: string; port: number }): Promise<void> {
  const client = new DatabaseClient(connectionOptions({ ...address, database: 'postgres' }, undefined))
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`create database ${DATABASE}`)
  } catch (error) {
    // Another process that started at the same moment made it: fine.
    if (!['42P04', '23505'].includes((error as { code?: string }).code ?? '')) throw error
  } finally {
    await client.end()
  }
}

/** Before anything is written, with the login of the service; its role may not exist yet. */
async function refuseUnsafe(url: string, replication: Replication): Promise<void> {
  const client = new DatabaseClient(connectionOptions({ url }, undefined))
  client.on('error', () => undefined)
  await client.connect()
  try {
    await requireDurable(client, replication)
  } finally {
    await client.end()
  }
}
