import { setTimeout as sleep } from 'node:timers/promises'
import { ENCRYPTED_ROWS } from '@svc/app/encrypted-rows'
import { required } from '@svc/kernel/invariant'
import {
  beginRotation,
  type EncryptedRows,
  type KeyFacts,
  listKeys,
  liveKeys,
  type Reencrypted,
  ROTATABLE,
  type RotatablePurpose,
  reencryptSome,
  retireKey,
  rowsToReencrypt,
  usesOf,
} from '@svc/platform/crypto/key-rotation'
import { KEYRING_REFRESH_MS } from '@svc/platform/crypto/keyring'
import type { Command } from 'commander'
import { type CommandContext, withInstallation } from './context.ts'
import { printRecord, printRows } from './print.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const progress = (message: string): boolean => process.stderr.write(`${message}\n`)

export function addKeysCommands(program: Command): void {
  const keys = program.command('keys').description('the service’s own data keys: list and rotate')
  keys
    .command('list')
    .description('list all data keys, without their secrets, with the rows that each of them encrypts')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin keys list')
    .action(({ json = false }: Json) =>
      withInstallation(async (context) => printRows(await shownKeys(context), json)),
    )
  keys
    .command('rotate <purpose>')
    .description(`replace the key of a purpose while the service runs: ${ROTATABLE.join(', ')}`)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
A new key is created; it encrypts once every process has read it, about 10 seconds later. Card numbers, partners' keys, webhook
secrets, authenticator secrets and waiting bulk orders are then encrypted again, and their previous key is retired. Run it again after an interruption: it goes on where it was.
The previous keys of the other purposes stay as long as something needs them: run it again later, or retire them yourself.

Examples:
  svc admin keys rotate card_number
  svc admin keys rotate encryption_rsa && svc admin keys list`,
    )
    .action((purpose: string, { json = false }: Json) =>
      withInstallation((context) => rotate(context, purpose, json)),
    )
  keys
    .command('rewrap')
    .description('wrap every data key by the first key of SVC_MASTER_KEY, so that the others can be removed')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The last step but one of a rotation of the master key. Every process must know the new key by then.

Example:
  SVC_MASTER_KEY=new,previous svc admin keys rewrap`,
    )
    .action(({ json = false }: Json) => withInstallation((context) => rewrap(context, json)))
  keys
    .command('retire <keyId>')
    .description(
      'retire a previous key at once: requests encrypted to it are rejected within seconds, its tokens become invalid',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin keys retire dk_…')
    .action((keyId: string, { json = false }: Json) =>
      withInstallation((context) => retire(context, keyId, json)),
    )
}

const isRotatable = (purpose: string): purpose is RotatablePurpose =>
  ROTATABLE.some((known) => known === purpose)

function stateOf(key: KeyFacts, keys: readonly KeyFacts[]): string {
  if (key.retiredAt) return 'retired'
  if (key.effectiveForMs < 0) return 'waiting'
  return newestEffective(keys, key.purpose)?.keyId === key.keyId ? 'encrypts' : 'decrypts'
}

const newestEffective = (keys: readonly KeyFacts[], purpose: KeyFacts['purpose']): KeyFacts | undefined =>
  liveKeys(keys, purpose).findLast((key) => key.effectiveForMs >= 0)

const shownKeys = ({ database }: CommandContext) =>
  database.operate(async (tx) => {
    const keys = await listKeys(tx)
    const shown = []
    for (const key of keys) {
      const rows = await usesOf(tx, ENCRYPTED_ROWS, key)
      const { purpose, keyId, effectiveAt, retiredAt } = key
      shown.push({
        purpose,
        keyId,
        state: stateOf(key, keys),
        rows: rows === undefined ? null : Number(rows),
        effectiveAt,
        retiredAt,
      })
    }
    return shown
  })

async function rotate(context: CommandContext, purpose: string, json: boolean): Promise<void> {
  if (!isRotatable(purpose))
    throw new UsageError(
      `The purpose must be one of ${ROTATABLE.join(', ')}. Keys of lookups and sessions are not rotated.`,
    )
  const { database, keyMaker } = context
  const { begun } = await beginRotation(database, keyMaker.keyring, purpose)
  progress(
    begun ? `A new ${purpose} key was made.` : `A rotation of ${purpose} is under way; going on with it.`,
  )
  const newest = await untilEffective(context, purpose)
  const places = ENCRYPTED_ROWS.filter((encrypted) => encrypted.purpose === purpose && encrypted.reencrypt)
  let reencrypted = await reencryptAll(context, places)
  if (places.length > 0) {
    await untilSettled(context, purpose)
    // What commands that were on their way had still encrypted with the previous key.
    reencrypted += await reencryptAll(context, places)
  }
  const retired = await retireUnused(context, purpose)
  const previous = liveKeys(await database.operate(listKeys), purpose).filter(
    ({ keyId }) => keyId !== newest.keyId,
  )
  for (const { keyId } of previous) progress(`${keyId} stays: ${whyKept(context, purpose)}`)
  printRecord(
    {
      purpose,
      keyId: newest.keyId,
      reencrypted,
      retired: retired.join(' '),
      kept: previous.map(({ keyId }) => keyId).join(' '),
    },
    json,
  )
}

