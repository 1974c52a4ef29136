import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { fail } from '../errors.ts'
import { base32, newId } from '../kernel/ids.ts'
import type { DataKey } from '../platform/crypto/keyring.ts'
import type { Services } from '../platform/http/operation.ts'
import type { TenantKind } from './tenant.ts'

/** RFC 8725 section 3.1: one algorithm, pinned; what the token's header says does not choose. */
const ALGORITHM = 'EdDSA'
const TYPE = 'at+jwt'
const AUDIENCE = 'svc'
const TOKENS_CACHED = 20_000
/** PKCS #8 wrapping of a raw Ed25519 seed (RFC 8410 section 7). */
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

interface SigningKey {
  readonly kid: string
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
  /** Of a partner's token: its products. */
  readonly scope?: string
}

/** Claims with the token's own id (`jti`), to which a session is bound. */
export interface LiveToken extends TokenClaims {
  readonly tokenId: string
}

interface Verified {
  readonly claims: LiveToken
  readonly expiresAtMs: number
}

function signingKey({ keyId, bytes }: DataKey): SigningKey {
  const privateKey = createPrivateKey({ key: Buffer.concat([ED25519_PKCS8, bytes]), format: 'der', type: 'pkcs8' })
  const kid = base32(createHash('sha256').update(keyId).digest().subarray(0, 5))
  return { kid, privateKey, publicKey: createPublicKey(privateKey) }
}

/** Issues and verifies access tokens: signed JWTs (RFC 9068) that other services can verify from the published keys. */
class AccessTokens {
  readonly #services: Services
  readonly #keys: Map<string, SigningKey>
  readonly #current: SigningKey
  /** A token is verified once; its signature cannot become wrong later, only its time and its revocation can. */
  readonly #verified = new LRUCache<string, Verified>({ max: TOKENS_CACHED })

  constructor(services: Services) {
    this.#services = services
    this.#keys = new Map(services.keyring.all('token_signing').map((key) => signingKey(key)).map((key) => [key.kid, key]))
    this.#current = signingKey(services.keyring.newest('token_signing'))
  }

  /** Milliseconds since 1970 at which it expires, a whole second. */
  async issue(claims: TokenClaims): Promise<{ token: string; tokenId: string; expiresAtMs: number }> {
    const { clock, config, publicUrl, random } = this.#services
    const issuedAt = Math.floor(clock.now() / 1_000)
    const expiresAt = issuedAt + config.TOKEN_TTL_SECONDS
    const tokenId = newId('tok', clock.now(), random)
    const { credentialId, kind, accessKey, scope } = claims
    const token = await new SignJWT({ client_id: credentialId, kind, access_key: accessKey, scope })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: this.#current.kid })
      .setIssuer(publicUrl())
      .setSubject(claims.tenantId)
      .setAudience(AUDIENCE)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .setJti(tokenId)
      .sign(this.#current.privateKey)
    return { token, tokenId, expiresAtMs: expiresAt * 1_000 }
  }

  /** Throws `invalid_token` for whatever is not a live token of ours and of this kind. Revocation is another question. */
  async verify(token: string, kind: TenantKind): Promise<LiveToken> {
    const known = this.#verified.get(token) ?? (await this.#check(token))
    if (known.claims.kind !== kind || this.#services.clock.now() >= known.expiresAtMs) fail('invalid_token')
    return known.claims
  }

  async #check(token: string): Promise<Verified> {
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => this.#keys.get(kid ?? '')?.publicKey ?? fail('invalid_token'), {
        algorithms: [ALGORITHM],
        typ: TYPE,
        audience: AUDIENCE,
        issuer: this.#services.publicUrl(),
        requiredClaims: ['sub', 'exp', 'iat', 'jti', 'client_id', 'kind'],
        currentDate: new Date(this.#services.clock.now()),
      })
      const { access_key: accessKey, scope } = payload
      const claims: LiveToken = {
        tenantId: payload.sub!,
        kind: payload['kind'] as TenantKind,
        credentialId: String(payload['client_id']),
        tokenId: payload.jti!,
        ...(typeof accessKey === 'string' && { accessKey }),
        ...(typeof scope === 'string' && { scope }),
      }
      const verified = { claims, expiresAtMs: payload.exp! * 1_000 }
      this.#verified.set(token, verified)
      return verified
    } catch (cause) {
      return fail('invalid_token', { cause })
    }
  }

  /** RFC 7517: the keys by which anyone can verify our tokens. */
  published(): Record<string, unknown>[] {
    return [...this.#keys.values()].map(({ kid, publicKey }) => ({
      ...publicKey.export({ format: 'jwk' }),
      kid,
      use: 'sig',
      alg: ALGORITHM,
    }))
  }
}

const opened = new WeakMap<Services, AccessTokens>()

/** The one issuer and verifier of a running service. */
export function accessTokens(services: Services): AccessTokens {
  let tokens = opened.get(services)
  if (!tokens) {
    tokens = new AccessTokens(services)
    opened.set(services, tokens)
  }
  return tokens
}
