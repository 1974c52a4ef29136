import { fail } from '@svc/contract/errors'
import type { IssuedToken, TokenClaims } from '@svc/core/tenants/access-token'
import { apiKeyPrefix, looksLikeApiKey } from '@svc/core/tenants/api-key'
import { type LimitsRow, limitsOf, liveLimits, refuseAddress } from '@svc/core/tenants/credential-limits'
import { FailedAttempts } from '@svc/core/tenants/failed-attempts'
import { Homes, withAway } from '@svc/core/tenants/homes'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import { statement } from '@svc/platform/db/statement'
import { LRUCache } from 'lru-cache'
import { Type } from 'typebox'
import { query } from '../http/operation.ts'
import type { TokenServices } from './authenticate.ts'

interface ApiKeyHolder extends LimitsRow {
  digest: Buffer
  api_key_id: string
  tenant_id: string
  /** Of a merchant; others have none. */
  access_key: string | null
  usable: boolean
  away: boolean
  /** Of its limits. */
  revision: number
}

const HOLDERS = statement<ApiKeyHolder>('directory_api_keys', withAway('directory_api_keys($1)'))

const NO_KEY = 'The header API-Key is missing: send the API key of the merchant in it'

const KEYS_CACHED = 10_000

interface Issued extends IssuedToken {
  readonly signedWith: string
  readonly accessKey: string | undefined
  readonly limitsRevision: number | undefined
}

const TokenResult = Type.Object({
  token: Type.String({ description: 'Bearer token for later calls' }),
  expiry: Type.Integer({
    format: 'int64',
    description:
      'Instant of expiry, in milliseconds since 1970; with `TOKEN_EXPIRY=duration` the time that is left',
  }),
  resultCode: Type.Integer({
    format: 'int32',
    description: '0 when a token was issued, or 200 with `SUCCESS_RESULT_CODE=200`; 1 when not',
  }),
  resultMessage: Type.String(),
})

/**
 * Decision A13: what a key is given within one second is one token, so that a client who asks before every call costs a
 * signature a second.
 */
function issuing(tokens: TokenServices['accessTokens']): (claims: TokenClaims) => Issued {
  const latest = new LRUCache<string, Issued>({ max: KEYS_CACHED })
  return (claims) => {
    const { accessKey, limitsRevision } = claims
    const signedWith = tokens.signedWith()
    const known = latest.get(claims.credentialId)
    if (
      known?.issuedAt === tokens.issuedAt(claims.tenantId) &&
      known.signedWith === signedWith &&
      known.accessKey === accessKey &&
      known.limitsRevision === limitsRevision
    )
      return known
    const made = { ...tokens.issue(claims), accessKey, limitsRevision, signedWith }
    latest.set(claims.credentialId, made)
    return made
  }
}

/** Spec §4.1. Trades a merchant's API key for a bearer token (decisions A1–A5, A11). */
export const issueMerchantToken = query({
  id: 'issueMerchantToken',
  method: 'POST',
  safe: true,
  path: '/api/v0/merchant/token',
  tag: 'Authentication',
  summary: 'Generate authorization token',
  description:
    'Send the merchant’s key in the `API-Key` header. The token goes into `Authorization: Bearer …` on later calls. Get a new one before `expiry`, or when a call returns 401 `invalid_token`.',
  auth: 'none',
  limitedBy: 'credential',
  envelope: 'result_code',
  headers: { 'API-Key': { description: 'The merchant’s API key, issued at registration.', required: true } },
  ignores: ['query'],
  result: TokenResult,
  errors: ['invalid_api_key', 'address_not_allowed', 'too_many_failed_attempts'],

  mount(services: TokenServices) {
    const { accessTokens: tokens, clock, config, credentialUses, database, keyring } = services
    const failedAttempts = new FailedAttempts(config.FAILED_ATTEMPTS_PER_MINUTE)
    const homes = new Homes(database)
    // Without a tenant: the lookup finds who holds a key.
    const holders = new BatchedLookup<ApiKeyHolder>(
      (keys) => database.directory(HOLDERS, [keys.map(({ id }) => Buffer.from(id, 'hex'))]),
      ({ digest }) => ({ tenantId: '', id: digest.toString('hex') }),
    )
    const issuedNow = issuing(tokens)
    const resultCode = Number(config.SUCCESS_RESULT_CODE)
    const expiryOf = (expiresAtMs: number, tenantId: string) =>
      config.TOKEN_EXPIRY === 'instant' ? expiresAtMs : expiresAtMs - clock.of(tenantId).now()
    return async ({ headers, address, countAs }) => {
      const key = String(headers['api-key'] ?? '')
      const digest = looksLikeApiKey(key) ? keyring.digest('api_key_digest', key).toString('hex') : undefined
      const holder = digest === undefined ? undefined : await holders.get('', digest)
      if (holder?.away) await homes.require(holder.tenant_id)
      else if (!holder && digest !== undefined) await homes.requireNotMoved('api_key', digest)
      if (!holder?.usable || !holder.access_key) {
        await failedAttempts.count(address, apiKeyPrefix(key))
        // A malformed, an unknown and a revoked key get one response (decision A11).
        return fail('invalid_api_key', key === '' ? { description: NO_KEY } : undefined)
      }
      const { tenant_id: tenantId, api_key_id: credentialId, access_key: accessKey } = holder
      if (!liveLimits(limitsOf(holder)).allows(address)) {
        services.credentialRefusals.note(tenantId, credentialId, address)
        refuseAddress(address)
      }
      await countAs(credentialId)
      const limitsRevision = holder.revision
      const claims = { tenantId, kind: 'merchant', credentialId, accessKey, limitsRevision } as const
      credentialUses.note(tenantId, credentialId)
      const { token, expiresAtMs } = issuedNow(claims)
      return {
        headers: { 'cache-control': 'no-store', pragma: 'no-cache' },
        body: JSON.stringify({
          token,
          expiry: expiryOf(expiresAtMs, tenantId),
          resultCode,
          resultMessage: 'Success',
        }),
      }
    }
  },
})
