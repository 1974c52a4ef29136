import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import type { AnyScope, Scope } from '@svc/contract/scopes'
import type { AccessTokens, LiveToken } from '@svc/core/tenants/access-token'
import { type LiveLimits, refuseAddress } from '@svc/core/tenants/credential-limits'
import type { CredentialRefusals } from '@svc/core/tenants/credential-refusals'
import type { CredentialUses } from '@svc/core/tenants/credential-uses'
import { Homes } from '@svc/core/tenants/homes'
import { LimitsInForce } from '@svc/core/tenants/limits-in-force'
import { refuseHeader, refuseToken } from '@svc/core/tenants/refused-token'
import { Revocations } from '@svc/core/tenants/revocations'
import type { TenantKind } from '@svc/core/tenants/tenant'
import type { FastifyRequest } from 'fastify'
import type { Caller, Services } from '../http/operation.ts'
import { accessKeyLookup } from './access-keys.ts'
import { requireSession } from './partner-session.ts'

const BEARER = /^Bearer +([A-Za-z0-9_.-]{1,4096})$/i

/** Tokens of merchants have no scopes: only the limits of their API keys do (decision A16). */
const hasScope = ({ kind, scopes }: LiveToken, limits: LiveLimits, needed: AnyScope | undefined): boolean =>
  needed === undefined
    ? kind === 'merchant'
    : (limits.scopes?.has(needed) ?? true) && (kind === 'merchant' || scopes.has(needed as Scope))

/** RFC 6750 section 3.1: names the scope that is missing. */
function refuseScope({ kind }: LiveToken, needed: AnyScope | undefined): never {
  const description = `The ${kind === 'merchant' ? 'API key of the token' : 'token'} lacks the scope ${needed}`
  const challenge = `Bearer realm="svc", error="insufficient_scope", error_description="${description}", scope="${needed}"`
  return fail('insufficient_scope', { description, headers: { 'www-authenticate': challenge } })
}

/** For operations that issue tokens or publish their keys. */
export interface TokenServices extends Services {
  readonly accessTokens: AccessTokens
  readonly credentialUses: CredentialUses
  readonly credentialRefusals: CredentialRefusals
}

const callerOf = ({ tenantId, credentialId }: LiveToken): Caller => ({ tenantId, credentialId })

const bearerOf = ({ headers }: FastifyRequest): string | undefined =>
  BEARER.exec(headers.authorization ?? '')?.[1]

/** Checks the limits of a token's credential (decision A16). A refusal is as of this call: limits that were widened apply at once. */
function limiter({ credentialRefusals }: TokenServices, revocations: Revocations, inForce: LimitsInForce) {
  return async (token: LiveToken, request: FastifyRequest): Promise<void> => {
    const { scope } = request.routeOptions.config
    const address = request.ip
    const fits = (limits: LiveLimits) => limits.allows(address) && hasScope(token, limits, scope)
    if (fits(await inForce.of(token))) return
    await revocations.readAgain()
    const limits = await inForce.of(token)
    if (fits(limits)) return
    if (limits.allows(address)) refuseScope(token, scope)
    credentialRefusals.note(token.tenantId, token.credentialId, address)
    refuseAddress(address)
  }
}

/** What is known of a request's token without the database. */
function withoutDatabase(tokens: AccessTokens, revocations: Revocations, inForce: LimitsInForce) {
  /** The tenant of a token that was verified before and that, as far as this process knows, is still accepted from its address. */
  function whose(request: FastifyRequest): string | undefined {
    const token = tokens.known(bearerOf(request) ?? '')
    if (!token || revocations.lists(token.tenantId, token.credentialId)) return undefined
    return inForce.known(token)?.allows(request.ip) ? token.tenantId : undefined
  }

  /** Whether the token is ours and live; its revocation and its limits are in the database. */
  const isGenuine = (request: FastifyRequest): Promise<boolean> =>
    tokens.verify(bearerOf(request) ?? '', 'either').then(
      () => true,
      () => false,
    )
  return { whose, isGenuine }
}

/** How merchants, partners, and partners with a session prove who they are. */
export function authenticators(services: TokenServices) {
  const tokens = services.accessTokens
  const revocations = new Revocations(services.database, services.clock)
  const inForce = new LimitsInForce(services.database, revocations)
  const homes = new Homes(services.database)
  const requireWithinLimits = limiter(services, revocations, inForce)

  async function bearer(request: FastifyRequest, kind: TenantKind | 'either'): Promise<LiveToken> {
    const text = bearerOf(request)
    if (text === undefined || !text.startsWith('eyJ')) return refuseHeader(request.headers.authorization)
    const token = await tokens.verify(text, kind)
    if (await revocations.includes(token.tenantId, token.credentialId)) refuseToken('revoked')
    if (revocations.moves(token.tenantId)) await homes.require(token.tenantId)
    await requireWithinLimits(token, request)
    services.credentialUses.note(token.tenantId, token.credentialId)
    return token
  }

  const ofAccessKey = accessKeyLookup(services)

  /** Decision A9: the header must name the token's own partner; whether another one exists is not revealed. */
  async function partnerToken(request: FastifyRequest): Promise<LiveToken> {
    const token = await bearer(request, 'partner')
    const named = request.headers['partnerid']
    if (named === undefined) failField('partnerId', 'required', 'is required as a header', 'header')
    if (named !== token.tenantId) fail('partner_mismatch')
    return token
  }

  const byName = {
    /** Spec §5.2, decision A6: `merchantAccessKey`, when sent, must name the merchant of the token. */
    async merchant(request: FastifyRequest): Promise<Caller> {
      const holder = await ofAccessKey(request)
      if (holder) return holder
      const { tenantId, credentialId, accessKey } = await bearer(request, 'merchant')
      const named = request.headers['merchantaccesskey']
      if (named !== undefined && named !== accessKey) fail('access_key_mismatch')
      return { tenantId, credentialId }
    },

    /** Events and webhooks, which every tenant has: a token of either kind. */
    tenant: async (request: FastifyRequest): Promise<Caller> => callerOf(await bearer(request, 'either')),

    /** Coins (decision K4): a partner's token alone. */
    partner: async (request: FastifyRequest): Promise<Caller> => callerOf(await bearer(request, 'partner')),

    /** Cards (spec §5.4): a partner's token and its `partnerId`. */
    partnerWithId: async (request: FastifyRequest): Promise<Caller> => callerOf(await partnerToken(request)),

    /** Card search (decision A8): besides, a session cookie of that partner. */
    async partnerSession(request: FastifyRequest): Promise<Caller> {
      const token = await partnerToken(request)
      requireSession(services, token, request)
      return callerOf(token)
    },
  }
  return { byName, ...withoutDatabase(tokens, revocations, inForce) }
}