/** Waits until the newest key encrypts, here too. */
async function untilEffective(
  { database, keyMaker }: CommandContext,
  purpose: RotatablePurpose,
): Promise<KeyFacts> {
  for (;;) {
    const newest = liveKeys(await database.operate(listKeys), purpose).at(-1)!
    if (newest.effectiveForMs >= 0) {
      await keyMaker.keyring.refresh()
      return newest
    }
    progress(
      `${newest.keyId} encrypts in ${Math.ceil(-newest.effectiveForMs / 1_000)} s, when every process has read it.`,
    )
    await sleep(-newest.effectiveForMs)
  }
}

const NO_KEY = 'every purpose has a key in effect'

/** A command may have been encrypted for before the key took effect, and wait its whole time before it is written. */
const settledAfterMs = ({ config }: CommandContext): number => KEYRING_REFRESH_MS + config.COMMAND_TIMEOUT_MS

async function untilSettled(context: CommandContext, purpose: RotatablePurpose): Promise<void> {
  const newest = required(newestEffective(await context.database.operate(listKeys), purpose), NO_KEY)
  const waitMs = settledAfterMs(context) - newest.effectiveForMs
  if (waitMs <= 0) return
  progress(`Waiting ${Math.ceil(waitMs / 1_000)} s for commands that were on their way.`)
  await sleep(waitMs)
}

const PROGRESS_EVERY_MS = 1_000

/** Short transactions, each on its own: an interruption loses nothing, and rows that are done are not encrypted again. */
async function reencryptAll(context: CommandContext, places: readonly EncryptedRows[]): Promise<number> {
  let reencrypted = 0
  for (const place of places) reencrypted += await reencryptPlace(context, place)
  return reencrypted
}

async function reencryptPlace({ database, keyMaker }: CommandContext, rows: EncryptedRows): Promise<number> {
  const total = await database.operate((tx) => rowsToReencrypt(tx, rows))
  let reencrypted = 0
  let reportedAtMs = 0
  const report = () => progress(`${reencrypted} of ${total} rows encrypted again.`)
  let after: string | undefined = ''
  while (after !== undefined) {
    const from: string = after
    const { rows: done, last }: Reencrypted = await reencryptSome(database, keyMaker.keyring, rows, from)
    reencrypted += done
    after = last
    if (done === 0 || (after !== undefined && performance.now() < reportedAtMs + PROGRESS_EVERY_MS)) continue
    reportedAtMs = performance.now()
    report()
  }
  return reencrypted
}

async function retireUnused(context: CommandContext, purpose: RotatablePurpose): Promise<string[]> {
  return context.database.operate(async (tx) => {
    const keys = await listKeys(tx)
    const newest = required(newestEffective(keys, purpose), NO_KEY)
    const retired = []
    for (const key of liveKeys(keys, purpose)) {
      if (
        key.keyId === newest.keyId ||
        !isUnused(context, key, newest, await usesOf(tx, ENCRYPTED_ROWS, key))
      )
        continue
      await retireKey(tx, key.keyId)
      retired.push(key.keyId)
    }
    return retired
  })
}

/** Rows can be counted; tokens live no longer than their time; who encrypts to a published key is unknown. */
function isUnused(
  context: CommandContext,
  key: KeyFacts,
  newest: KeyFacts,
  rows: bigint | undefined,
): boolean {
  if (newest.effectiveForMs < settledAfterMs(context)) return false
  if (rows !== undefined) return rows === 0n
  return (
    key.purpose === 'token_signing' && newest.effectiveForMs > (context.config.TOKEN_TTL_SECONDS + 60) * 1_000
  )
}

function whyKept({ config }: CommandContext, purpose: RotatablePurpose): string {
  if (purpose === 'token_signing')
    return `tokens that it signed live for up to ${config.TOKEN_TTL_SECONDS} s. Run this again after that.`
  if (purpose === 'webhook_signing')
    return 'receivers may still verify with it. When none does: svc admin keys retire <keyId>'
  if (purpose.startsWith('encryption_'))
    return 'partners may still encrypt to it. When none does: svc admin keys retire <keyId>'
  return 'rows are still encrypted with it. Run this again later.'
}

const rewrap = async ({ database, keyMaker: { keyring } }: CommandContext, json: boolean): Promise<void> =>
  printRecord(await database.operate((tx) => keyring.rewrap(tx)), json)

async function retire({ database }: CommandContext, keyId: string, json: boolean): Promise<void> {
  const retired = await database.operate(async (tx) => {
    const keys = await listKeys(tx)
    const key = keys.find((known) => known.keyId === keyId)
    if (!key) throw new UsageError(`There is no data key ${keyId}. See them all with: svc admin keys list`)
    if (key.retiredAt) return key
    if (!isRotatable(key.purpose))
      throw new UsageError(
        `A ${key.purpose} key is never retired: what it stands for could not be found any more.`,
      )
    const newest = newestEffective(keys, key.purpose)
    if (!newest || newest.keyId === keyId || key.effectiveForMs < 0)
      throw new UsageError(
        `${keyId} is the key that encrypts. Make a new one first: svc admin keys rotate ${key.purpose}`,
      )
    const rows = await usesOf(tx, ENCRYPTED_ROWS, key)
    if (rows)
      throw new UsageError(
        `${rows} rows are still encrypted with ${keyId}. Encrypt them again with: svc admin keys rotate ${key.purpose}`,
      )
    await retireKey(tx, keyId)
    return (await listKeys(tx)).find((known) => known.keyId === keyId)!
  })
  printRecord({ keyId, purpose: retired.purpose, retiredAt: retired.retiredAt }, json)
}
