import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { Failure } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import { isScope, type Scope } from '@svc/contract/scopes'
import { base32 } from '@svc/kernel/ids'
import type { DataKey } from '@svc/platform/crypto/keyring'
import type { CoreServices } from '@svc/platform/services'
import { decodeJwt, errors, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { refuseToken } from './refused-token.ts'
import type { TenantKind } from './tenant.ts'

/** RFC 8725 section 3.1: one algorithm, pinned; what the token's header says does not choose. */
const ALGORITHM = 'EdDSA'
const TYPE = 'at+jwt'
const AUDIENCE = 'svc'
const TOKENS_CACHED = 20_000
/** By so much the clocks of processes may differ. A token issued later than that lived before our clock was set back. */
const CLOCKS_APART_MS = 60_000
/** PKCS #8 wrapping of a raw Ed25519 seed (RFC 8410 section 7). */
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

interface SigningKey {
  readonly kid: string
  /** The header of every token that it signs, as it stands in the token. */
  readonly header: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** What a token says of its bearer. */
export interface TokenClaims {
  readonly tenantId: string
  /** Merchants' tokens and partners' never cross. */
  readonly kind: TenantKind
  /** The credential that it was issued for: revoking that one revokes the token. */
  readonly credentialId: string
  /** Of a merchant's token: the public half of its credentials. */
  readonly accessKey?: string
  /** Of a partner's token: what it may be used for, separated by spaces. */
  readonly scope?: string
  /** Of the limits of its credential when it was issued (decision A16); none in tokens of earlier versions. */
  readonly limitsRevision?: number
}

/** Claims with the token's own id (`jti`), to which a session is bound. */
export interface LiveToken extends TokenClaims {
  readonly tokenId: string
  readonly scopes: ReadonlySet<Scope>
}

export interface IssuedToken {
  readonly token: string
  readonly tokenId: string
  /** Seconds since 1970. */
  readonly issuedAt: number
  /** Milliseconds since 1970, a whole second. */
  readonly expiresAtMs: number
}

interface Verified {
  readonly kid: string | undefined
  readonly claims: LiveToken
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

/** Importing a key costs more than a signature, so it is kept as long as the data key is. */
const signingKeys = new WeakMap<DataKey, SigningKey>()

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

function signingKey(dataKey: DataKey): SigningKey {
  const known = signingKeys.get(dataKey)
  if (known) return known
  const privateKey = createPrivateKey({
    key: Buffer.concat([ED25519_PKCS8, dataKey.bytes]),
    format: 'der',
    type: 'pkcs8',
  })
  const kid = base32(createHash('sha256').update(dataKey.keyId).digest().subarray(0, 5))
  const header = encoded({ alg: ALGORITHM, typ: TYPE, kid })
  const made = { kid, header, privateKey, publicKey: createPublicKey(privateKey) }
  signingKeys.set(dataKey, made)
  return made
}

type TokenTools = Pick<CoreServices, 'clock' | 'config' | 'keyring' | 'publicUrl' | 'random'>

/** Issues and verifies access tokens: signed JWTs (RFC 9068) that other services can verify from the published keys. */
export class AccessTokens {
  readonly #services: TokenTools
  /** A token is verified once; its signature cannot become wrong later, only its time and its revocation can. */
  readonly #verified = new LRUCache<string, Verified>({ max: TOKENS_CACHED })

  constructor(services: TokenTools) {
    this.#services = services
  }

  /** Those with which tokens are signed or were; read each time, since keys rotate while the service runs. */
  #keys(): SigningKey[] {
    return this.#services.keyring.all('token_signing').map(signingKey)
  }

  /** Names what signs a token issued now. */
  signedWith(): string {
    return this.#services.keyring.newest('token_signing').keyId
  }

  /** Seconds since 1970, by the tenant's clock: what a token issued now says of its issue. */
  issuedAt(tenantId: string): number {
    return Math.floor(this.#services.clock.of(tenantId).now() / 1_000)
  }

  issue(claims: TokenClaims): IssuedToken {
    const { clock, config, keyring, publicUrl, random } = this.#services
    const { header, privateKey } = signingKey(keyring.newest('token_signing'))
    const issuedAt = this.issuedAt(claims.tenantId)
    const expiresAt = issuedAt + config.TOKEN_TTL_SECONDS
    const tokenId = newId('tok', clock.now(), random)
    const { credentialId, kind, accessKey, scope, limitsRevision } = claims
    const payload = encoded({
      client_id: credentialId,
      kind,
      access_key: accessKey,
      scope,
      limits: limitsRevision,
      // For routers in front of cells (decision X40); absent where there are none.
      cell: keyring.home.cell,
      iss: publicUrl(),
      sub: claims.tenantId,
      aud: AUDIENCE,
      iat: issuedAt,
      exp: expiresAt,
      jti: tokenId,
    })
    // RFC 7515 section 5.1. By the library a signature goes through WebCrypto's queue, which costs twice what it does.
    const signed = `${header}.${payload}`
    const signature = sign(null, Buffer.from(signed, 'latin1'), privateKey).toString('base64url')
    return { token: `${signed}.${signature}`, tokenId, issuedAt, expiresAtMs: expiresAt * 1_000 }
  }

  /** Throws `invalid_token` unless it is a live token of this service and kind. Revocation is checked separately. */
  async verify(token: string, kind: TenantKind | 'either'): Promise<LiveToken> {
    const known = this.#verified.get(token) ?? (await this.#check(token))
    if (!this.#isLive(known)) refuseToken('expired')
    if (kind !== 'either' && known.claims.kind !== kind)
      refuseToken(kind === 'merchant' ? 'of_partner' : 'of_merchant')
    return known.claims
  }

  /** The claims of a live token that was verified before. Revocation is checked separately. */
  known(token: string): LiveToken | undefined {
    const known = this.#verified.peek(token)
    return known && this.#isLive(known) ? known.claims : undefined
  }

  #isLive({ kid, claims, issuedAtMs, expiresAtMs }: Verified): boolean {
    // A key that is retired takes its tokens with it, also those that were verified before.
    if (!this.#keys().some((key) => key.kid === kid)) return false
    const nowMs = this.#services.clock.of(claims.tenantId).now()
    return nowMs < expiresAtMs && nowMs >= issuedAtMs - CLOCKS_APART_MS
  }

  async #check(token: string): Promise<Verified> {
    try {
      const { payload, protectedHeader } = await jwtVerify(
        token,
        ({ kid }) => this.#keys().find((key) => key.kid === kid)?.publicKey ?? refuseToken('unknown'),
        {
          algorithms: [ALGORITHM],
          typ: TYPE,
          audience: AUDIENCE,
          issuer: this.#services.publicUrl(),
          requiredClaims: ['sub', 'exp', 'iat', 'jti', 'client_id', 'kind'],
          // Not trusted yet: it only chooses the clock, and the signature decides whether it is the token's own.
          currentDate: new Date(this.#services.clock.of(decodeJwt(token).sub ?? '').now()),
        },
      )
      const { access_key: accessKey, limits: limitsRevision, scope } = payload
      const scopes = typeof scope === 'string' ? scope.split(' ') : []
      // One of a version with other scopes: 401 makes its client get a new one.
      if (!scopes.every(isScope)) refuseToken('outdated')
      const claims: LiveToken = {
        tenantId: payload.sub!,
        kind: payload['kind'] as TenantKind,
        credentialId: payload['client_id'] as string,
        tokenId: payload.jti!,
        ...(typeof accessKey === 'string' && { accessKey }),
        ...(typeof limitsRevision === 'number' && { limitsRevision }),
        scopes: new Set(scopes),
      }
      const { kid } = protectedHeader
      const verified = { kid, claims, issuedAtMs: payload.iat! * 1_000, expiresAtMs: payload.exp! * 1_000 }
      this.#verified.set(token, verified)
      return verified
    } catch (cause) {
      if (cause instanceof Failure) throw cause
      // The signature is verified before the times: only a token of this service is said to have expired.
      return refuseToken(cause instanceof errors.JWTExpired ? 'expired' : 'unknown', cause)
    }
  }

  /** RFC 7517: the keys by which anyone can verify our tokens. */
  published(): Record<string, unknown>[] {
    return this.#keys().map(({ kid, publicKey }) => ({
      ...publicKey.export({ format: 'jwk' }),
      kid,
      use: 'sig',
      alg: ALGORITHM,
    }))
  }
}
