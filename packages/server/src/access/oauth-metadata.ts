import { SCOPES } from '@svc/contract/scopes'
import { Type } from 'typebox'
import { query } from '../http/operation.ts'

const Texts = Type.Array(Type.String())

/** RFC 8414: what an OAuth client library reads to configure itself. */
export const oauthMetadata = query({
  id: 'oauthMetadata',
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  tag: 'Authentication',
  summary: 'OAuth server metadata',
  auth: 'none',
  envelope: 'bare',
  ignores: ['query'],
  result: Type.Object({
    issuer: Type.String(),
    token_endpoint: Type.String(),
    jwks_uri: Type.String(),
    grant_types_supported: Texts,
    response_types_supported: Texts,
    token_endpoint_auth_methods_supported: Texts,
    scopes_supported: Texts,
    service_documentation: Type.String(),
  }),
  errors: [],

  mount({ publicUrl }) {
    return () => ({
      headers: { 'cache-control': 'public, max-age=300' },
      body: JSON.stringify({
        issuer: publicUrl(),
        token_endpoint: `${publicUrl()}/oauth/token`,
        jwks_uri: `${publicUrl()}/.well-known/jwks.json`,
        grant_types_supported: ['client_credentials'],
        response_types_supported: [],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
        scopes_supported: Object.keys(SCOPES),
        service_documentation: `${publicUrl()}/docs`,
      }),
    })
  },
})
