import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { inPieces } from '@svc/kernel/ids'
import type { Secret } from '@svc/kernel/secret'

interface MasterKey {
  /** Public name of the key: identifies which one wrapped a data key, and reveals nothing about it. */
  readonly id: string
  readonly wrapping: Buffer
  readonly signing: Buffer
}

const random = inPieces(randomBytes)
const IV_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM: IV, ciphertext, tag. The context is authenticated, so that a ciphertext cannot change its place. */
export function encryptBytes(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const iv = random(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(Buffer.from(context))
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Throws when the key, the context or a single bit is another. */
export function openBytes(key: Uint8Array, encrypted: Uint8Array, context: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(0, IV_BYTES))
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(encrypted.subarray(encrypted.length - TAG_BYTES))
  return Buffer.concat([
    decipher.update(encrypted.subarray(IV_BYTES, encrypted.length - TAG_BYTES)),
    decipher.final(),
  ])
}

/** Keys that wrap data keys and live outside the database. The first wraps, all unwrap. */
export class MasterKeys {
  readonly #keys: readonly MasterKey[]

  constructor(secrets: readonly Secret[]) {
    this.#keys = secrets.map((secret) => {
      const bytes = Buffer.from(secret.reveal(), 'base64')
      const derive = (info: string, size: number) =>
        Buffer.from(hkdfSync('sha256', bytes, Buffer.alloc(0), `svc ${info}`, size))
      return {
        id: `mk_${derive('master key id', 6).toString('hex')}`,
        wrapping: derive('wrap data keys', 32),
        signing: derive('sign backups', 32),
      }
    })
  }

  get ids(): readonly string[] {
    return this.#keys.map(({ id }) => id)
  }

  get currentId(): string {
    return this.#keys[0]!.id
  }

  /** HMAC-SHA-256 in hex, with the current key. */
  sign(text: string): string {
    return createHmac('sha256', this.#keys[0]!.signing).update(text).digest('hex')
  }

  /** Whether the key of this id signed the text; `undefined` when that key is not here. */
  signed(text: string, keyId: string, hmac: string): boolean | undefined {
    const key = this.#keys.find(({ id }) => id === keyId)
    if (!key) return undefined
    const expected = createHmac('sha256', key.signing).update(text).digest()
    const given = Buffer.from(hmac, 'hex')
    return given.length === expected.length && timingSafeEqual(given, expected)
  }

  wrap(plain: Uint8Array, context: string): Buffer {
    return encryptBytes(this.#keys[0]!.wrapping, plain, context)
  }

  unwrap(wrapped: Uint8Array, wrappedBy: string, context: string): Buffer {
    const key = this.#keys.find((candidate) => candidate.id === wrappedBy)
    if (!key)
      throw new Error(
        `The keys in this database were wrapped by master key ${wrappedBy}, but SVC_MASTER_KEY holds ${this.#keys.map((k) => k.id).join(', ')}. Add the previous key to SVC_MASTER_KEY, after a comma.`,
      )
    return openBytes(key.wrapping, wrapped, context)
  }
}
