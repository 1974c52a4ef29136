import {
  CompactEncrypt,
  type CryptoKey,
  compactDecrypt,
  decodeProtectedHeader,
  importJWK,
  type JWK,
} from 'jose'
import { requireText } from './required.ts'

/** The key that the service shares with a partner, a JWK. `k` is base64url of 32 bytes. */
export interface SharedKey {
  readonly kty?: 'oct'
  readonly kid: string
  readonly alg: string
  readonly enc: string
  readonly k: string
}

/** How to encrypt: with the shared key, or to one of the keys that the service publishes. */
export type EncryptWith =
  | { readonly sharedKey: SharedKey }
  | { readonly publishedKey: 'ECDH-ES+A256KW P-256' | 'ECDH-ES+A256KW X25519' | 'RSA-OAEP-256' }

interface Key {
  readonly kid: string
  readonly alg: string
  readonly key: CryptoKey | Uint8Array
}

interface Encrypted {
  /** Compact JWE. */
  readonly jwe: string
  readonly kid: string
}

const ENC = 'A256GCM'
/** As long as the service lets its published keys be cached. */
const PUBLISHED_MS = 300_000

/** Encrypts requests and decrypts responses: compact JWE, one algorithm for each key, content in A256GCM. */
export class Encrypter {
  readonly #with: EncryptWith
  readonly #fetchKeys: () => Promise<readonly JWK[]>
  /** Imported once for each kid. */
  readonly #imported = new Map<string, Promise<Key>>()
  #published: { readonly key: Promise<Key>; readonly untilMs: number } | undefined

  /** @throws TypeError when a part of the shared key is missing */
  constructor(encryptWith: EncryptWith, fetchKeys: () => Promise<readonly JWK[]>) {
    if ('sharedKey' in encryptWith)
      requireParts('encryption.sharedKey', encryptWith.sharedKey, ['kid', 'alg', 'k'])
    this.#with = encryptWith
    this.#fetchKeys = fetchKeys
  }

  async encrypt(body: unknown): Promise<Encrypted> {
    const { kid, alg, key } = await this.#key()
    const jwe = await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(body)))
      .setProtectedHeader({ alg, enc: ENC, kid })
      .encrypt(key)
    return { jwe, kid }
  }

  /** After a rejected JWE: whether the service has replaced this key, so that encrypting again may help. */
  async replaced(kid: string): Promise<boolean> {
    if ('sharedKey' in this.#with) return false
    if ((await this.#published?.key)?.kid === kid) this.#published = undefined
    return (await this.#key()).kid !== kid
  }

  #key(): Promise<Key> {
    if ('sharedKey' in this.#with) return this.#import({ ...this.#with.sharedKey, kty: 'oct' })
    const nowMs = performance.now()
    if (!this.#published || nowMs >= this.#published.untilMs) {
      const published = { key: this.#findPublished(this.#with.publishedKey), untilMs: nowMs + PUBLISHED_MS }
      this.#published = published
      published.key.catch(() => {
        if (this.#published === published) this.#published = undefined
      })
    }
    return this.#published.key
  }

  /** Newest first, as the service publishes them: the first that fits is the one that stays. */
  async #findPublished(wanted: string): Promise<Key> {
    const [alg, crv] = wanted.split(' ')
    const keys = await this.#fetchKeys()
    const jwk = keys.find((key) => key.use === 'enc' && key.alg === alg && key.crv === crv)
    if (!jwk) throw new Error(`The service publishes no key for ${wanted}`)
    return this.#import(jwk)
  }

  #import(jwk: JWK): Promise<Key> {
    const known = this.#imported.get(jwk.kid!)
    if (known) return known
    const made = importKey(jwk)
    this.#imported.set(jwk.kid!, made)
    return made
  }
}

async function importKey(jwk: JWK): Promise<Key> {
  const { kid, alg } = jwk
  if (!kid || !alg) throw new TypeError('A key for encryption needs its kid and alg')
  return { kid, alg, key: await importJWK(jwk, alg) }
}

function requireParts<K extends object>(
  name: string,
  key: K | undefined,
  parts: readonly (keyof K & string)[],
) {
  for (const part of parts) requireText(`${name}.${part}`, key?.[part])
}

/** Decrypts the service's responses, each with the key that it names: shared keys, or private halves of registered pairs. */
export class ResponseDecrypter {
  readonly #keys = new Map<string, Promise<Key>>()

  /** @throws TypeError when there is no key, a part of one is missing, or two have the same kid */
  constructor(jwks: JWK | readonly JWK[]) {
    const all = [jwks].flat()
    if (all.length === 0) throw new TypeError('decryptResponsesWith must have at least one key')
    for (const jwk of all) {
      requireParts('decryptResponsesWith', jwk, ['kty', 'kid', 'alg'])
      if (this.#keys.has(jwk.kid!)) throw new TypeError(`decryptResponsesWith has two keys ${jwk.kid}`)
      const key = importKey(jwk)
      key.catch(() => undefined)
      this.#keys.set(jwk.kid!, key)
    }
  }

  /** @throws Error of `jose` when the response was changed; Error when it is encrypted to another key. */
  async decrypt(jwe: string): Promise<string> {
    const { kid = '' } = decodeProtectedHeader(jwe)
    const named = this.#keys.get(kid)
    if (!named)
      throw new Error(
        `The response is encrypted to key ${kid}, and decryptResponsesWith has ${[...this.#keys.keys()].join(', ')}`,
      )
    const { alg, key } = await named
    const { plaintext } = await compactDecrypt(jwe, key, {
      keyManagementAlgorithms: [alg],
      contentEncryptionAlgorithms: [ENC],
    })
    return new TextDecoder().decode(plaintext)
  }
}
