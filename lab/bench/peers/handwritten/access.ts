import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { createLocalJWKSet, importJWK, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import type { Config } from './config.ts'
import { statement } from './database.ts'
import { fail } from './failures.ts'
import { digestOf } from './secrets.ts'
import { newId } from './values.ts'

interface Holder {
  readonly tenant_id: string
  readonly api_key_id: string
  readonly access_key: string
}

const HOLDER = statement<Holder & pg.QueryResultRow>(
  'api_key_holder',
  `select k.tenant_id, k.api_key_id, m.access_key
   from api_keys k join tenants t using (tenant_id) join merchants m on m.merchant_id = k.tenant_id
   where k.digest = $1 and k.revoked_at is null and t.disabled_at is null`,
)
const REVOKED = statement<{ subject: string }>(
  'revoked',
  `select subject from directory_revoked(now() - interval '49 hours')`,
)

interface Token {
  readonly tenantId: string
  readonly kind: string
  readonly credentialId: string
  readonly scopes: readonly string[]
  readonly accessKey: unknown
  readonly expiresAtMs: number
}

const toToken = ({ sub = '', exp = 0, client_id, kind, scope, access_key }: JWTPayload): Token => ({
  tenantId: sub,
  kind: String(kind),
  credentialId: String(client_id),
  scopes: typeof scope === 'string' ? scope.split(' ') : [],
  accessKey: access_key,
  expiresAtMs: exp * 1_000,
})

/** The credentials and tenants that must not be let in any more, as of less than a second ago. */
function revocations(pool: pg.Pool) {
  let revoked: ReadonlySet<string> = new Set()
  let readAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  async function read(): Promise<void> {
    const began = performance.now()
    try {
      revoked = new Set((await REVOKED(pool, [])).map(({ subject }) => subject))
      readAtMs = began
    } finally {
      reading = undefined
    }
  }
  return async (...subjects: string[]): Promise<boolean> => {
    if (performance.now() - readAtMs > 900) await (reading ??= read())
    return subjects.some((subject) => revoked.has(subject))
  }
}

/** Finds the token of a request; throws `invalid_token`. */
function verifier({ signingJwk, issuer }: Config, pool: pg.Pool) {
  const { d: _, ...publicJwk } = signingJwk
  const publicKeys = createLocalJWKSet({ keys: [{ kty: 'OKP', ...publicJwk, alg: 'EdDSA' }] })
  // A signature cannot become wrong later; expiry and revocation are checked each time.
  const verified = new LRUCache<string, Token>({ max: 20_000 })
  const isRevoked = revocations(pool)
  return async ({ headers }: FastifyRequest): Promise<Token> => {
    const text = /^Bearer +([\w.-]{1,4096})$/i.exec(headers.authorization ?? '')?.[1] ?? fail('invalid_token')
    let token = verified.get(text)
    if (!token) {
      const options = { algorithms: ['EdDSA'], typ: 'at+jwt', audience: 'svc', issuer }
      const { payload } = await jwtVerify(text, publicKeys, options).catch(() => fail('invalid_token'))
      token = toToken(payload)
      verified.set(text, token)
    }
    if (Date.now() >= token.expiresAtMs || (await isRevoked(token.tenantId, token.credentialId)))
      fail('invalid_token')
    return token
  }
}

/** The session cookie that came with a partner's token: `<token id>.<expiry>.<HMAC>`. */
function hasSession({ keys }: Config, partnerId: string, cookies: string | undefined): boolean {
  const cookie = /(?:^|; ?)SVCSESSION=([\w.-]{1,256})/.exec(cookies ?? '')?.[1] ?? ''
  const [session = '', expiresAtMs = '', signature = ''] = cookie.split('.')
  const signed = createHmac('sha256', keys.session.bytes).update(`${partnerId} ${session}.${expiresAtMs}`)
  const [own, given] = [Buffer.from(signed.digest('base64url')), Buffer.from(signature)]
  return own.length === given.length && timingSafeEqual(own, given) && Number(expiresAtMs) > Date.now()
}

/** The response of the token operation (section 4.1). */
async function issuer({ signingJwk, issuer: iss, tokenTtlSeconds, keys }: Config, pool: pg.Pool) {
  const privateKey = await importJWK({ kty: 'OKP', ...signingJwk }, 'EdDSA')
  const protectedHeader = { alg: 'EdDSA', typ: 'at+jwt', kid: signingJwk.kid }
  return async (apiKey: string): Promise<string> => {
    const [holder] = await HOLDER(pool, [digestOf(keys.apiKeyDigest, apiKey)])
    if (!holder) return fail('invalid_api_key')
    const issuedAt = Math.floor(Date.now() / 1_000)
    const expiresAt = issuedAt + tokenTtlSeconds
    const token = await new SignJWT({
      iss,
      sub: holder.tenant_id,
      aud: 'svc',
      client_id: holder.api_key_id,
      kind: 'merchant',
      access_key: holder.access_key,
      iat: issuedAt,
      exp: expiresAt,
      jti: newId('tok'),
    })
      .setProtectedHeader(protectedHeader)
      .sign(privateKey)
    const body = { token, expiry: expiresAt * 1_000, resultCode: 0, resultMessage: 'Success' }
    return JSON.stringify(body)
  }
}

/** Issues merchants' tokens, and finds out who calls. */
export async function openAccess(config: Config, pool: pg.Pool) {
  const bearer = verifier(config, pool)
  return {
    issue: await issuer(config, pool),

    async merchant(request: FastifyRequest): Promise<void> {
      const token = await bearer(request)
      if (token.kind !== 'merchant') fail('invalid_token')
      const named = request.headers['merchantaccesskey']
      if (named !== undefined && named !== token.accessKey) fail('access_key_mismatch')
      request.tenantId = token.tenantId
    },

    /** A merchant's token, or a partner's with the scope. */
    either: (scope: string) => async (request: FastifyRequest) => {
      const token = await bearer(request)
      if (token.kind === 'partner' && !token.scopes.includes(scope))
        fail('insufficient_scope', `The token lacks the scope ${scope}`)
      request.tenantId = token.tenantId
    },

    partner: (scope: string, needsSession: boolean) => async (request: FastifyRequest) => {
      const token = await bearer(request)
      const { cookie, partnerid: named } = request.headers
      if (token.kind !== 'partner') fail('invalid_token')
      if (!token.scopes.includes(scope)) fail('insufficient_scope', `The token lacks the scope ${scope}`)
      if (named === undefined) fail('validation_failed', 'partnerId: is required as a header')
      if (named !== token.tenantId) fail('partner_mismatch')
      if (needsSession && !hasSession(config, token.tenantId, cookie)) fail('invalid_session')
      request.tenantId = token.tenantId
    },
  }
}
