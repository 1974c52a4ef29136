import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto'
import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import { type JweKeyPairKind, newJweKeyPair } from '@svc/jwe/keys'
import { groupBy } from '@svc/kernel/group-by'
import { invariant } from '@svc/kernel/invariant'
import type { Database, Tx } from '../db/database.ts'
import { readEpoch } from '../db/epoch.ts'
import { type Home, readHome } from '../db/home.ts'
import { statement } from '../db/statement.ts'
import { takeTurn } from '../db/turn.ts'
import { Loop, type LoopTools } from '../loop.ts'
import { encryptBytes, type MasterKeys, openBytes } from './master-keys.ts'

/** What a data key is for; a key serves one purpose only. */
export type KeyPurpose = keyof typeof MAKE

/** Purposes whose keys encrypt what rows have; `svc admin keys rotate` encrypts those rows again. */
export const ENCRYPTING = [
  'card_number',
  'partner_key',
  'stored_answer',
  'webhook_secret',
  'bulk_row',
  'operator_totp',
  'dispute_attachment',
] as const satisfies readonly KeyPurpose[]
export type EncryptingPurpose = (typeof ENCRYPTING)[number]

export interface DataKey {
  readonly keyId: string
  readonly purpose: KeyPurpose
  /** 32 secret bytes, or for key pairs the private key in PKCS #8. */
  readonly bytes: Buffer
}

interface KeyRow {
  key_id: string
  purpose: KeyPurpose
  wrapped: Buffer
  wrapped_by: string
  due_ms: number
  retired: boolean
}

// A retired key that encrypted rows goes on decrypting: a process that was cut off may have written with it after the
// end of its rotation (decision C4).
const LOAD = statement<KeyRow>(
  'keyring_load',
  `select key_id, purpose, wrapped, wrapped_by, retired_at is not null as retired,
     (extract(epoch from effective_at - clock_timestamp()) * 1000)::float8 as due_ms
   from keyring where retired_at is null or purpose in (${ENCRYPTING.map((purpose) => `'${purpose}'`).join(', ')})
   order by effective_at, key_id`,
)
const ADD = statement(
  'keyring_add',
  `insert into keyring (key_id, purpose, wrapped, wrapped_by, effective_at)
   values ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 millisecond')`,
)

const secret = () => randomBytes(32)
const pair = (kind: JweKeyPairKind) => () =>
  newJweKeyPair(kind).privateKey.export({ format: 'der', type: 'pkcs8' })
const signingPair = () => generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' })
const MAKE = {
  api_key_digest: secret,
  stored_answer: secret,
  token_signing: secret,
  session: secret,
  operator_totp: secret,
  upi_rail: secret,
  bank_rail: secret,
  card_rail: secret,
  partner_key: secret,
  card_number: secret,
  card_number_digest: secret,
  webhook_secret: secret,
  webhook_signing: signingPair,
  receipt_signing: signingPair,
  bulk_row: secret,
  dispute_attachment: secret,
  encryption_p256: pair('P-256'),
  encryption_x25519: pair('X25519'),
  encryption_rsa: pair('RSA'),
} as const
/** The secret of a new key, drawn by chance. An RSA key takes seconds on a busy machine. */
export const newKeyBytes = (purpose: KeyPurpose): Buffer => MAKE[purpose]()

const PURPOSES = Object.keys(MAKE) as KeyPurpose[]
const context = (keyId: string, purpose: string) => `data key ${purpose} ${keyId}`

const BY_OTHERS = statement<{ key_id: string; purpose: KeyPurpose; wrapped: Buffer; wrapped_by: string }>(
  'keyring_wrapped_by_others',
  'select key_id, purpose, wrapped, wrapped_by from keyring where wrapped_by <> $1 order by key_id for update',
)
const REWRAP = statement(
  'keyring_rewrap',
  `update keyring k set wrapped = n.wrapped, wrapped_by = $1
   from unnest($2::text[], $3::bytea[]) as n (key_id, wrapped) where k.key_id = n.key_id`,
)

