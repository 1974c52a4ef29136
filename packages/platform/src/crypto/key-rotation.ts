import { invariant } from '@svc/kernel/invariant'
import { type Database, LOCK_TIMEOUT, sqlState, type Tx } from '../db/database.ts'
import { statement } from '../db/statement.ts'
import { takeTurn } from '../db/turn.ts'
import {
  ENCRYPTING,
  type EncryptingPurpose,
  encryptedWith,
  KEYRING_REFRESH_MS,
  type KeyPurpose,
  type Keyring,
  newKeyBytes,
} from './keyring.ts'

/** Digests and sessions are lookup keys: what was stored under them cannot be re-created from what is kept. */
export const ROTATABLE = [
  ...ENCRYPTING,
  'token_signing',
  'encryption_p256',
  'encryption_x25519',
  'encryption_rsa',
  'webhook_signing',
  'receipt_signing',
] as const satisfies readonly KeyPurpose[]
export type RotatablePurpose = (typeof ROTATABLE)[number]

/** A new key encrypts only after every process has read it twice. */
export const KEY_LEAD_MS = 2 * KEYRING_REFRESH_MS

/** One place whose rows are encrypted with the data keys of a purpose. */
export interface EncryptedRows {
  readonly purpose: EncryptingPurpose
  /** Rows that begin in one of these ways, which are of one length. */
  count(tx: Tx, encryptedWith: readonly Buffer[]): Promise<bigint>
  /** Encrypts rows again that the newest key did not encrypt, after this id; returns how many, and from where to go on. */
  reencrypt?(tx: Tx, keyring: Keyring, after: string): Promise<Reencrypted>
}

export interface Reencrypted {
  readonly rows: number
  /** Absent when there are no more. */
  readonly last?: string
}

export interface KeyFacts {
  readonly keyId: string
  readonly purpose: KeyPurpose
  readonly effectiveAt: Date
  readonly retiredAt: Date | null
  /** By the database's clock. */
  readonly effectiveForMs: number
}

interface FactsRow {
  key_id: string
  purpose: KeyPurpose
  effective_at: Date
  retired_at: Date | null
  effective_for_ms: number
}

const FACTS = statement<FactsRow>(
  'keyring_facts',
  `select key_id, purpose, effective_at, retired_at,
     (extract(epoch from clock_timestamp() - effective_at) * 1000)::float8 as effective_for_ms
   from keyring order by purpose, effective_at, key_id`,
)
const RETIRE = statement(
  'keyring_retire',
  'update keyring set retired_at = clock_timestamp() where key_id = $1 and retired_at is null',
)

/** Every key, without its secret, the oldest of each purpose first. */
export async function listKeys(tx: Tx): Promise<KeyFacts[]> {
  return (await tx.query(FACTS)).map((row) => ({
    keyId: row.key_id,
    purpose: row.purpose,
    effectiveAt: row.effective_at,
    retiredAt: row.retired_at,
    effectiveForMs: row.effective_for_ms,
  }))
}

/** Live keys of a purpose, the oldest first. */
export const liveKeys = (keys: readonly KeyFacts[], purpose: KeyPurpose): KeyFacts[] =>
  keys.filter((key) => key.purpose === purpose && key.retiredAt === null)

/** Adds the next key of a purpose, unless a rotation is under way: two live keys at once (decision C4). */
export async function beginRotation(
  database: Database,
  keyring: Keyring,
  purpose: RotatablePurpose,
): Promise<{ begun: boolean }> {
  // Before the transaction: an RSA key takes a busy machine seconds, and an idle transaction is ended after five.
  const bytes = newKeyBytes(purpose)
  return database.operate(async (tx) => {
    await takeTurn(tx, 'keyring')
    if (liveKeys(await listKeys(tx), purpose).length > 1) return { begun: false }
    await keyring.add(tx, purpose, KEY_LEAD_MS, bytes)
    return { begun: true }
  })
}

/** Each waits as long for a row as a command does: two seconds. */
const REENCRYPT_TRIES = 30

/** Encrypts the next rows again, in a transaction of its own; waits longer for a locked one than a command would. */
export async function reencryptSome(
  database: Database,
  keyring: Keyring,
  rows: EncryptedRows,
  after: string,
): Promise<Reencrypted> {
  for (let tries = 1; ; tries++) {
    try {
      return await database.operate((tx) => rows.reencrypt!(tx, keyring, after))
    } catch (error) {
      if (sqlState(error) !== LOCK_TIMEOUT || tries === REENCRYPT_TRIES) throw error
    }
  }
}

/** Every place of every purpose that encrypts rows. */
export type EncryptedPlaces = Readonly<
  Record<EncryptingPurpose, readonly [EncryptedRows, ...(readonly EncryptedRows[])]>
>

const encrypts = (purpose: KeyPurpose): purpose is EncryptingPurpose =>
  ENCRYPTING.some((known) => known === purpose)

/** How many rows are still encrypted with a key, in all places together; `undefined` for keys that encrypt no rows. */
export async function usesOf(
  tx: Tx,
  rows: readonly EncryptedRows[],
  { keyId, purpose }: KeyFacts,
): Promise<bigint | undefined> {
  const places = rows.filter((encrypted) => encrypted.purpose === purpose)
  if (!encrypts(purpose)) return undefined
  invariant(places.length > 0, `no place is known whose rows a ${purpose} key encrypts`)
  let uses = 0n
  for (const place of places) uses += await place.count(tx, [encryptedWith(keyId)])
  return uses
}

/** How many rows a rotation has before it: all that the newest key did not encrypt, also those of retired keys. */
export async function rowsToReencrypt(tx: Tx, rows: EncryptedRows): Promise<bigint> {
  const keys = await listKeys(tx)
  const newest = liveKeys(keys, rows.purpose).at(-1)
  return countOf(
    tx,
    rows,
    keys.filter(({ keyId }) => keyId !== newest?.keyId),
  )
}

/** How many rows retired keys encrypted: written by processes that did not know of the end of a rotation. */
export const retiredRows = async (tx: Tx, rows: EncryptedRows): Promise<bigint> =>
  countOf(
    tx,
    rows,
    (await listKeys(tx)).filter(({ retiredAt }) => retiredAt !== null),
  )

const countOf = async (tx: Tx, rows: EncryptedRows, keys: readonly KeyFacts[]): Promise<bigint> => {
  const own = keys.filter(({ purpose }) => purpose === rows.purpose)
  return own.length === 0
    ? 0n
    : rows.count(
        tx,
        own.map(({ keyId }) => encryptedWith(keyId)),
      )
}

export async function retireKey(tx: Tx, keyId: string): Promise<void> {
  await tx.query(RETIRE, [keyId])
}
