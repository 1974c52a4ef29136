import { randomBytes } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { type Installation, openAddress, openInstallation, type SchemaWanted } from '@svc/app/installation'
import { type Config, readConfig, requireOperatorUrl } from '@svc/contract/config'
import { idMaker } from '@svc/contract/id-kinds'
import { WINDOW } from '@svc/core/payments/bank-runs/bank-run'
import type { KeyMaker } from '@svc/core/tenants/api-key'
import { jweKeys } from '@svc/core/tenants/jwe-keys'
import { TestClocks } from '@svc/core/tenants/test-clocks'
import { inPieces } from '@svc/kernel/ids'
import { type Clock, systemClock } from '@svc/kernel/time'
import { Commands } from '@svc/platform/command'
import { Keyring } from '@svc/platform/crypto/keyring'
import type { CommitQueueServices } from '@svc/platform/db/commit-queue'
import type { DatabaseAddress } from '@svc/platform/db/connection-options'
import { Database } from '@svc/platform/db/database'
import { IdempotencyStore } from '@svc/platform/db/idempotency-store'
import { BoundedWaits } from '@svc/platform/deadlines'
import { type Log, openLog } from '@svc/platform/log'
import { openMetrics } from '@svc/platform/metrics'
import type { Services } from '@svc/server/http/operation'

/** What a command works with: the same database and keys as the service, whether that runs or not. */
export interface CommandContext {
  readonly config: Config
  readonly database: Database
  readonly keyMaker: KeyMaker
  /** Of tenants with a test clock, theirs. */
  readonly clock: Clock
  /** The service's own commands, run in this process: the same locks, rules, history and events. */
  readonly commands: Commands
  /** What the operations of operators are mounted on. */
  readonly services: Services
}

/** Opens the installation of the environment for one command, and releases it after. */
export async function withInstallation<T>(work: (context: CommandContext) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  requireOperatorUrl(config, 'for this command')
  const log = openLog('warn', process.stderr)
  const installation = await openInstallation(config, log, (message) =>
    process.stderr.write(`${message} …\n`),
  )
  const database = openDatabase(config, installation.address, log)
  try {
    const keyring = await Keyring.open(database, installation.masterKeys, installation.rsaKey)
    const mode = config.SVC_MODE === 'live' ? 'live' : 'test'
    const keyMaker = { keyring, random: randomBytes, mode } as const
    const clock = await openClock(config, database)
    const services = openServices({ config, database, clock, log }, keyring)
    return await work({ config, database, keyMaker, clock, commands: services.commands, services })
  } finally {
    await database.close()
    await installation.release()
  }
}

async function openClock(config: Config, database: Database): Promise<Clock> {
  if (config.SVC_MODE === 'live') return systemClock
  const clocks = new TestClocks(systemClock)
  await clocks.loadIfServed(database)
  return clocks
}

interface Opened {
  readonly config: Config
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
}

function openServices({ config, database, clock, log }: Opened, keyring: Keyring): Services {
  const open: CommitQueueServices['open'] = new Set()
  const metrics = openMetrics(open)
  const queues: CommitQueueServices = {
    database,
    responses: new IdempotencyStore(keyring),
    clock,
    log,
    metrics,
    limits: { commandTimeoutMs: config.COMMAND_TIMEOUT_MS, tenantQueueMax: WINDOW },
    open,
  }
  const random = inPieces(randomBytes)
  const tools = { config, database, keyring, clock, random, newId: idMaker(systemClock, random), log }
  const waits = new BoundedWaits()
  return {
    ...tools,
    metrics,
    queues,
    waits,
    commands: new Commands(tools, queues, waits),
    publicUrl: () => addressOf(config),
    jwes: jweKeys(keyring, database),
    isLeaving: () => false,
    isSettingUp: () => false,
    warnings: () => [],
    selfCall: () => Promise.reject(new Error('the command line serves no requests')),
  }
}

/** Where people reach the service, as links have it. */
export const addressOf = ({ HOST, PORT, PUBLIC_URL }: Config): string =>
  PUBLIC_URL ?? `http://${HOST}:${PORT}`

/** The database, for a command of the current user. */
export const openDatabase = (config: Config, address: DatabaseAddress, log: Log): Database =>
  new Database(address, 4, log, {
    actor: cliActor(),
    durable: config.SVC_MODE === 'live' ? config.REPLICATION : undefined,
    replicaWaitMs: config.DATABASE_READ_WAIT_MS,
  })

export interface OpenedInstallation extends Pick<Installation, 'address' | 'masterKeys'> {
  readonly config: Config
}

/** For what works beneath the keyring, which would else be made on an empty database. */
export async function withOpened<T>(
  schema: SchemaWanted,
  work: (opened: OpenedInstallation) => Promise<T>,
): Promise<T> {
  const config = readConfig(process.env)
  const onProgress = (message: string) => process.stderr.write(`${message} …\n`)
  const { address, masterKeys, release } = await openInstallation(
    config,
    openLog('warn', process.stderr),
    onProgress,
    schema,
  )
  try {
    return await work({ config, address, masterKeys })
  } finally {
    await release()
  }
}

/** For what looks at a database that may have no schema yet. */
export async function withAddress<T>(
  work: (opened: Pick<OpenedInstallation, 'config' | 'address'>) => Promise<T>,
): Promise<T> {
  const config = readConfig(process.env)
  const { address, release } = await openAddress(config, openLog('warn', process.stderr), (message) =>
    process.stderr.write(`${message} …\n`),
  )
  try {
    return await work({ config, address })
  } finally {
    await release()
  }
}

/** Whom the audit names: the account and machine that the command runs on. */
export function cliActor(): string {
  let user = 'unknown'
  try {
    user = userInfo().username
  } catch {
    // An account without an entry in the machine's list of users.
  }
  return `cli ${user}@${hostname()}`
}
