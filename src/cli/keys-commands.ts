import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { PARTNER_KEYS } from '../access/reseal-partner-keys.ts'
import { BULK_LINES } from '../cards/reseal-bulk-lines.ts'
import { CARD_NUMBERS } from '../cards/reseal-card-numbers.ts'
import {
  beginRotation,
  formerRows,
  type KeyFacts,
  listKeys,
  liveKeys,
  type Resealed,
  ROTATABLE,
  type RotatablePurpose,
  resealSome,
  retireKey,
  type SealedRows,
  usesOf,
} from '../platform/crypto/key-rotation.ts'
import { KEYRING_REFRESH_MS } from '../platform/crypto/keyring.ts'
import { STORED_ANSWERS } from '../platform/db/stored-answer-rows.ts'
import { WEBHOOK_SECRETS } from '../webhooks/reseal-webhook-secrets.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { printRecord, printRows } from './print.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

const SEALED_ROWS: readonly SealedRows[] = [
  CARD_NUMBERS,
  PARTNER_KEYS,
  STORED_ANSWERS,
  BULK_LINES,
  ...WEBHOOK_SECRETS,
]
const progress = (message: string): boolean => process.stderr.write(`${message}\n`)

export function addKeysCommands(program: Command): void {
  const keys = program.command('keys').description('the service’s own data keys: list and rotate')
  keys
    .command('list')
    .description('list all data keys, without their secrets, with the rows that each of them seals')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc keys list')
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
A new key is made; it seals once every process has read it, about 10 seconds later. Card numbers, partners' keys, webhook
secrets and waiting bulk orders are then sealed anew, and their former key is retired. Run it again after an interruption: it goes on where it was.
The former keys of the other purposes stay as long as something needs them: run it again later, or retire them yourself.

Examples:
  svc keys rotate card_number
  svc keys rotate seal_rsa && svc keys list`,
    )
    .action((purpose: string, { json = false }: Json) =>
      withInstallation((context) => rotate(context, purpose, json)),
    )
  keys
    .command('retire <keyId>')
    .description(
      'retire a former key at once: what was sealed to it is refused within seconds, its tokens die',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc keys retire dk_…')
    .action((keyId: string, { json = false }: Json) =>
      withInstallation((context) => retire(context, keyId, json)),
    )
}

const isRotatable = (purpose: string): purpose is RotatablePurpose =>
  ROTATABLE.some((known) => known === purpose)

function stateOf(key: KeyFacts, keys: readonly KeyFacts[]): string {
  if (key.retiredAt) return 'retired'
  if (key.effectiveForMs < 0) return 'waiting'
  return newestEffective(keys, key.purpose)?.keyId === key.keyId ? 'seals' : 'opens'
}

const newestEffective = (keys: readonly KeyFacts[], purpose: KeyFacts['purpose']): KeyFacts | undefined =>
  liveKeys(keys, purpose).findLast((key) => key.effectiveForMs >= 0)

const shownKeys = ({ database }: CommandContext) =>
  database.operate(async (tx) => {
    const keys = await listKeys(tx)
    const shown = []
    for (const key of keys) {
      const rows = await usesOf(tx, SEALED_ROWS, key)
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
      `The purpose must be one of ${ROTATABLE.join(', ')}. Keys of look-ups and sessions are not rotated.`,
    )
  const { database, keyMaker } = context
  const { begun } = await beginRotation(database, keyMaker.keyring, purpose)
  progress(
    begun ? `A new ${purpose} key was made.` : `A rotation of ${purpose} is under way; going on with it.`,
  )
  const newest = await untilEffective(context, purpose)
  const places = SEALED_ROWS.filter((sealed) => sealed.purpose === purpose && sealed.reseal)
  let resealed = await resealAll(context, places)
  if (places.length > 0) {
    await untilSettled(context, purpose)
    // What commands that were on their way had still sealed with the former key.
    resealed += await resealAll(context, places)
  }
  const retired = await retireUnused(context, purpose)
  const former = liveKeys(await database.operate(listKeys), purpose).filter(
    ({ keyId }) => keyId !== newest.keyId,
  )
  for (const { keyId } of former) progress(`${keyId} stays: ${whyKept(context, purpose)}`)
  printRecord(
    {
      purpose,
      keyId: newest.keyId,
      resealed,
      retired: retired.join(' '),
      kept: former.map(({ keyId }) => keyId).join(' '),
    },
    json,
  )
}

/** Waits until the newest key seals, here too. */
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
      `${newest.keyId} seals in ${Math.ceil(-newest.effectiveForMs / 1_000)} s, when every process has read it.`,
    )
    await sleep(-newest.effectiveForMs)
  }
}

/** A command may have been sealed for before the key took effect, and wait its whole time before it is written. */
const settledAfterMs = ({ config }: CommandContext): number => KEYRING_REFRESH_MS + config.COMMAND_TIMEOUT_MS

async function untilSettled(context: CommandContext, purpose: RotatablePurpose): Promise<void> {
  const newest = newestEffective(await context.database.operate(listKeys), purpose)!
  const waitMs = settledAfterMs(context) - newest.effectiveForMs
  if (waitMs <= 0) return
  progress(`Waiting ${Math.ceil(waitMs / 1_000)} s for commands that were on their way.`)
  await sleep(waitMs)
}

const PROGRESS_EVERY_MS = 1_000

/** Short transactions, each on its own: an interruption loses nothing, and rows that are done are not sealed again. */
async function resealAll(context: CommandContext, places: readonly SealedRows[]): Promise<number> {
  let resealed = 0
  for (const place of places) resealed += await resealPlace(context, place)
  return resealed
}

async function resealPlace({ database, keyMaker }: CommandContext, rows: SealedRows): Promise<number> {
  const total = await database.operate((tx) => formerRows(tx, rows))
  let resealed = 0
  let toldAtMs = 0
  const tell = () => progress(`${resealed} of ${total} rows sealed anew.`)
  let after: string | undefined = ''
  while (after !== undefined) {
    const from: string = after
    const { rows: done, last }: Resealed = await resealSome(database, keyMaker.keyring, rows, from)
    resealed += done
    after = last
    if (done === 0 || (after !== undefined && performance.now() < toldAtMs + PROGRESS_EVERY_MS)) continue
    toldAtMs = performance.now()
    tell()
  }
  return resealed
}

async function retireUnused(context: CommandContext, purpose: RotatablePurpose): Promise<string[]> {
  return context.database.operate(async (tx) => {
    const keys = await listKeys(tx)
    const newest = newestEffective(keys, purpose)!
    const retired = []
    for (const key of liveKeys(keys, purpose)) {
      if (key.keyId === newest.keyId || !isUnused(context, key, newest, await usesOf(tx, SEALED_ROWS, key)))
        continue
      await retireKey(tx, key.keyId)
      retired.push(key.keyId)
    }
    return retired
  })
}

/** Rows tell of themselves; tokens live no longer than their time; who seals to a published key nobody knows. */
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
    return 'receivers may still verify with it. When none does: svc keys retire <keyId>'
  if (purpose.startsWith('seal_'))
    return 'partners may still seal to it. When none does: svc keys retire <keyId>'
  return 'rows are still sealed with it. Run this again later.'
}

async function retire({ database }: CommandContext, keyId: string, json: boolean): Promise<void> {
  const retired = await database.operate(async (tx) => {
    const keys = await listKeys(tx)
    const key = keys.find((known) => known.keyId === keyId)
    if (!key) throw new UsageError(`There is no data key ${keyId}. See them all with: svc keys list`)
    if (key.retiredAt) return key
    if (!isRotatable(key.purpose))
      throw new UsageError(
        `A ${key.purpose} key is never retired: what it stands for could not be found any more.`,
      )
    const newest = newestEffective(keys, key.purpose)
    if (!newest || newest.keyId === keyId || key.effectiveForMs < 0)
      throw new UsageError(
        `${keyId} is the key that seals. Make a new one first: svc keys rotate ${key.purpose}`,
      )
    const rows = await usesOf(tx, SEALED_ROWS, key)
    if (rows)
      throw new UsageError(
        `${rows} rows are still sealed with ${keyId}. Seal them anew with: svc keys rotate ${key.purpose}`,
      )
    await retireKey(tx, keyId)
    return (await listKeys(tx)).find((known) => known.keyId === keyId)!
  })
  printRecord({ keyId, purpose: retired.purpose, retiredAt: retired.retiredAt }, json)
}
