import { encryptedColumn } from '@svc/platform/crypto/encrypted-column'
import { headersEncryptedFor } from './endpoint.ts'
import { secretEncryptedFor } from './endpoint-secrets.ts'

/** What the key of webhook secrets encrypts: signing secrets, and the headers that tenants have sent along. */
export const WEBHOOK_SECRETS = [
  encryptedColumn({
    purpose: 'webhook_secret',
    table: 'webhook_secrets',
    key: ['secret_id'],
    column: 'encrypted',
    encryptedFor: secretEncryptedFor,
  }),
  encryptedColumn({
    purpose: 'webhook_secret',
    table: 'webhook_endpoints',
    key: ['endpoint_id'],
    column: 'headers_encrypted',
    encryptedFor: headersEncryptedFor,
  }),
] as const
