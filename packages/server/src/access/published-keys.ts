import { publishedReceiptKeys } from '@svc/core/qr-codes/outcome'
import { publishedJweKeys } from '@svc/core/tenants/jwe-keys'
import { Type } from 'typebox'
import { query } from '../http/operation.ts'
import type { TokenServices } from './authenticate.ts'

/** RFC 7517. Keys with which others verify our tokens without asking us, and to which partners encrypt (decision C1). */
export const publishedKeys = query({
  id: 'publishedKeys',
  method: 'GET',
  path: '/.well-known/jwks.json',
  tag: 'Authentication',
  summary: 'Published keys',
  description:
    'Keys that verify access tokens and receipts (`use` `sig`, by their `kid`), and keys to which requests are encrypted (`use` `enc`).',
  auth: 'none',
  envelope: 'bare',
  ignores: ['query'],
  result: Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.String())) }),
  errors: [],

  mount({ accessTokens, keyring }: TokenServices) {
    return () => ({
      headers: { 'cache-control': 'public, max-age=300' },
      body: JSON.stringify({
        keys: [...accessTokens.published(), ...publishedReceiptKeys(keyring), ...publishedJweKeys(keyring)],
      }),
    })
  },
})