/** How often a process reads the keyring again, in milliseconds; a new key encrypts later than that. */
export const KEYRING_REFRESH_MS = 5_000

interface LoadedKey extends DataKey {
  /** In `performance.now()` time, so that steps of the wall clock change nothing. */
  readonly effectiveAtMs: number
  readonly retired: boolean
}

/**
 * The service's data keys (envelope encryption): random, kept in the database wrapped by the master key, held open in
 * memory. The newest effective one of a purpose encrypts; all of them decrypt.
 */
export class Keyring {
  readonly #database: Database
  readonly #masterKeys: MasterKeys
  #byId: ReadonlyMap<string, LoadedKey> = new Map()
  /** Not retired, in order of their effect. */
  #live: ReadonlyMap<KeyPurpose, readonly LoadedKey[]> = new Map()
  #refreshing: Promise<void> | undefined
  #home: Home = {}
  /** Which data these keys belong to: a restore brings others. */
  readonly epoch: string

  private constructor(database: Database, masterKeys: MasterKeys, epoch: string) {
    this.epoch = epoch
    this.#database = database
    this.#masterKeys = masterKeys
  }

  /** Loads all keys, and makes those that are missing; only one of several starting processes makes them. */
  static async open(database: Database, masterKeys: MasterKeys, rsaKey?: Promise<Buffer>): Promise<Keyring> {
    const keyring = new Keyring(database, masterKeys, await readEpoch(database))
    await keyring.refresh()
    const missing = PURPOSES.filter((purpose) => !keyring.#live.has(purpose))
    if (missing.length > 0) {
      // Before the transaction: an RSA key takes a busy machine seconds, and an idle transaction is ended after five.
      const made = new Map<KeyPurpose, Buffer>()
      for (const purpose of missing)
        made.set(purpose, purpose === 'encryption_rsa' && rsaKey ? await rsaKey : newKeyBytes(purpose))
      await database.write([], async (tx) => {
        await takeTurn(tx, 'keyring')
        const present = new Set((await tx.query(LOAD)).flatMap((row) => (row.retired ? [] : row.purpose)))
        for (const purpose of missing.filter((p) => !present.has(p)))
          await keyring.add(tx, purpose, 0, made.get(purpose)!)
      })
      await keyring.refresh()
    }
    return keyring
  }

  /** Adds a key that encrypts from `leadMs` on; processes learn of it by their next refresh. Returns its id. */
  async add(tx: Tx, purpose: KeyPurpose, leadMs: number, bytes: Buffer): Promise<string> {
    const keyId = newId('dk', Date.now(), randomBytes)
    const wrapped = this.#masterKeys.wrap(bytes, context(keyId, purpose))
    await tx.query(ADD, [keyId, purpose, wrapped, this.#masterKeys.currentId, leadMs])
    return keyId
  }

  /**
   * Wraps all keys by the current master key, retired ones too, so that previous master keys are needed no more.
   * `rewrapped`: how many another master key had wrapped.
   */
  async rewrap(tx: Tx): Promise<{ masterKey: string; rewrapped: number }> {
    const { currentId } = this.#masterKeys
    await takeTurn(tx, 'keyring')
    const rows = await tx.query(BY_OTHERS, [currentId])
    const rewrapped = rows.map(({ key_id: keyId, purpose, wrapped, wrapped_by: wrappedBy }) => {
      const bytes = this.#masterKeys.unwrap(wrapped, wrappedBy, context(keyId, purpose))
      const again = this.#masterKeys.wrap(bytes, context(keyId, purpose))
      const opened = this.#masterKeys.unwrap(again, currentId, context(keyId, purpose))
      invariant(opened.equals(bytes), `the rewrapped key ${keyId} is another`)
      return again
    })
    await tx.query(REWRAP, [currentId, rows.map((row) => row.key_id), rewrapped])
    return { masterKey: currentId, rewrapped: rows.length }
  }

  /** Reads the keyring again; concurrent calls share one read. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#load().finally(() => (this.#refreshing = undefined))
    return this.#refreshing
  }

  /** Loads the keys that other processes add. */
  refreshLoop(tools: LoopTools): Loop {
    const work = () => this.refresh()
    return new Loop({ name: 'keyring_refresh', everyMs: KEYRING_REFRESH_MS, work }, tools)
  }

  /** The cell that issues what is made with these keys, as of the last refresh. */
  get home(): Home {
    return this.#home
  }

  async #load(): Promise<void> {
    this.#home = await readHome(this.#database)
    const rows = await this.#database.directory(LOAD, [], 'silence')
    const known = new Set(this.#masterKeys.ids)
    // A retired key that a master key of the past wrapped is no reason not to start.
    const loaded = rows.flatMap((row) =>
      row.retired && !known.has(row.wrapped_by) ? [] : [this.#loaded(row)],
    )
    this.#byId = new Map(loaded.map((key) => [key.keyId, key]))
    this.#live = groupBy(
      loaded.filter((key) => !key.retired),
      (key) => key.purpose,
    )
  }

  /** A key that is known stays the same object, so that what is derived from it can be kept with it. */
  #loaded({
    key_id: keyId,
    purpose,
    wrapped,
    wrapped_by: wrappedBy,
    due_ms: dueMs,
    retired,
  }: KeyRow): LoadedKey {
    const known = this.#byId.get(keyId)
    if (known?.retired === retired) return known
    const bytes = known?.bytes ?? this.#masterKeys.unwrap(wrapped, wrappedBy, context(keyId, purpose))
    return { keyId, purpose, bytes, effectiveAtMs: performance.now() + dueMs, retired }
  }

  /** All that are in use, including one that encrypts only later. */
  all(purpose: KeyPurpose): readonly DataKey[] {
    return this.#live.get(purpose) ?? []
  }

  /** Those that every process knows: what is published. */
  effective(purpose: KeyPurpose): readonly DataKey[] {
    const now = performance.now()
    return (this.#live.get(purpose) ?? []).filter((key) => key.effectiveAtMs <= now)
  }

  newest(purpose: KeyPurpose): DataKey {
    const key = this.effective(purpose).at(-1)
    invariant(key, `no data key for ${purpose}`)
    return key
  }

  /** Key id, `0x00`, then the encrypted bytes. The context must be the same when it is decrypted. */
  encrypt(purpose: EncryptingPurpose, plain: Uint8Array, encryptedFor: string): Buffer {
    const key = this.newest(purpose)
    return Buffer.concat([encryptedWith(key.keyId), encryptBytes(key.bytes, plain, encryptedFor)])
  }

  open(purpose: EncryptingPurpose, encrypted: Buffer, encryptedFor: string): Buffer {
    const end = encrypted.indexOf(0)
    const key = this.#byId.get(encrypted.subarray(0, end).toString())
    if (!key) {
      // Made after the last refresh: the next attempt has it.
      this.refresh().catch(() => undefined)
      return fail('temporarily_unavailable', {
        retryAfterSeconds: 1,
        cause: new Error(`encrypted with a ${purpose} key that is not known`),
      })
    }
    invariant(key.purpose === purpose, `encrypted with a key that is not a ${purpose} key`)
    return openBytes(key.bytes, encrypted.subarray(end + 1), encryptedFor)
  }

  /** For what is never encrypted again: lookups by digest, and sessions, which must outlive a rotation. */
  oldest(purpose: KeyPurpose): DataKey {
    const [key] = this.all(purpose)
    invariant(key, `no data key for ${purpose}`)
    return key
  }

  /** Keyed digest for equality lookups. Always with the oldest key: a lookup must find what was stored before. */
  digest(purpose: KeyPurpose, text: string): Buffer {
    return createHmac('sha256', this.oldest(purpose).bytes).update(text).digest()
  }
}

/** How everything begins that this key encrypted: to find it among what other keys encrypted. */
export const encryptedWith = (keyId: string): Buffer => Buffer.from(`${keyId}\0`)
