import { createHmac, randomBytes } from 'node:crypto'
import { newId } from '../../kernel/ids.ts'
import { invariant } from '../../kernel/invariant.ts'
import type { Database } from '../db/database.ts'
import { statement } from '../db/statement.ts'
import { type MasterKeys, openBytes, sealBytes } from './master-keys.ts'
import { newSealKeyPair, type SealPairKind } from './seal-keys.ts'

/** What a data key is for; a key serves one purpose only. */
export type KeyPurpose = keyof typeof MAKE

export interface DataKey {
  readonly keyId: string
  readonly purpose: KeyPurpose
  /** 32 secret bytes, or for key pairs the private key in PKCS #8. */
  readonly bytes: Buffer
}

const LOAD = statement<{ key_id: string; purpose: KeyPurpose; wrapped: Buffer; wrapped_by: string }>(
  'keyring_load',
  'select key_id, purpose, wrapped, wrapped_by from keyring where retired_at is null order by key_id',
)
const LOCK = statement('keyring_lock', `select pg_advisory_xact_lock(hashtext('svc keyring'))`)
const ADD = statement('keyring_add', 'insert into keyring (key_id, purpose, wrapped, wrapped_by) values ($1, $2, $3, $4)')

const secret = () => randomBytes(32)
const pair = (kind: SealPairKind) => () => newSealKeyPair(kind).privateKey.export({ format: 'der', type: 'pkcs8' })
const MAKE = {
  api_key_digest: secret,
  stored_answer: secret,
  token_signing: secret,
  session: secret,
  upi_rail: secret,
  partner_key: secret,
  card_number: secret,
  card_number_digest: secret,
  seal_p256: pair('P-256'),
  seal_x25519: pair('X25519'),
  seal_rsa: pair('RSA'),
} as const
const PURPOSES = Object.keys(MAKE) as KeyPurpose[]
const context = (keyId: string, purpose: string) => `data key ${purpose} ${keyId}`

/**
 * The service's data keys (envelope encryption): random, kept in the database wrapped by the master key, held open in
 * memory. The newest of a purpose seals; all of them open.
 */
export class Keyring {
  readonly #byId = new Map<string, DataKey>()
  readonly #newest = new Map<KeyPurpose, DataKey>()

  /** Loads all keys, and makes those that are missing; only one of several starting processes makes them. */
  static async open(database: Database, masterKeys: MasterKeys): Promise<Keyring> {
    const keyring = new Keyring()
    await keyring.#load(database, masterKeys)
    if (PURPOSES.some((purpose) => !keyring.#newest.has(purpose))) {
      await database.write([], async (tx) => {
        await tx.query(LOCK)
        const present = new Set((await tx.query(LOAD)).map((row) => row.purpose))
        for (const purpose of PURPOSES.filter((p) => !present.has(p))) {
          const keyId = newId('dk', Date.now(), randomBytes)
          const wrapped = masterKeys.wrap(MAKE[purpose](), context(keyId, purpose))
          await tx.query(ADD, [keyId, purpose, wrapped, masterKeys.currentId])
        }
      })
      await keyring.#load(database, masterKeys)
    }
    return keyring
  }

  async #load(database: Database, masterKeys: MasterKeys): Promise<void> {
    for (const row of await database.directory(LOAD)) {
      const bytes = masterKeys.unwrap(row.wrapped, row.wrapped_by, context(row.key_id, row.purpose))
      const key: DataKey = { keyId: row.key_id, purpose: row.purpose, bytes }
      this.#byId.set(key.keyId, key)
      this.#newest.set(key.purpose, key)
    }
  }

  newest(purpose: KeyPurpose): DataKey {
    const key = this.#newest.get(purpose)
    invariant(key, `no data key for ${purpose}`)
    return key
  }

  all(purpose: KeyPurpose): DataKey[] {
    return [...this.#byId.values()].filter((key) => key.purpose === purpose)
  }

  /** Key id, `0x00`, then the sealed bytes. The context must be the same when it is opened. */
  seal(purpose: KeyPurpose, plain: Uint8Array, sealedFor: string): Buffer {
    const key = this.newest(purpose)
    return Buffer.concat([Buffer.from(`${key.keyId}\0`), sealBytes(key.bytes, plain, sealedFor)])
  }

  open(purpose: KeyPurpose, sealed: Buffer, sealedFor: string): Buffer {
    const end = sealed.indexOf(0)
    const key = this.#byId.get(sealed.subarray(0, end).toString())
    invariant(key?.purpose === purpose, `sealed with a key that is not a ${purpose} key`)
    return openBytes(key.bytes, sealed.subarray(end + 1), sealedFor)
  }

  /** For what is never sealed anew: look-ups by digest, and sessions, which must outlive a rotation. */
  oldest(purpose: KeyPurpose): DataKey {
    const [key] = this.all(purpose)
    invariant(key, `no data key for ${purpose}`)
    return key
  }

  /** Keyed digest for equality look-ups. Always with the oldest key: a look-up must find what was stored before. */
  digest(purpose: KeyPurpose, text: string): Buffer {
    return createHmac('sha256', this.oldest(purpose).bytes).update(text).digest()
  }
}
