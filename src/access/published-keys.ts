import { Type } from 'typebox'
import { query } from '../platform/http/operation.ts'
import { accessTokens } from './access-token.ts'
import { publishedSealKeys } from './seal-keys.ts'

/** RFC 7517. Keys with which others verify our tokens without asking us, and to which partners seal (decision C1). */
export const publishedKeys = query({
  id: 'publishedKeys',
  method: 'GET',
  path: '/.well-known/jwks.json',
  tag: 'Access',
  summary: 'Published keys',
  description:
    'Keys that verify access tokens (`use` `sig`), and keys to which requests are sealed (`use` `enc`).',
  auth: 'none',
  family: 'bare',
  result: Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.String())) }),
  errors: [],

  mount(services) {
    const tokens = accessTokens(services)
    return () => ({
      headers: { 'cache-control': 'public, max-age=300' },
      body: JSON.stringify({ keys: [...tokens.published(), ...publishedSealKeys(services.keyring)] }),
    })
  },
})
