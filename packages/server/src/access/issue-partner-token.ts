import { timingSafeEqual } from 'node:crypto'
import { fail } from '@svc/contract/errors'
import { isScope, SCOPES, type Scope } from '@svc/contract/scopes'
import { type LimitsRow, limitsOf, liveLimits, refuseAddress } from '@svc/core/tenants/credential-limits'
import { FailedAttempts } from '@svc/core/tenants/failed-attempts'
import { Homes, withAway } from '@svc/core/tenants/homes'
import { secretDigest } from '@svc/core/tenants/partner'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { query } from '../http/operation.ts'
import type { TokenServices } from './authenticate.ts'
import { sessionCookie } from './partner-session.ts'

interface ClientRow extends LimitsRow {
  client_id: string
  secret_digest: Buffer
  tenant_id: string
  usable: boolean
  away: boolean
  /** Of its limits. */
  revision: number
}

const CLIENTS = statement<ClientRow>('directory_clients', withAway('directory_clients($1)'))
const BASIC = 'Basic realm="svc", charset="UTF-8"'
const NO_CLIENT =
  'The client id and secret are missing: send them by HTTP Basic, or as client_id and client_secret in the form'
const NO_CLIENT_ID = 'What was sent as the client id is none: client ids begin with cli_'
const CLIENT_ID = /^cli_(?:[a-z]_)?[0-9a-z]{26}$/

/** RFC 6749 section 3.2: unknown parameters are ignored. */
const TokenRequest = Type.Object(
  {
    grant_type: Type.Optional(
      Type.String({ description: 'The only grant', 'x-documented': { enum: ['client_credentials'] } }),
    ),
    scope: Type.Optional(
      Type.String({
        description: `Some of \`${Object.keys(SCOPES).join('`, `')}\`, separated by spaces; all that the client may have by default`,
      }),
    ),
    client_id: Type.Optional(Type.String({ description: 'For client_secret_post' })),
    client_secret: Type.Optional(Type.String({ description: 'For client_secret_post' })),
  },
  { 'x-documented': { required: ['grant_type'] } },
)

const TokenResponse = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds' }),
  scope: Type.String({ description: 'The scopes of the token, separated by spaces' }),
})

/** Spec §5.4, decision A7: RFC 6749 client credentials. Any OAuth client library works as it is. */
export const issuePartnerToken = query({
  id: 'issuePartnerToken',
  method: 'POST',
  safe: true,
  path: '/oauth/token',
  tag: 'Authentication',
  summary: 'Get a partner token',
  description:
    'OAuth 2.0 client credentials, as `client_secret_basic` or `client_secret_post`. The response also sets the session cookie `SVCSESSION`, which the card search requires. It serves with any live token of the same partner, and ends with this token.',
  auth: 'none',
  limitedBy: 'credential',
  envelope: 'oauth',
  accepts: ['application/x-www-form-urlencoded'],
  // `client_secret_post` is in the body; with `{}` here, "Test Request" of the reference sends no credentials at all.
  security: [{ client: [] }],
  responseHeaders: { 'Set-Cookie': 'SessionCookie' },
  body: TokenRequest,
  result: TokenResponse,
  errors: [
    'invalid_request',
    'invalid_client',
    'address_not_allowed',
    'unsupported_grant_type',
    'invalid_scope',
    'too_many_failed_attempts',
  ],

  mount(services: TokenServices) {
    const { accessTokens: tokens, config, credentialUses, database, keyring } = services
    const failedAttempts = new FailedAttempts(config.FAILED_ATTEMPTS_PER_MINUTE)
    const homes = new Homes(database)
    const clients = new BatchedLookup<ClientRow>(
      (keys) => database.directory(CLIENTS, [keys.map(({ id }) => id)]),
      ({ client_id: id }) => ({ tenantId: '', id }),
    )
    return async ({ headers, body, address, countAs }) => {
      const { clientId, secret } = credentials(headers['authorization'], body)
      const client = CLIENT_ID.test(clientId) ? await clients.get('', clientId) : undefined
      if (client?.away) await homes.require(client.tenant_id)
      else if (!client && CLIENT_ID.test(clientId)) await homes.requireNotMoved('client', clientId)
      const given = secretDigest(keyring, clientId, secret)
      const right = timingSafeEqual(given, client?.secret_digest ?? Buffer.alloc(given.length))
      if (!client?.usable || !right) {
        await failedAttempts.count(address, clientId.slice(0, 64))
        // RFC 6749 section 5.2 for those who used the header; RFC 9110 section 15.5.2 for every other 401.
        const description = clientId === '' ? NO_CLIENT : CLIENT_ID.test(clientId) ? undefined : NO_CLIENT_ID
        return fail('invalid_client', {
          headers: { 'www-authenticate': BASIC },
          ...(description && { description }),
        })
      }
      const limits = limitsOf(client)
      if (!liveLimits(limits).allows(address)) {
        services.credentialRefusals.note(client.tenant_id, clientId, address)
        refuseAddress(address)
      }
      await countAs(clientId)
      if (body.grant_type === undefined) fail('invalid_request', { description: 'grant_type is required' })
      if (body.grant_type !== 'client_credentials') fail('unsupported_grant_type')
      const scope = grantedScope(body.scope, limits.scopes.filter(isScope))
      const partnerId = client.tenant_id
      credentialUses.note(partnerId, client.client_id)
      const issued = tokens.issue({
        tenantId: partnerId,
        kind: 'partner',
        credentialId: client.client_id,
        scope,
        limitsRevision: client.revision,
      })
      const cookie = sessionCookie(services, partnerId, issued)
      return {
        headers: { 'cache-control': 'no-store', pragma: 'no-cache', 'set-cookie': cookie },
        body: JSON.stringify({
          access_token: issued.token,
          token_type: 'Bearer',
          expires_in: config.TOKEN_TTL_SECONDS,
          scope,
        }),
      }
    }
  },
})

interface Credentials {
  readonly clientId: string
  readonly secret: string
}

/** RFC 6749 section 2.3.1: by header or by body, never by both. In the header, both halves are form-encoded. */
function credentials(
  authorization: unknown,
  body: { client_id?: string; client_secret?: string },
): Credentials {
  if (typeof authorization !== 'string')
    return { clientId: body.client_id ?? '', secret: body.client_secret ?? '' }
  if (body.client_secret !== undefined)
    fail('invalid_request', {
      description: 'Send the credentials of the client in the header or in the body, not in both',
    })
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization) ?? []
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  const [clientId, secret] = [text.slice(0, Math.max(0, colon)), text.slice(colon + 1)].map(formDecode)
  if (body.client_id !== undefined && body.client_id !== clientId)
    fail('invalid_request', { description: 'client_id names another client than the header' })
  return { clientId: clientId!, secret: secret! }
}

function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return ''
  }
}

/** RFC 6749 section 3.3: without a scope all that the client may have, and the response names what was granted. */
function grantedScope(requested: string | undefined, limitedTo: readonly Scope[]): string {
  const wanted = [...new Set(requested?.split(' ').filter((part) => part !== ''))]
  const all: readonly string[] = limitedTo.length > 0 ? limitedTo : Object.keys(SCOPES)
  if (!wanted.every((scope) => all.includes(scope)))
    fail('invalid_scope', { description: `The scopes of this client are: ${all.join(' ')}` })
  return (wanted.length > 0 ? wanted : all).join(' ')
}
