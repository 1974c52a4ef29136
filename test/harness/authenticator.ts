import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'
import { isoCBOR } from '@simplewebauthn/server/helpers'

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()
const FLAGS = { present: 0x01, verified: 0x04, attested: 0x40 } as const

interface Credential {
  readonly id: Buffer
  readonly privateKey: KeyObject
  readonly userHandle: string
}

/** What a test spoils of a response. */
export interface Spoiled {
  readonly origin?: string
  readonly rpId?: string
  /** Whether the authenticator recognized the person. */
  readonly verified?: boolean
  readonly challenge?: string
  readonly type?: string
  readonly userHandle?: string
}

/** An authenticator in software: one passkey, with a counter (WebAuthn level 3 section 6). */
export class Authenticator {
  readonly #origin: string
  #credential: Credential | undefined
  /** Of the last use; 0 for one that does not count. */
  counter = 1
  counts = true

  constructor(origin: string) {
    this.#origin = origin
  }

  #clientData(type: string, challenge: string, spoiled: Spoiled): Buffer {
    const origin = spoiled.origin ?? this.#origin
    return Buffer.from(
      JSON.stringify({
        type: spoiled.type ?? type,
        challenge: spoiled.challenge ?? challenge,
        origin,
        crossOrigin: false,
      }),
    )
  }

  #authenticatorData(rpId: string, flags: number, attested = Buffer.alloc(0)): Buffer {
    const head = Buffer.alloc(5)
    head.writeUInt8(flags)
    head.writeUInt32BE(this.counts ? this.counter : 0, 1)
    return Buffer.concat([sha256(rpId), head, attested])
  }

  /** Creates the passkey, without attestation. */
  create(options: PublicKeyCredentialCreationOptionsJSON, spoiled: Spoiled = {}) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    const id = randomBytes(32)
    this.#credential = { id, privateKey, userHandle: options.user.id }
    const cose = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
      [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
    ])
    const length = Buffer.alloc(2)
    length.writeUInt16BE(id.length)
    const attested = Buffer.concat([Buffer.alloc(16), length, id, Buffer.from(isoCBOR.encode(cose))])
    const flags = FLAGS.present | FLAGS.attested | (spoiled.verified === false ? 0 : FLAGS.verified)
    const authData = this.#authenticatorData(spoiled.rpId ?? String(options.rp.id), flags, attested)
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', new Uint8Array(authData)],
    ])
    return {
      id: id.toString('base64url'),
      rawId: id.toString('base64url'),
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: this.#clientData('webauthn.create', options.challenge, spoiled).toString('base64url'),
        attestationObject: Buffer.from(isoCBOR.encode(attestation as never)).toString('base64url'),
        transports: ['internal'],
      },
    }
  }

  /** Signs a challenge with the passkey. The counter rises with it. */
  use(options: PublicKeyCredentialRequestOptionsJSON, spoiled: Spoiled = {}) {
    const credential = this.#credential
    if (!credential) throw new Error('no passkey was created')
    this.counter++
    const flags = FLAGS.present | (spoiled.verified === false ? 0 : FLAGS.verified)
    const authData = this.#authenticatorData(spoiled.rpId ?? String(options.rpId), flags)
    const clientData = this.#clientData('webauthn.get', options.challenge, spoiled)
    const signed = Buffer.concat([authData, sha256(clientData)])
    return {
      id: credential.id.toString('base64url'),
      rawId: credential.id.toString('base64url'),
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: createSign('sha256').update(signed).sign(credential.privateKey).toString('base64url'),
        userHandle: spoiled.userHandle ?? credential.userHandle,
      },
    }
  }
}
