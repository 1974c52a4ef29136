import { publicKey, signingKeys } from '@svc/core/webhooks/signing'
import { Type } from 'typebox'
import { query } from '../http/operation.ts'

/** Keys that verify the `v1a` signatures of webhooks, for receivers that would rather hold no secret. */
export const publishedWebhookKeys = query({
  id: 'publishedWebhookKeys',
  method: 'GET',
  path: '/.well-known/webhook-keys.json',
  tag: 'Webhooks',
  summary: 'Published webhook keys',
  description:
    'Ed25519 keys of the `v1a` signatures (Standard Webhooks 1.0), as JWK and as `key` (`whpk_…`). A delivery is signed with each of them.',
  auth: 'none',
  envelope: 'bare',
  ignores: ['query'],
  result: Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.String())) }),
  errors: [],
  mount:
    ({ keyring }) =>
    () => ({
      headers: { 'cache-control': 'public, max-age=300' },
      body: JSON.stringify({ keys: signingKeys(keyring).map(publicKey) }),
    }),
})
