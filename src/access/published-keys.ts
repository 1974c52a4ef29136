import { Type } from 'typebox'
import { query } from '../platform/http/operation.ts'
import { accessTokens } from './access-token.ts'

/** RFC 7517. The keys with which other services verify our tokens without asking us. */
export const publishedKeys = query({
  id: 'publishedKeys',
  method: 'GET',
  path: '/.well-known/jwks.json',
  tag: 'Access',
  summary: 'Keys that verify access tokens',
  auth: 'none',
  family: 'bare',
  result: Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.String())) }),
  errors: [],

  mount(services) {
    const tokens = accessTokens(services)
    return () => ({ headers: { 'cache-control': 'public, max-age=300' }, body: JSON.stringify(tokens.published()) })
  },
})
