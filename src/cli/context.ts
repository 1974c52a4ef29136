import { randomBytes } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import type { KeyMaker } from '../access/api-key.ts'
import { type Config, readConfig } from '../config.ts'
import { type Installation, openInstallation, type SchemaWanted } from '../installation.ts'
import { Keyring } from '../platform/crypto/keyring.ts'
import { Database } from '../platform/db/database.ts'
import { openLog } from '../platform/log.ts'

/** What a command works with: the same database and keys as the service, whether that runs or not. */
export interface CommandContext {
  readonly config: Config
  readonly database: Database
  readonly keyMaker: KeyMaker
}

/** Opens the installation of the environment for one command, and lets go of it after. */
export async function withInstallation<T>(work: (context: CommandContext) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  const log = openLog('warn', process.stderr)
  const installation = await openInstallation(config, log, (message) =>
    process.stderr.write(`${message} …\n`),
  )
  const database = new Database(installation.address, 4, log, { actor: cliActor() })
  try {
    const keyring = await Keyring.open(database, installation.masterKeys, installation.rsaKey)
    const mode = config.SVC_MODE === 'live' ? 'live' : 'test'
    return await work({ config, database, keyMaker: { keyring, random: randomBytes, mode } })
  } finally {
    await database.close()
    await installation.release()
  }
}

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

/** Brings the schema up to date and touches nothing else: the service's role may not even be granted to anyone yet. */
export async function migrateInstallation(): Promise<void> {
  await withOpened('newest', async () => undefined)
}
